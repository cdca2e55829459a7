import json
from typing import Any

import pytest
from for_each import for_each

from harness.problem import Codec, Signature
from harness.sources.leetcode.assertions import codec_of, read_assertion, to_test, with_codecs
from harness.sources.leetcode.dataset import bind, split_check
from harness.sources.literals import Call, Nodes, UnreadableError
from harness.sources.signature import EntryPoint

JSON, LIST, LISTS = Codec.JSON, Codec.LINKED_LIST, Codec.LINKED_LISTS
TREE, FIRST = Codec.TREE, Codec.FIRST_ARGUMENT


def entry(*parameters: str, required: int | None = None) -> EntryPoint:
    count = len(parameters) if required is None else required
    return EntryPoint(parameters, count, Signature(arguments=(JSON,) * len(parameters)))


@for_each(
    ("text", "positional", "named", "expected"),
    [
        ("assert candidate(n = 3, k=[1]) == 4", (), {"n": 3, "k": [1]}, 4),
        ("assert candidate([1], k=2) == -1 ", ([1],), {"k": 2}, -1),
        ("assert candidate() == (1, 'a')  # note", (), {}, [1, "a"]),
        ("assert candidate(a = [\n 1,\n 2]) == [\n]", (), {"a": [1, 2]}, []),
        (
            "assert is_same_list(candidate(h = list_node([1])), list_node([]))",
            (),
            {"h": Nodes(LIST, [1])},
            Nodes(LIST, []),
        ),
        ("assert is_same_tree(candidate(1), None)", (1,), {}, Nodes(TREE, [])),
    ],
)
def test_an_assertion_is_read(
    text: str, positional: tuple[object, ...], named: dict[str, object], expected: object
) -> None:
    assert read_assertion(text) == (Call(positional, named), expected)


@for_each(
    "text",
    [
        "assert candidate(1) != 2",
        "assert candidate(1) == 2 == 2",
        "assert candidate(1)",
        "assert not candidate(1)",
        "assert abs(candidate(1) - 2) < 1e-5",
        "assert other(1) == 2",
        "assert candidate(1) == 2, 'message'",
        "assert candidate(1) == 2; import os",
        "assert is_same_list(candidate(1), tree_node([1]))",
        "assert is_same_tree(candidate(1), [1])",
        "assert candidate(1) == print('x')",
        "import os",
        "assert candidate(",
        "",
    ],
)
def test_any_other_statement_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableError):
        read_assertion(text)


def test_a_check_is_split_where_assertions_start() -> None:
    source = (
        "def check(candidate):\n"
        "    assert candidate(a = [\n [1]\n]) == 1\n\n"
        "    # a comment\n"
        "    assert candidate(a = 'assert candidate(2) == 3') == 2\n"
    )
    first, second = split_check(source)
    assert read_assertion(first).call.named == {"a": [[1]]}
    assert read_assertion(second).call.named == {"a": "assert candidate(2) == 3"}
    assert split_check("def check(candidate):\n    pass\n") == ()


def test_nothing_that_stands_between_assertions_is_passed_over() -> None:
    source = "def check(candidate):\n    assert candidate(1) == 1\n    x = 2\n"
    (only,) = split_check(source)
    with pytest.raises(UnreadableError):
        read_assertion(only)


@for_each(
    "source",
    [
        "",
        "def test(candidate):\n    assert candidate(1) == 1\n",
        "assert candidate(1) == 1",
        "def check(candidate):\n    x = 1\n    assert candidate(x) == 1\n",
        "def check(candidate):\n    for i in range(3): assert candidate(i) == 1\n",
    ],
)
def test_what_is_no_check_is_unreadable(source: str) -> None:
    with pytest.raises(UnreadableError):
        split_check(source)


@for_each(
    ("arguments", "ordered"),
    [
        (Call((), {"b": 2, "a": 1}), (1, 2)),
        (Call((1,), {"b": 2}), (1, 2)),
        (Call((1, 2), {}), (1, 2)),
        (Call((), {"a": 1}), (1,)),
    ],
)
def test_arguments_are_put_in_the_parameters_order(
    arguments: Call, ordered: tuple[object, ...]
) -> None:
    assert bind(arguments, [entry("a", "b", required=1)]) == ordered


@for_each(
    ("arguments", "complaint"),
    [
        (Call((1, 2, 3), {}), "3 arguments for 2"),
        (Call((), {"a": 1, "c": 2}), "'c' is not a parameter"),
        (Call((1,), {"a": 2}), "'a' is not a parameter, or is given twice"),
        (Call((), {"b": 2}), "no argument for 'a'"),
        (Call((1,), {}), "no argument for 'b'"),
    ],
)
def test_a_call_that_does_not_fit_is_unreadable(arguments: Call, complaint: str) -> None:
    with pytest.raises(UnreadableError, match=complaint):
        bind(arguments, [entry("a", "b")])


def test_the_first_code_that_a_call_fits_says_the_order() -> None:
    call = Call((), {"stop": 2, "start": 1})
    assert bind(call, [entry("begin", "end"), entry("start", "stop")]) == (1, 2)
    with pytest.raises(UnreadableError, match="'stop' is not a parameter"):
        bind(call, [entry("begin", "end"), entry("x")])
    with pytest.raises(UnreadableError, match="no code"):
        bind(call, [])


@for_each(
    ("annotation", "value", "corrected"),
    [
        (JSON, Nodes(TREE, [1]), TREE),
        (TREE, Nodes(LIST, [1]), LIST),
        (TREE, [1], JSON),
        (TREE, None, TREE),
        (LISTS, [], LISTS),
        (JSON, [Nodes(LIST, [1]), None], LISTS),
        (LIST, 0, JSON),
    ],
)
def test_values_know_better_than_annotations(
    annotation: Codec, value: object, corrected: Codec
) -> None:
    by_code = Signature(arguments=(JSON, annotation), result=annotation)
    problem = with_codecs(by_code, (1, value), value)
    assert problem == Signature(arguments=(JSON, corrected), result=corrected)
    assert with_codecs(Signature(), (1, value), 1).arguments[0] is JSON


@for_each(("expected", "result"), [([1], FIRST), (None, JSON), (Nodes(TREE, []), TREE)])
def test_what_returns_nothing_is_judged_by_what_the_assertion_compares(
    expected: object, result: Codec
) -> None:
    by_code = Signature(arguments=(JSON,), result=FIRST)
    assert with_codecs(by_code, ([1],), expected).result is result


def test_nodes_beside_other_values_are_unreadable() -> None:
    with pytest.raises(UnreadableError):
        codec_of([Nodes(LIST, []), 1])
    with pytest.raises(UnreadableError):
        codec_of([Nodes(LIST, []), Nodes(TREE, [])])


@for_each(
    ("values", "expected", "signature", "given", "output"),
    [
        ((1, [2.5, "é"]), float("inf"), Signature(), [1, [2.5, "é"]], float("inf")),
        ((), None, Signature(), [], None),
        (
            (Nodes(TREE, [1, None, 2, None]), [Nodes(LIST, [1]), None]),
            Nodes(TREE, [1, None, 2, None, None]),
            Signature(arguments=(TREE, LISTS), result=TREE),
            [[1, None, 2, None], [[1], []]],
            [1, None, 2],
        ),
        ((None,), None, Signature(arguments=(LIST,), result=LIST), [[]], []),
        (([1],), [2], Signature(arguments=(JSON,), result=FIRST), [[1]], [2]),
    ],
    ids=["values", "nothing", "nodes", "no nodes", "in place"],
)
def test_a_test_has_a_json_value_a_line(
    values: tuple[object, ...], expected: object, signature: Signature, given: Any, output: Any
) -> None:
    test = to_test(values, expected, signature)
    assert [json.loads(line) for line in test.input.split("\n") if line] == given
    assert json.loads(test.output) == output
    assert not test.public


@for_each("value", [[1], 1, Nodes(LIST, [])])
def test_a_value_that_is_not_what_the_signature_says_is_unreadable(value: object) -> None:
    with pytest.raises(UnreadableError, match="where it is tree"):
        to_test((value,), 1, Signature(arguments=(TREE,)))


def test_nodes_inside_other_values_are_unreadable() -> None:
    with pytest.raises(UnreadableError, match="JSON"):
        to_test(([[Nodes(LIST, [1])]],), 1, Signature())
