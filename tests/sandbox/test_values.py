"""Arguments go in and results come out as data, whatever the solution made them of."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st

from harness.problem import Codec, Signature
from harness.sandbox.execution import Ending, Execution
from harness.sandbox.inside import values
from harness.sources.signature import signature_of

Run = Callable[..., Execution]

NODES = """
class ListNode:
    def __init__(self, val=0, next=None):
        self.val, self.next = val, next

class TreeNode:
    def __init__(self, val=0, left=None, right=None):
        self.val, self.left, self.right = val, left, right
"""

RESULTS = {
    "None": ("None", "null"),
    "booleans": ("[True, False]", "[true,false]"),
    "a number": ("5", "5"),
    "floats": ("[0.1, -0.0, 1e300]", "[0.1,-0.0,1e+300]"),
    "infinities": ("[float('inf'), -float('inf')]", "[Infinity,-Infinity]"),
    "NaN": ("float('nan')", "NaN"),
    "a long integer": ("2 ** 62", '{"i":"0x4000000000000000"}'),
    "a longer one, negative": ("-2 ** 100", '{"i":"-0x10000000000000000000000000"}'),
    "long ones among short": ("[1, 2 ** 62]", '[1,{"i":"0x4000000000000000"}]'),
    "the longest short ones": ("[2 ** 62 - 1, 1 - 2 ** 62]", f"[{2**62 - 1},{1 - 2**62}]"),
    "a string": (r"'a\n\"é'", r'"a\n\"\u00e9"'),
    "lone surrogates": (r"'\ud800\udfff\udfff'", r'"\ud800\udfff\udfff"'),
    "a null character": (r"'\0'", r'"\u0000"'),
    "an empty list": ("[]", "[]"),
    "tuples at any depth": ("[(1, (2,)), ()]", '[{"u":[1,{"u":[2]}]},{"u":[]}]'),
    "a generator": ("(n * n for n in range(3))", '{"q":["generator",0,1,4]}'),
    "a range": ("range(3)", '{"q":["range",0,1,2]}'),
    "map, zip, reversed": ("[map(abs, [-1]), zip('a', 'b'), reversed([1, 2])]",
                           '[{"q":["map",1]},{"q":["zip",{"u":["a","b"]}]},'
                           '{"q":["list_reverseiterator",2,1]}]'),
    "a deque": ("__import__('collections').deque([1, 2])", '{"q":["deque",1,2]}'),
    "what equals a list": ("[__import__('collections').UserList([1]),"
                           " __import__('sortedcontainers').SortedList([2, 1])]", "[[1],[1,2]]"),
    "keys and values": ("[{1: 2}.keys(), {1: 2}.values()]",
                        '[{"q":["dict_keys",1]},{"q":["dict_values",2]}]'),
    "an array": ("__import__('array').array('i', [1, 2])", '{"q":["array",1,2]}'),
    "a mapping": ("{'a': [1]}", '{"d":[["a",[1]]]}'),
    "an empty mapping": ("{}", '{"d":[]}'),
    "keys of other kinds": ("{1: 'a', (2, 3): 'b', None: 'c'}",
                            '{"d":[[1,"a"],[{"u":[2,3]},"b"],[null,"c"]]}'),
    "a counter": ("__import__('collections').Counter('aab')", '{"d":[["a",2],["b",1]]}'),
    "a set": ("{5}", '{"s":[5]}'),
    "a frozen set": ("frozenset('a')", '{"s":["a"]}'),
    "bytes": ("b'abc'", '{"o":"bytes"}'),
    "a complex number": ("1j", '{"o":"complex"}'),
    "an object": ("object()", '{"o":"object"}'),
    "a class": ("int", '{"o":"type"}'),
    "a function": ("len", '{"o":"builtin_function_or_method"}'),
    "an array of numpy": ("__import__('numpy').arange(4).reshape(2, 2)",
                          '{"q":["ndarray",[0,1],[2,3]]}'),
    "scalars of numpy": ("(lambda n: [n.int64(1), n.float64(0.5), n.bool_(True), n.str_('a')])"
                         "(__import__('numpy'))", '[1,0.5,true,"a"]'),
    "a linked list": ("ListNode(1, ListNode(2))", '{"l":[1,2]}'),
    "a list of linked lists": ("[ListNode(1), None]", '[{"l":[1]},null]'),
    "a tree": ("TreeNode(1, None, TreeNode(2, TreeNode(3)))", '{"t":[1,null,2,3]}'),
    "a list that holds itself": ("(lambda x: (x.append(x), x)[1])([])",
                                 "[" * 201 + '{"o":"nested too deeply"}' + "]" * 201),
    "a list nested deeply": ("eval('[' * 150 + ']' * 150)", "[" * 150 + "]" * 150),
    "an enumeration": ("__import__('enum').IntEnum('E', 'A').A", "1"),
    "a named tuple": ("__import__('collections').namedtuple('P', 'x')(1)", '{"u":[1]}'),
}  # fmt: skip


@for_each(("made", "read"), RESULTS.values(), ids=RESULTS)
def test_a_result_is_written_as(made: str, read: str, run: Run) -> None:
    execution = run(f"def f(): return {made}", preamble=NODES, entry_point="f")
    assert execution.error == ""
    assert execution.result is not None
    assert execution.result.decode() == read


HOSTILE = {
    "a lie about its class": (
        "class T:\n    __class__ = list\n    def __iter__(self): return iter([1])",
        "[1]",
    ),
    "a class that is a property": (
        "class T:\n    @property\n    def __class__(self): raise MemoryError",
        None,
    ),
    "attributes of every name": (
        "class T:\n    def __getattr__(self, name): return self",
        None,
    ),
    "attributes that raise": (
        "class T:\n    def __getattr__(self, name): raise SystemExit(3)",
        None,
    ),
    "equality with everything": (
        "class T:\n    def __eq__(self, other): return True\n    __hash__ = object.__hash__",
        '{"o":"T"}',
    ),
    "a representation that prints": (
        "class T:\n    def __repr__(self): print('6'); return '6'",
        '{"o":"T"}',
    ),
    "an integer with lies": (
        "class T(int):\n    def __new__(cls): return int.__new__(cls, 5)\n"
        "    def __add__(self, other): return 6\n    __int__ = __index__ = lambda self: 6\n"
        "    __eq__ = __gt__ = __lt__ = lambda self, other: True\n    __hash__ = int.__hash__\n"
        "    __repr__ = __str__ = lambda self: '6'",
        "5",
    ),
    "a float with lies": (
        "class T(float):\n    def __new__(cls): return float.__new__(cls, 5)\n"
        "    __add__ = __float__ = lambda self, *other: 6.0\n    __repr__ = lambda self: '6'",
        "5.0",
    ),
    "a string with lies": (
        "class T(str):\n    def __new__(cls): return str.__new__(cls, 'a')\n"
        "    __str__ = __repr__ = lambda self: 'b'\n    __eq__ = lambda self, other: True\n"
        "    __hash__ = str.__hash__",
        '"a"',
    ),
    "a mapping without items": ("class T(dict):\n    items = None", None),
    "an iterable that is none": ("class T:\n    def __iter__(self): return 5", None),
    "a type that is a lie": (
        "class M(type):\n    __name__ = property(lambda c: 1 / 0)\nclass T(metaclass=M): ...",
        None,
    ),
    "a name without end": ("T = type('x' * 10 ** 6, (), {})", '{"o":"' + "x" * 100 + '"}'),
    "a name that is JSON": ("T = type('\"}, 6', (), {})", r'{"o":"\"}, 6"}'),
    "a linked list of lists": (
        "class T:\n    next = None\n    val = [1, (2,)]",
        '{"l":[[1,{"u":[2]}]]}',
    ),
}


@for_each(("definition", "read"), HOSTILE.values(), ids=HOSTILE)
def test_an_object_with(definition: str, read: str | None, run: Run) -> None:
    execution = run(f"{definition}\ndef f(): return T()", entry_point="f", cpu_s=0.5)
    if read is None:
        assert execution.ending is not Ending.FINISHED or b'"o"' in (execution.result or b"")
    else:
        assert execution.ending is Ending.FINISHED
        assert (execution.result or b"").decode() == read
    assert execution.stdout == b""


ENDLESS = {
    "a generator": "from itertools import repeat\ndef f(): return repeat(0)",
    "a linked list": (
        "class N:\n    val = 0\n    next = property(lambda self: N())\ndef f(): return N()"
    ),
    "a tree": (
        "class N:\n    val = 0\n    left = right = property(lambda self: N())\ndef f(): return N()"
    ),
    "a list of itself, twice": "def f():\n    x = []\n    x += [x, x]\n    return x",
    "a mapping": (
        "from collections.abc import Mapping\nclass M(Mapping):\n    __len__ = lambda s: 1\n"
        "    __getitem__ = lambda s, k: k\n    def __iter__(s):\n        while True: yield 0\n"
        "def f(): return M()"
    ),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("code", ENDLESS.values(), ids=ENDLESS)
def test_a_result_without_end_is_a_limit(code: str, run: Run) -> None:
    ending = run(code, entry_point="f", cpu_s=0.5).ending
    assert ending in {Ending.MEMORY_LIMIT, Ending.CPU_LIMIT}


class TestSignature:
    """How arguments are made, and what a result of None stands for."""

    def call(self, run: Run, code: str, data: str, *arguments: Codec, result: Codec) -> str:
        signature = Signature(arguments=arguments, result=result)
        execution = run(code, data.encode(), preamble=NODES, entry_point="f", signature=signature)
        assert execution.error == ""
        return (execution.result or b"").decode()

    def test_json_values_one_a_line(self, run: Run) -> None:
        code = "def f(*arguments): return arguments"
        data = '[1, 2]\n"a\\nb"\n\nnull\n{"a": 1.5}\n123456789012345678901234567890'
        assert self.call(run, code, data, result=Codec.JSON) == (
            '{"u":[[1,2],"a\\nb",null,{"d":[["a",1.5]]},{"i":"0x18ee90ff6c373e0ee4e3f0ad2"}]}'
        )

    def test_an_integer_of_any_length(self, run: Run) -> None:
        code = "def f(n): return n % 1000"
        assert self.call(run, code, "7" * 6000, result=Codec.JSON) == "777"

    def test_arguments_become_linked_lists(self, run: Run) -> None:
        code = "def f(a, b): return [a.next.val, b, type(a).__name__]"
        read = self.call(
            run, code, "[1, 2]\n[]", Codec.LINKED_LIST, Codec.LINKED_LIST, result=Codec.JSON
        )
        assert read == '[2,null,"ListNode"]'

    def test_trees_and_lists_of_either(self, run: Run) -> None:
        code = "def f(tree, trees, lists): return [tree, trees, lists]"
        codecs = (Codec.TREE, Codec.TREES, Codec.LINKED_LISTS)
        data = "[1, null, 2, 3]\n[[4], []]\n[[5, 6], []]"
        assert self.call(run, code, data, *codecs, result=Codec.JSON) == (
            '[{"t":[1,null,2,3]},[{"t":[4]},null],[{"l":[5,6]},null]]'
        )

    def test_the_solution_s_own_nodes_are_used(self, run: Run) -> None:
        code = f"{NODES}\nListNode.mine = True\ndef f(a): return a.mine"
        assert self.call(run, code, "[1]", Codec.LINKED_LIST, result=Codec.JSON) == "true"

    @for_each("result", [Codec.LINKED_LIST, Codec.TREE])
    def test_none_stands_for_an_empty_one(self, result: Codec, run: Run) -> None:
        assert self.call(run, "def f(): return None", "", result=result) == "[]"

    def test_an_in_place_problem_returns_what_it_changed(self, run: Run) -> None:
        code = "def f(a, b): a.append(b)"
        read = self.call(run, code, "[1]\n2", result=Codec.FIRST_ARGUMENT)
        assert read == "[1,2]"

    def test_an_in_place_problem_may_return_its_result(self, run: Run) -> None:
        code = "def f(a): return sorted(a)"
        assert self.call(run, code, "[2, 1]", result=Codec.FIRST_ARGUMENT) == "[1,2]"

    def test_what_is_printed_does_not_matter(self, run: Run) -> None:
        execution = run("def f():\n    print('debug')\n    return 1", entry_point="f")
        assert (execution.stdout, execution.result) == (b"debug\n", b"1")

    @for_each(
        "definition",
        [
            "def f(a): return a",
            "f = lambda a: a",
            "class Solution:\n    def f(self, a): return a",
            "class Solution:\n    @staticmethod\n    def f(a): return a",
            "class Solution:\n    @classmethod\n    def f(cls, a): return a",
            "class Base:\n    def f(self, a): return a\nclass Solution(Base): ...",
            "class Solution: ...\ndef f(a): return a",
            "class f:\n    def __new__(cls, a): return a",
            "from functools import cache\n@cache\ndef f(a): return a",
            "from functools import partial\nf = partial(max, 0)",
        ],
    )
    def test_every_way_to_define_the_entry_point(self, definition: str, run: Run) -> None:
        assert run(definition, b"5", entry_point="f").result == b"5"

    def test_a_main_block_does_not_run(self, run: Run) -> None:
        code = "def f(): return __name__\nif __name__ == '__main__':\n    1 / 0"
        assert run(code, entry_point="f").result == b'"solution"'


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.integers(min_value=10**60)
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text(), inner),
)


def plain(value: Any) -> Any:
    """What a result in the notation stands for."""
    match value:
        case {"i": digits}:
            return int(digits, 16)
        case {"d": pairs}:
            return {key: plain(item) for key, item in pairs}
        case {"u": items}:
            return tuple(map(plain, items))
        case list():
            return [plain(item) for item in value]
        case _:
            return value


@given(json_values)
def test_plain_data_comes_back_as_it_was(value: Any) -> None:
    written = values.encode(value, "json", [], [])
    assert repr(plain(json.loads(written))) == repr(value)


@given(st.recursive(st.none() | st.integers(), lambda inner: st.lists(inner, max_size=3)))
def test_arguments_come_in_as_they_were(value: Any) -> None:
    text = json.dumps(value)
    assert values.decode_arguments(f"{text}\n{text}", [], {}) == [value, value]


EMPTY = {
    "a list": ("ListNode", "[]", "[]"),
    "a list said to be null": ("ListNode", "null", "[]"),
    "a tree": ("TreeNode", "[]", "[]"),
    "lists, some of them empty": (
        "List[Optional[ListNode]]", "[[1],[],[2]]", '[{"l":[1]},[],{"l":[2]}]'
    ),
    "no lists": ("List[Optional[ListNode]]", "null", "[]"),
    "trees, some of them empty": ("List[TreeNode]", "[[],[1]]", '[[],{"t":[1]}]'),
}  # fmt: skip


class TestEmptyNodes:
    """None is an empty list or tree wherever the signature says that one is to be there."""

    @for_each(("kind", "given", "result"), EMPTY.values(), ids=EMPTY)
    def test_empty_nodes_return_unchanged(
        self, kind: str, given: str, result: str, run: Run
    ) -> None:
        signature = signature_of(f"def f(x: {kind}) -> {kind}: ...", "f")
        code = "def f(x): return x"
        execution = run(code, given.encode(), preamble=NODES, entry_point="f", signature=signature)
        assert (execution.result or b"").decode() == result

    @for_each("annotation", ["None", "'None'"])
    @for_each(("kind", "given", "result"), EMPTY.values(), ids=EMPTY)
    def test_left_in_place(
        self, kind: str, given: str, result: str, annotation: str, run: Run
    ) -> None:
        signature = signature_of(f"def f(x: {kind}) -> {annotation}: ...", "f")
        execution = run(
            "def f(x): pass", given.encode(), preamble=NODES, entry_point="f", signature=signature
        )
        assert (execution.result or b"").decode() == result

    @for_each("kind", ["ListNode", "TreeNode", "List[ListNode]"])
    def test_a_list_is_neither(self, kind: str, run: Run) -> None:
        signature = signature_of(f"def f() -> {kind}: ...", "f")
        code = f"def f(): return {'[[1]]' if 'List[' in kind else '[1]'}"
        execution = run(code, preamble=NODES, entry_point="f", signature=signature)
        tagged = '{"q":["PlainList",1]}'
        read = f"[{tagged}]" if "List[" in kind else tagged
        assert (execution.result or b"").decode() == read

    def test_a_tree_whose_nodes_were_chained_is_still_a_tree(self, run: Run) -> None:
        code = "def f(x):\n    x.next = x.left.next = None\n    return x"
        signature = signature_of("def f(x: TreeNode) -> TreeNode: ...", "f")
        execution = run(code, b"[1,2]", preamble=NODES, entry_point="f", signature=signature)
        assert execution.result == b'{"t":[1,2]}'

    @for_each(
        "end",
        [
            "x.left = x",
            "x.left.right = x",
            "x.left.left = x.left.right = x.left",
            "x.right = x.left = x",
        ],
    )
    def test_a_tree_that_leads_back_is_no_tree(self, end: str, run: Run) -> None:
        signature = signature_of("def f(x: TreeNode) -> TreeNode: ...", "f")
        code = f"def f(x):\n    {end}\n    return x"
        execution = run(code, b"[1,2]", preamble=NODES, entry_point="f", signature=signature)
        assert execution.ending is Ending.FINISHED
        assert execution.result == b'{"o":"cyclic tree"}'

    def test_a_tree_with_a_node_in_two_places_is_one(self, run: Run) -> None:
        code = "def f(x):\n    x.right = x.left\n    return x"
        signature = signature_of("def f(x: TreeNode) -> TreeNode: ...", "f")
        execution = run(code, b"[1,2,null,3]", preamble=NODES, entry_point="f", signature=signature)
        assert execution.result == b'{"t":[1,2,2,3,null,3]}'


class TestTaggedNotation:
    """What a checker is given: values of one process made anew in another."""

    def there_and_back(self, run: Run, tagged: str, preamble: str = "") -> str:
        signature = Signature(arguments=(Codec.TAGGED,))
        code = "def f(x): return x"
        execution = run(
            code, tagged.encode(), preamble=preamble, entry_point="f", signature=signature
        )
        assert execution.ending is Ending.FINISHED, execution.error
        return (execution.result or b"").decode()

    @for_each(
        "tagged",
        [
            '[1,"a",null,true,0.5,Infinity]',
            '{"i":"0x4000000000000000"}',
            '{"d":[[1,"a"],[{"u":[2,3]},"b"],[null,"c"]]}',
            '[{"u":[1,[2]]},{"q":["deque",1,2]}]',
            '{"s":[5]}',
            '{"s":[{"s":[5]}]}',
            '{"d":[[{"u":[{"s":[5]}]},6]]}',
            '[{"l":[1,2]},{"l":[[3]]}]',
            '{"c":[1,5,6,7]}',
            '{"c":[0,5]}',
            '{"t":[1,null,2,3]}',
        ],
    )
    def test_is_read_as_it_is_written(self, tagged: str, run: Run) -> None:
        assert self.there_and_back(run, tagged, NODES) == tagged

    def test_another_iterable_is_a_sequence_that_no_list_equals(self, run: Run) -> None:
        code = "def f(x): return [x == [1, 2], sorted(x), len(x), x[1]]"
        signature = Signature(arguments=(Codec.TAGGED,))
        given = b'{"q":["generator",1,2]}'
        execution = run(code, given, entry_point="f", signature=signature)
        assert execution.result == b"[false,[1,2],2,2]"

    def test_to_a_check_all_sequences_are_lists(self, run: Run) -> None:
        signature = Signature(arguments=(Codec.TAGGED_LISTS,))
        given = b'[{"u":[1,{"q":["range",0,1]}]},{"d":[[{"u":[2]},{"u":[3]}]]}]'
        execution = run("def f(x): return x", given, entry_point="f", signature=signature)
        assert execution.result == b'[[1,[0,1]],{"d":[[{"u":[2]},[3]]]}]'

    def test_nodes_are_lists_where_nobody_defines_them(self, run: Run) -> None:
        read = self.there_and_back(run, '[{"l":[1,2]},{"c":[0,3,4]},{"t":[5,null,6]}]')
        assert read == "[[1,2],[3,4],[5,null,6]]"

    def test_what_was_no_data_is_something_of_no_use(self, run: Run) -> None:
        assert self.there_and_back(run, '{"o":"module"}') == '{"o":"Opaque"}'

    def test_a_result_is_written_with_the_arguments_as_the_call_left_them(self, run: Run) -> None:
        signature = Signature(result=Codec.EVERYTHING)
        code = "def f(x, y):\n    x.append(y)\n    x = None\n    return 7"
        execution = run(code, b"[1]\n2", entry_point="f", signature=signature)
        assert execution.result == b"[7,[[1,2],2]]"

    def test_integer_keys_are_kept_both_ways(self, run: Run) -> None:
        signature = Signature(arguments=(Codec.INT_KEYS,), result=Codec.INT_KEYS)
        code = "def f(x): return {k + 1: v for k, v in x.items()}"
        execution = run(code, b'{"1": 2, "-3": 4}', entry_point="f", signature=signature)
        assert execution.result == b'{"d":[["2",2],["-2",4]]}'
