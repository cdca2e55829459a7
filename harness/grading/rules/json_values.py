"""Expected JSON values and results: read, compared, and where they first differ."""

import json
from collections.abc import Callable
from typing import Any

from harness.excerpts import around
from harness.grading.rules.difference import EXCERPT, difference, longest_right
from harness.grading.verdict import Difference

# This module handles values of unknown type.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false


SHORT_INTEGER = 4_000  # digits that `int` accepts under the interpreter's own limit
_MANY_VALUES = 1 << 20
NO_TUPLES = 0
TOP_TUPLE = 1
ALL_TUPLES = 1 << 30
"""Number of levels, from the top, on which a tuple counts as a list, for `first_unequal`."""


def read_json(text: str) -> Any:
    """Read a JSON value, including integers of any length.

    Raises:
        ValueError, RecursionError: the text is not one JSON value, or is nested too deeply.
    """
    return json.loads(text, parse_int=_integer)


def _integer(digits: str) -> int:
    """Read an integer by halves: `int` has a limit, and takes quadratic time."""
    if len(digits) < SHORT_INTEGER:
        return int(digits)
    if digits.startswith("-"):
        return -_integer(digits[1:])
    half = len(digits) // 2
    return _integer(digits[:-half]) * 10**half + _integer(digits[-half:])


class Other:
    """Result that no JSON value equals: a set, a generator, or something that is not data."""

    def __init__(self, tagged: Any) -> None:
        self.tagged = tagged


def unfold(tagged: Any, *, tuples: bool) -> Any:
    """Return the value under one tag of the sandbox's notation; its items stay tagged.

    Args:
        tagged: tagged value; a linked list or tree becomes the list of its values.
        tuples: whether a tuple counts as a list. No other sequence or iterable does.

    Raises:
        ValueError: a solution wrote the result itself.
    """
    match tagged:
        case {"i": str(digits)}:
            return int(digits, 16)
        case {"u": list(values)} if tuples:
            return values
        case {"l": list(values)} | {"t": list(values)}:
            return values
        case {"d": list(pairs)} if _are_fields(pairs):
            return dict(pairs)
        case dict():
            return Other(tagged)
        case _:
            return tagged


def _are_fields(pairs: list[Any]) -> bool:
    """Return whether these are the items of a mapping from distinct strings, as in JSON."""
    keys: set[str] = set()
    for pair in pairs:
        match pair:
            case [str(key), _]:
                keys.add(key)
            case _:
                return False
    return len(keys) == len(pairs)


def describe_expected(wanted: Any) -> str:
    """Return an expected value as text for a person."""
    return _describe_integer(wanted) if type(wanted) is int else json.dumps(wanted)


def _describe_integer(number: int) -> str:
    return str(number) if number.bit_length() < SHORT_INTEGER else hex(number)


def describe_value(tagged: Any) -> str:  # noqa: PLR0911 - one case a line
    """Return a result as text for a person, much as Python writes it.

    Raises:
        ValueError, TypeError, RecursionError: a solution wrote the result itself.
    """
    match tagged:
        case {"i": str(digits)}:
            return _describe_integer(int(digits, 16))
        case {"l": values} | {"t": values}:
            return describe_value(values)
        case {"c": [int(back), *values]}:
            return f"{describe_value(values)}, and back to node {back + 1}"
        case {"u": list(values)}:
            comma = "," * (len(values) == 1)
            return "(" + ", ".join(map(describe_value, values)) + comma + ")"
        case {"q": [str(name), *values]}:
            return f"{name}({describe_value(values)})"
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


# This module handles values of unknown type.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false


Same = Callable[[Any, Any], bool]


def compare_json(
    expected: str, got: str, compare: Callable[[Any, Any], Difference | None]
) -> Difference | None:
    """Read both sides and compare them; a result that cannot be read is wrong.

    Args:
        expected: one JSON value.
        got: result in the notation of `harness.sandbox.inside.values`, or any text that the
            solution wrote itself.
        compare: comparison of the expected value with the result, still in its notation; it may
            raise ValueError, TypeError or RecursionError at a result that is not data.
    """
    if len(got) > longest_right(expected) or _has_too_many_values(expected, got):
        return difference("size", expected, got)
    plain = "{" not in got and "NaN" not in got  # list equality treats the same NaN object as equal
    try:
        returned = json.loads(got)
        if plain and got == expected:
            return None
        wanted = read_json(expected)
        if plain and wanted == returned:
            return None
        return compare(wanted, returned)
    except (ValueError, TypeError, RecursionError) as error:
        return difference(f"cannot be read as a value ({type(error).__name__})", expected, got)


def _has_too_many_values(expected: str, got: str) -> bool:
    """Return whether a result has too many values to be equal.

    Each may take 24 times the memory of its text. The sandbox's notation uses at most four
    punctuation marks for one of JSON; texts that are equal as strings have the same number of them.
    """
    if len(got) <= _MANY_VALUES or "\\u" in expected:
        return False
    wanted, returned = (sum(map(text.count, ",[{")) for text in (expected, got))
    return returned > 4 * wanted + _MANY_VALUES


def same_scalar(wanted: Any, returned: Any) -> bool:
    """Return whether two values without items are equal; numbers compare as in Python."""
    number = (int, float)  # bool is an int here, as in Python
    if isinstance(wanted, number) and isinstance(returned, number):
        return wanted == returned
    return type(wanted) is type(returned) and isinstance(wanted, str | None) and wanted == returned


def first_unequal(wanted: Any, tagged: Any, same: Same, tuples: int) -> Difference | None:
    """Return where a result first differs, comparing lists and mappings by item.

    Args:
        wanted: expected value, from `read_json`.
        tagged: result in the sandbox's notation.
        same: whether two values without items, the expected one first, count as equal.
        tuples: number of levels, from the top, on which a tuple counts as a list.

    Raises:
        ValueError, TypeError, RecursionError: a solution wrote the result itself.
    """
    returned = unfold(tagged, tuples=tuples > 0)
    if isinstance(wanted, list) and isinstance(returned, list):
        return _first_unequal_item(wanted, returned, same, tuples - 1)
    if isinstance(wanted, dict) and isinstance(returned, dict):
        if wanted.keys() != returned.keys():
            return value_difference(": keys", list(wanted), list(returned))
        keys: list[Any] = list(wanted)
        differences = (
            (key, first_unequal(wanted[key], returned[key], same, tuples - 1)) for key in keys
        )
        return next((_below(unequal, key) for key, unequal in differences if unequal), None)
    return None if same(wanted, returned) else value_difference("", wanted, tagged)


def _first_unequal_item(
    wanted: list[Any], returned: list[Any], same: Same, tuples: int
) -> Difference | None:
    for index, (left, right) in enumerate(zip(wanted, returned, strict=False)):
        unequal = first_unequal(left, right, same, tuples)
        if unequal is not None:
            return _below(unequal, index)
    if len(wanted) != len(returned):
        return Difference(where=": length", expected=str(len(wanted)), got=str(len(returned)))
    return None


def _below(unequal: Difference, key: object) -> Difference:
    name = around(repr(key), 0, EXCERPT)
    return unequal.model_copy(update={"where": f"[{name}]{unequal.where}"})


def value_difference(where: str, wanted: Any, tagged: Any) -> Difference:
    """Return a difference between an expected value and a result, both described.

    Raises:
        ValueError, TypeError, RecursionError: a solution wrote the result itself.
    """
    return difference(where, describe_expected(wanted), describe_value(tagged))
