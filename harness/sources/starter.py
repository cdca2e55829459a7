"""Starter code for a problem that has none, read off a reference solution.

The reference is a data set's: it is parsed and never executed. Its entry point is the function that
the problem's slug or examples name, or the only one that no other calls; a parameter is a linked
list or tree where it is annotated or used as one.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from harness.problem import Codec
from harness.sources.literals import UnreadableError, parse
from harness.sources.signature import entry_point_of

_ANNOTATIONS = {
    Codec.LINKED_LIST: "Optional[ListNode]",
    Codec.LINKED_LISTS: "List[Optional[ListNode]]",
    Codec.TREE: "Optional[TreeNode]",
    Codec.TREES: "List[Optional[TreeNode]]",
    Codec.FIRST_ARGUMENT: "None",
}
_KIND_OF_ATTRIBUTE = {"left": Codec.TREE, "right": Codec.TREE, "next": Codec.LINKED_LIST}
_KIND_OF_CLASS = {"ListNode": Codec.LINKED_LIST, "TreeNode": Codec.TREE}
_MANY = {Codec.LINKED_LIST: Codec.LINKED_LISTS, Codec.TREE: Codec.TREES}
_OTHER_NODES = frozenset({"children", "neighbors", "random", "child"})
_CONVENTIONS = (
    (re.compile(r"head\w?|l[12]|list[12]"), "linked list", Codec.LINKED_LIST),
    (re.compile(r"root[12]?|sub_?root"), "tree", Codec.TREE),
)
"""LeetCode's names for nodes, which count where the statement has the words."""


class Starter(NamedTuple):
    """What a solution is to define.

    Attributes:
        entry_point: the method's name.
        parameters: its parameters' names.
        code: `class Solution` with the method's head.
    """

    entry_point: str
    parameters: tuple[str, ...]
    code: str


def starter_of(
    reference: str, *, slug: str, statement: str, names: Iterable[frozenset[str]] = ()
) -> Starter | None:
    """The starter code that a reference solution would have had.

    Args:
        reference: a solution: functions, or a class `Solution`.
        slug: the problem's.
        statement: the problem's.
        names: of the arguments of each of its examples.

    Returns:
        None where the reference cannot be parsed, no function is the one meant, or it takes nodes
        of a kind that tests cannot have, as those of graphs.
    """
    try:
        tree = parse(reference)
        function = _entry_point(_candidates(tree), slug, frozenset(names))
        return None if function is None else _starter(tree, function, reference, statement)
    except (UnreadableError, RecursionError):
        return None


def _candidates(tree: ast.Module) -> list[ast.FunctionDef]:
    """The public methods of `Solution`, or the public functions."""
    body = tree.body
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "Solution":
            body = node.body
    return [
        node for node in body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]


def _parameters(function: ast.FunctionDef) -> tuple[str, ...]:
    names = [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)]
    return tuple(names[1:] if names[:1] == ["self"] else names)


def _entry_point(
    candidates: Sequence[ast.FunctionDef], slug: str, names: frozenset[frozenset[str]]
) -> ast.FunctionDef | None:
    squashed = slug.replace("-", "").lower()
    for function in candidates:
        if function.name.replace("_", "").lower() == squashed:
            return function
    fitting = [each for each in candidates if frozenset(_parameters(each)) in names]
    called = {name for each in candidates for name in _called(each) if name != each.name}
    roots = [each for each in candidates if each.name not in called]
    return next((found[0] for found in (fitting, roots) if len(found) == 1), None)


def _called(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name)):
                yield name
            case _:
                pass


def _starter(
    tree: ast.Module, function: ast.FunctionDef, reference: str, statement: str
) -> Starter | None:
    parameters = _parameters(function)
    annotated = entry_point_of(reference, function.name)
    codecs = annotated.signature.arguments if annotated else ()
    uses = _Uses(function)
    kinds: dict[str, Codec] = {}
    for name, codec in zip(parameters, codecs, strict=False):
        if uses.attributes(name) & _OTHER_NODES:
            return None
        kind = codec if codec is not Codec.JSON else uses.kind(name)
        kind = kind or _by_convention(name, statement, uses)
        if kind is not None:
            kinds[name] = kind
    result = annotated.signature.result if annotated else Codec.JSON
    if result is Codec.JSON:
        result = _result(tree, function, kinds)
    head = ", ".join(
        [
            "self",
            *(
                f"{name}: {_ANNOTATIONS[kinds[name]]}" if name in kinds else name
                for name in parameters
            ),
        ]
    )
    arrow = f" -> {_ANNOTATIONS[result]}" if result in _ANNOTATIONS else ""
    code = f"class Solution:\n    def {function.name}({head}){arrow}:\n        "
    return Starter(function.name, parameters, code)


class _Uses:
    """How a function's body uses its names, and the names that stand for them.

    `slow = fast = head` makes two more names for the head; `for node in lists` and `lists[0]` are
    items.
    """

    def __init__(self, function: ast.FunctionDef) -> None:
        self._attributes: dict[str, set[str]] = {}
        self._sources: dict[str, set[str]] = {}
        self.subscripted: set[str] = set()
        for node in ast.walk(function):
            match node:
                case ast.Attribute(value=value, attr=attribute):
                    for name in _names(value):
                        self._attributes.setdefault(name, set()).add(attribute)
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        self._assign(target, value)
                case ast.For(target=ast.Name(target), iter=ast.Name(name)):
                    self._sources.setdefault(f"{name}[]", set()).add(target)
                case ast.Subscript(value=ast.Name(name)):
                    self.subscripted.add(name)
                case _:
                    pass

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        match target, value:
            case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
                for one, other in zip(targets, values, strict=True):
                    self._assign(one, other)
            case ast.Name(alias), _:
                for name in _names(value):
                    self._sources.setdefault(name, set()).add(alias)
            case _:
                pass

    def aliases(self, name: str) -> set[str]:
        """The name, and those that are assigned what it stands for."""
        found, waiting = {name}, [name]
        while waiting:
            for alias in self._sources.get(waiting.pop(), set()) - found:
                found.add(alias)
                waiting.append(alias)
        return found

    def attributes(self, name: str) -> set[str]:
        """What is read or set on what a name stands for."""
        return {attr for alias in self.aliases(name) for attr in self._attributes.get(alias, ())}

    def kind(self, name: str) -> Codec | None:
        """The codec of a parameter that is used as a node or as a list of nodes."""
        one = _kind_of(self.attributes(name))
        many = _kind_of(self.attributes(f"{name}[]"))
        return one or (_MANY[many] if many else None)


def _names(value: ast.expr) -> Iterator[str]:
    """The name that an expression is, or, with brackets, that it is an item of."""
    match value:
        case ast.Name(name):
            yield name
        case ast.Subscript(value=ast.Name(name)):
            yield f"{name}[]"
        case _:
            pass


def _kind_of(attributes: set[str]) -> Codec | None:
    """Trees first: some problems give their nodes a `next` besides."""
    kinds = {_KIND_OF_ATTRIBUTE[name] for name in attributes & _KIND_OF_ATTRIBUTE.keys()}
    return Codec.TREE if Codec.TREE in kinds else next(iter(kinds), None)


def _by_convention(name: str, statement: str, uses: _Uses) -> Codec | None:
    """The codec that a parameter's name has where the body does not tell, but hands it on."""
    if uses.subscripted & uses.aliases(name):
        return None
    words = statement.lower()
    for pattern, needed, codec in _CONVENTIONS:
        if pattern.fullmatch(name.lower()) and needed in words:
            return codec
    return None


def _result(tree: ast.Module, function: ast.FunctionDef, kinds: dict[str, Codec]) -> Codec:
    returned = [value for value in _returned(function) if value is not None]
    if not returned and kinds.keys() | set(_parameters(function)):
        return Codec.FIRST_ARGUMENT
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    return _kind_returned(function, kinds, functions, {function.name}) or Codec.JSON


def _kind_returned(
    function: ast.FunctionDef,
    kinds: dict[str, Codec],
    functions: dict[str, ast.FunctionDef],
    seen: set[str],
) -> Codec | None:
    """The kind of node that a function returns, if it does; what it calls is looked into once."""
    uses = _Uses(function)
    known = {alias: kind for name, kind in kinds.items() for alias in uses.aliases(name)}
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=targets, value=ast.Call(func=ast.Name(made))) if (
                made in _KIND_OF_CLASS
            ):
                names = [target.id for target in targets if isinstance(target, ast.Name)]
                known |= dict.fromkeys(names, _KIND_OF_CLASS[made])
            case _:
                pass
    for value in _returned(function):
        match value:
            case ast.Name(name) if known.get(name) in _MANY:
                return known[name]
            case ast.Attribute(value=ast.Name(name), attr=attribute) if known.get(name) in _MANY:
                if attribute in _KIND_OF_ATTRIBUTE:
                    return known[name]
            case ast.Call(func=ast.Name(name)) if name in _KIND_OF_CLASS:
                return _KIND_OF_CLASS[name]
            case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name)) if (
                name in functions and name not in seen
            ):
                seen.add(name)
                found = _kind_returned(functions[name], {}, functions, seen)
                if found is not None:
                    return found
            case _:
                pass
    return None


def _returned(function: ast.FunctionDef) -> Iterator[ast.expr | None]:
    """What a function returns, that of the functions inside it left out."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.Return):
            yield node.value
        elif not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)
