"""Comparison rules: is this output the expected one? Pure functions that never raise.

Each returns None when the output is right, else where it first differs. Time and memory are linear
in the sizes of the two, whatever was printed.
"""

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

import json
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from harness.grading.excerpts import around, writable
from harness.grading.verdict import Difference

EXCERPT = 160
# An equal result, in the sandbox's notation, is no longer than so many times the expected text.
LONGEST_RESULT_FACTOR = 32
LONGEST_RESULT_EXTRA = 1 << 20
SHORT_INTEGER = 4_000  # digits that `int` takes under the interpreter's own bound

Rule = Callable[[str, str], Difference | None]


def lcb_output(expected: str, got: str) -> Difference | None:
    """LiveCodeBench's rule for what a program printed (its `testing_util`, described in words).

    Both texts and each of their lines are stripped; the number of lines must be equal; a line is
    right when it is equal, or when both lines consist of decimal numbers and these are equal
    exactly: 1.0 is 1 and 1e2 is 100, 0.333 is not 1/3, and NaN equals nothing.
    """
    wanted, printed = expected.strip(), got.strip()
    if wanted == printed:
        return None
    lines_wanted, lines_printed = wanted.count("\n") + 1, printed.count("\n") + 1
    first = _first_different_line(wanted, printed, min(lines_wanted, lines_printed))
    if first is None or lines_wanted == lines_printed:
        return first
    counts = f"{_lines(lines_wanted)} expected, {lines_printed} printed"
    return first.model_copy(update={"where": f"{first.where} ({counts})"})


def _first_different_line(wanted: str, printed: str, common: int) -> Difference | None:
    """Where the texts first differ, `common` being the lines of the shorter one."""
    # One split more than that: what the longer one has beyond, in one piece.
    left_lines, right_lines = wanted.split("\n", common), printed.split("\n", common)
    pairs = zip(left_lines[:common], right_lines[:common], strict=True)
    for number, (left, right) in enumerate(pairs, 1):
        difference = _line_difference(number, left.strip(), right.strip())
        if difference is not None:
            return difference
    if len(left_lines) == len(right_lines):
        return None
    left, right = _first_line(left_lines[common:]), _first_line(right_lines[common:])
    return _difference(f"line {common + 1}, column 1", left, right)


def _first_line(rest: list[str]) -> str:
    return rest[0].partition("\n")[0].strip() if rest else ""


def _lines(count: int) -> str:
    return f"{count} line" if count == 1 else f"{count} lines"


def _same_decimals(left: str, right: str) -> bool:
    try:
        wanted = [Decimal(token) for token in left.split()]
        printed = [Decimal(token) for token in right.split()]
    except InvalidOperation:
        return False
    if any(number.is_nan() for number in wanted + printed):  # a signalling one would raise
        return False
    return wanted == printed


def _line_difference(number: int, left: str, right: str) -> Difference | None:
    if left == right or _same_decimals(left, right):
        return None
    column = _first_difference(left, right)
    return _difference(f"line {number}, column {column + 1}", left, right, column)


def _difference(where: str, expected: str, got: str, position: int = 0) -> Difference:
    return Difference(
        where=where,
        expected=writable(around(expected, position, EXCERPT)),
        got=writable(around(got, position, EXCERPT)),
    )


def _first_difference(left: str, right: str) -> int:
    """The position of the first character that differs, found by halving."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def lcb_value(expected: str, got: str) -> Difference | None:
    """LiveCodeBench's rule for what a function returned: equality, tuples being lists at any depth.

    Numbers compare as in Python (True is 1, 6.0 is 6), never with a string, and NaN equals nothing.

    Args:
        expected: one JSON value.
        got: the result in the notation of `harness.sandbox.inside.values`, or, from a solution
            that wrote it itself, anything at all.
    """
    if len(got) > LONGEST_RESULT_FACTOR * len(expected) + LONGEST_RESULT_EXTRA:
        return _difference("size", expected, got)
    try:
        wanted, returned = read_json(expected), json.loads(got)
        plain = "{" not in got and "NaN" not in got  # a list's == takes the same NaN for equal
        if plain and wanted == returned:
            return None
        return _first_unequal(wanted, returned)
    except (ValueError, TypeError, RecursionError) as error:
        return _difference(f"cannot be read as a value ({type(error).__name__})", expected, got)


def read_json(text: str) -> Any:
    """A JSON value, integers of any length among them."""
    return json.loads(text, parse_int=_integer)


def _integer(digits: str) -> int:
    """An integer, by halves: `int` is bounded, and quadratic in its digits."""
    if len(digits) < SHORT_INTEGER:
        return int(digits)
    if digits.startswith("-"):
        return -_integer(digits[1:])
    half = len(digits) // 2
    return _integer(digits[:-half]) * 10**half + _integer(digits[-half:])


class _Other:
    """A result that no JSON value equals: a set, or something that is not data."""

    def __init__(self, tagged: Any) -> None:
        self.tagged = tagged


def _unfold(tagged: Any) -> Any:
    """The value under one tag of the sandbox's notation."""
    match tagged:
        case {"i": str(digits)}:
            return int(digits, 16)
        case {"l": list(values)} | {"t": list(values)}:
            return values
        case {"d": list(pairs)} if _are_fields(pairs):
            return dict(pairs)
        case dict():
            return _Other(tagged)
        case _:
            return tagged


def _are_fields(pairs: list[Any]) -> bool:
    """Whether these are the items of a mapping from distinct strings, as of a JSON object."""
    keys: set[str] = set()
    for pair in pairs:
        match pair:
            case [str(key), _]:
                keys.add(key)
            case _:
                return False
    return len(keys) == len(pairs)


def _first_unequal(wanted: Any, tagged: Any) -> Difference | None:
    returned = _unfold(tagged)
    if isinstance(wanted, list) and isinstance(returned, list):
        return _first_unequal_item(wanted, returned)
    if isinstance(wanted, dict) and isinstance(returned, dict):
        if wanted.keys() != returned.keys():
            return _value_difference(": keys", list(wanted), list(returned))
        keys: list[Any] = list(wanted)
        found = ((key, _first_unequal(wanted[key], returned[key])) for key in keys)
        return next((_below(difference, key) for key, difference in found if difference), None)
    return None if _same_scalar(wanted, returned) else _value_difference("", wanted, tagged)


def _first_unequal_item(wanted: list[Any], returned: list[Any]) -> Difference | None:
    for index, (left, right) in enumerate(zip(wanted, returned, strict=False)):
        difference = _first_unequal(left, right)
        if difference is not None:
            return _below(difference, index)
    if len(wanted) != len(returned):
        return Difference(where=": length", expected=str(len(wanted)), got=str(len(returned)))
    return None


def _below(difference: Difference, key: object) -> Difference:
    name = around(repr(key), 0, EXCERPT)
    return difference.model_copy(update={"where": f"[{name}]{difference.where}"})


def _same_scalar(wanted: Any, returned: Any) -> bool:
    number = (int, float)  # bool is an int here, as in Python
    if isinstance(wanted, number) and isinstance(returned, number):
        return wanted == returned
    return type(wanted) is type(returned) and isinstance(wanted, str | None) and wanted == returned


def _value_difference(where: str, wanted: Any, tagged: Any) -> Difference:
    left = _describe_integer(wanted) if type(wanted) is int else json.dumps(wanted)
    return _difference(where, left, describe_value(tagged))


def _describe_integer(number: int) -> str:
    return str(number) if number.bit_length() < SHORT_INTEGER else hex(number)


def describe_value(tagged: Any) -> str:  # noqa: PLR0911 - one case a line
    """A result for a person to read, much as Python writes it.

    Raises:
        ValueError, TypeError, RecursionError: a solution wrote the result itself.
    """
    match tagged:
        case {"i": str(digits)}:
            return _describe_integer(int(digits, 16))
        case {"l": values} | {"t": values}:
            return describe_value(values)
        case {"s": list(values)}:
            return "{" + ", ".join(map(describe_value, values)) + "}"
        case {"d": list(pairs)}:
            items = (f"{describe_value(k)}: {describe_value(v)}" for k, v in pairs)
            return "{" + ", ".join(items) + "}"
        case {"o": str(name)}:
            return f"<{name} object>"
        case list():
            return "[" + ", ".join(map(describe_value, tagged)) + "]"
        case _:
            return json.dumps(tagged)


class ComparisonRule(NamedTuple):
    """A rule for programs and one for functions."""

    output: Rule
    value: Rule


RULES = {"lcb": ComparisonRule(lcb_output, lcb_value)}
