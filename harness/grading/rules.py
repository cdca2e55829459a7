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

from harness.grading.excerpts import around
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
    if lines_wanted == lines_printed:
        pairs = zip(wanted.split("\n"), printed.split("\n"), strict=True)
        for number, (line_wanted, line_printed) in enumerate(pairs, 1):
            left, right = line_wanted.strip(), line_printed.strip()
            if left != right and not _same_decimals(left, right):
                return _line_difference(number, left, right)
        return None
    first = _first_different_line(wanted, printed)
    return first.model_copy(
        update={
            "where": f"{first.where} ({_lines(lines_wanted)} expected, {lines_printed} printed)"
        }
    )


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


def _line_difference(number: int, left: str, right: str) -> Difference:
    column = _first_difference(left, right)
    return Difference(
        where=f"line {number}, column {column + 1}",
        expected=around(left, column, EXCERPT),
        got=around(right, column, EXCERPT),
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


def _first_different_line(wanted: str, printed: str) -> Difference:
    position = _first_difference(wanted, printed)
    number = wanted.count("\n", 0, position) + 1
    left, right = _line_at(wanted, position), _line_at(printed, position)
    return _line_difference(number, left.strip(), right.strip())


def _line_at(text: str, position: int) -> str:
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    return text[start : end if end >= 0 else len(text)]


def lcb_value(expected: str, got: str) -> Difference | None:
    """LiveCodeBench's rule for what a function returned: equality, tuples being lists at any depth.

    Numbers compare as in Python (True is 1, 6.0 is 6), never with a string, and NaN equals nothing.

    Args:
        expected: one JSON value.
        got: the result in the notation of `harness.sandbox.inside.values`.
    """
    if len(got) > LONGEST_RESULT_FACTOR * len(expected) + LONGEST_RESULT_EXTRA:
        return Difference(
            where="size", expected=around(expected, 0, EXCERPT), got=around(got, 0, EXCERPT)
        )
    try:
        wanted, returned = read_json(expected), json.loads(got)
        if "{" not in got and wanted == returned:
            return None
        return _first_unequal(wanted, returned)
    except (ValueError, RecursionError) as error:
        return Difference(
            where=f"cannot be read as a value ({type(error).__name__})",
            expected=around(expected, 0, EXCERPT),
            got=around(got, 0, EXCERPT),
        )


def read_json(text: str) -> Any:
    """A JSON value, integers of any length among them."""
    return json.loads(text, parse_int=_integer)


def _integer(digits: str) -> int:
    return int(digits) if len(digits) < SHORT_INTEGER else int(Decimal(digits))


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
        case {"d": list(pairs)}:
            return _mapping(pairs) or _Other(tagged)
        case dict():
            return _Other(tagged)
        case _:
            return tagged


def _mapping(pairs: list[Any]) -> dict[str, Any] | None:
    """A mapping whose keys are distinct strings; None when it has others."""
    if not all(isinstance(pair, list) and isinstance(pair[0], str) for pair in pairs):
        return None
    return dict(pairs)


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
    return difference.model_copy(update={"where": f"[{key!r}]{difference.where}"})


def _same_scalar(wanted: Any, returned: Any) -> bool:
    number = (int, float)  # bool is an int here, as in Python
    if isinstance(wanted, number) and isinstance(returned, number):
        return wanted == returned
    return type(wanted) is type(returned) and isinstance(wanted, str | None) and wanted == returned


def _value_difference(where: str, wanted: Any, tagged: Any) -> Difference:
    left, right = json.dumps(wanted), describe_value(tagged)
    return Difference(where=where, expected=around(left, 0, EXCERPT), got=around(right, 0, EXCERPT))


def describe_value(tagged: Any) -> str:  # noqa: PLR0911 - one case a line
    """A result for a person to read, much as Python writes it."""
    match tagged:
        case {"i": str(digits)}:
            return digits
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
