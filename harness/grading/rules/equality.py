"""The rule `equality`: equal lines, or equal values."""

from functools import partial

from harness.grading.rules.comparison_rule import ComparisonRule
from harness.grading.rules.difference import first_unequal_line, first_unequal_printed, never
from harness.grading.rules.json_values import NO_TUPLES, compare_json, first_unequal, same_scalar
from harness.grading.verdict import Difference


def equality_output(expected: str, got: str) -> Difference | None:
    """Compare a program's output line by line, ignoring white space at the ends of lines."""
    return first_unequal_line(expected, got, never)


def equality_printed(expected: str, got: bytes) -> Difference | None:
    """Do `equality_output` for an output as bytes."""
    return first_unequal_printed(expected, got, never)


def equality_value(expected: str, got: str) -> Difference | None:
    """Compare a function's result by equality, where a tuple is not a list.

    Numbers compare as in Python (True is 1, 6.0 is 6), and NaN equals nothing. A linked list or
    tree is equal when its values are.

    Args:
        expected: one JSON value.
        got: result in the notation of `harness.sandbox.inside.values`, or any text that the
            solution wrote itself.
    """
    return compare_json(expected, got, partial(first_unequal, same=same_scalar, tuples=NO_TUPLES))


EQUALITY = ComparisonRule(equality_output, equality_value, equality_printed)
