"""Compare an expected JSON value with a result, and find where they first differ."""

# This module handles values of unknown type.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

import json
from collections.abc import Callable
from typing import Any

from harness.grading.rules.difference import EXCERPT, difference, longest_right
from harness.grading.rules.notation import describe_expected, describe_value, read_json, unfold
from harness.grading.verdict import Difference
from harness.text import around

_MANY_VALUES = 1 << 20

Same = Callable[[Any, Any], bool]

NO_TUPLES = 0
TOP_TUPLE = 1
ALL_TUPLES = 1 << 30
"""Number of levels, from the top, on which a tuple counts as a list, for `first_unequal`."""


def compare_json(
    expected: str, got: str, compare: Callable[[Any, Any], Difference | None]
) -> Difference | None:
    """Read both sides and compare them; a result that cannot be read is wrong.

    Args:
        expected: one JSON value.
        got: result in the notation of `harness.sandbox.inside.values`, or any text that the
            solution wrote itself.
        compare: comparison of the expected value with the result, still in its notation; it may
            raise ValueError, TypeError or RecursionError at a result that is no data.
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
        found = ((key, first_unequal(wanted[key], returned[key], same, tuples - 1)) for key in keys)
        return next((_below(unequal, key) for key, unequal in found if unequal), None)
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
