import math
import time

import pytest
from for_each import for_each

from harness.problem import Codec
from harness.sources.literals import MAX_CHARACTERS, MAX_ITEMS, Nodes, UnreadableError, read_call


def read(text: str) -> object:
    ((value,), named) = read_call(text)
    assert named == {}
    return value


@for_each(
    ("text", "value"),
    [
        ("1", 1),
        ("-1.5", -1.5),
        ("+2", 2),
        ("'a' \"b\"", "ab"),
        ("r'\\d'", "\\d"),
        ("True", True),
        ("true", True),
        ("false", False),
        ("None", None),
        ("null", None),
        ("-inf", -math.inf),
        ("Infinity", math.inf),
        ("float('-inf')", -math.inf),
        ("math.inf", math.inf),
        ("[1, (2, [3]), ()]", [1, [2, [3]], []]),
        ("{'a': [null], 'b': {}}", {"a": [None], "b": {}}),
        ("[0] * 3", [0, 0, 0]),
        ("2 * 'ab' + 'c'", "ababc"),
        ("[1] + [2] * 2", [1, 2, 2]),
        ("list_node([1, 2])", Nodes(Codec.LINKED_LIST, [1, 2])),
        ("tree_node([1, None, 2])", Nodes(Codec.TREE, [1, None, 2])),
        ("list_node(None)", Nodes(Codec.LINKED_LIST, [])),
        ("\n[1,\n2]\n", [1, 2]),
        ("'\\d'", "\\d"),
    ],
)
def test_a_literal_is_read(text: str, value: object) -> None:
    assert read(text) == value
    assert type(read(text)) is type(value)


def test_nan_is_read() -> None:
    assert read("nan") != read("nan")


@for_each(
    "text",
    [
        "x",
        "open('/etc/passwd')",
        "__import__('os').system('true')",
        "[i for i in range(3)]",
        "lambda: 1",
        "f'{1}'",
        "b'x'",
        "1j",
        "...",
        "{1, 2}",
        "{1: 2}",
        "{**{}}",
        "*[1]",
        "**{'a': 1}",
        "1 if True else 2",
        "[1][0]",
        "2 ** 3",
        "2 * 3",
        "1 + 1",
        "'a' + ['a']",
        "[1] * True",
        "[1] * 1.0",
        "-'a'",
        "-True",
        "float('1e5')",
        "list_node(1)",
        "list_node([1], 2)",
        "math.pi",
        "(a := 1)",
        "a = 1, a = 2",
        "0x" + "f" * 10_000,
        "1) + (2",
        "1); f(2",
        "(",
        "\0",
    ],
)
def test_what_is_no_literal_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableError):
        read_call(text)


@for_each(
    "text",
    [
        "[0] * 10 ** 9",
        f"'a' * {MAX_ITEMS + 1}",
        "[0] * 1000000000000000000000",
        "[[[[0] * 99] * 99] * 99] * 99",
        "[" * 5_000,
        "-" * 100_000 + "1",
        "'a'" + " + 'a'" * 100_000,
        "not " * 100_000 + "1",
        "1" * 10_000,
        "1," * MAX_CHARACTERS,
    ],
)
def test_hostile_text_is_refused_soon(text: str) -> None:
    start = time.process_time()
    with pytest.raises(UnreadableError):
        read_call(text)
    assert time.process_time() - start < 5


@pytest.mark.thorough
def test_adding_up_is_bounded_by_the_work() -> None:
    with pytest.raises(UnreadableError, match="makes more than"):
        read_call(" + ".join(["[0] * 20000"] * 300))
