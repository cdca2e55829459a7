"""LiveCodeBench's rule, `lcb`: equal lines, or lines of equal decimal numbers."""

from decimal import Decimal, InvalidOperation
from functools import partial

from harness.grading.rules.comparison_rule import ComparisonRule
from harness.grading.rules.difference import first_unequal_line, first_unequal_printed
from harness.grading.rules.json_values import TOP_TUPLE, compare_json, first_unequal, same_scalar
from harness.grading.verdict import Difference


def lcb_output(expected: str, got: str) -> Difference | None:
    """Compare a program's output by LiveCodeBench's rule (its `testing_util`).

    Both texts and each of their lines are stripped; the number of lines must be equal; a line is
    right when it is equal, or when both lines consist of decimal numbers and these are equal
    exactly: 1.0 is 1 and 1e2 is 100, 0.333 is not 1/3, and NaN equals nothing.
    """
    return first_unequal_line(expected, got, _same_decimals)


def lcb_printed(expected: str, got: bytes) -> Difference | None:
    """Do `lcb_output` for an output as bytes."""
    return first_unequal_printed(expected, got, _same_decimals)


def _same_decimals(left: str, right: str) -> bool:
    try:
        wanted = [Decimal(token) for token in left.split()]
        tokens = right.split(None, len(wanted))  # of a long line only what can matter
        if len(tokens) != len(wanted):
            return False
        printed = [Decimal(token) for token in tokens]
    except InvalidOperation:
        return False
    if any(number.is_nan() for number in wanted + printed):  # a signalling NaN would raise
        return False
    return wanted == printed


def lcb_value(expected: str, got: str) -> Difference | None:
    """Compare a function's result: equality, a tuple counting as a list.

    Only the result itself is converted, not tuples inside it. A generator, range, deque or array is
    no list either. Numbers compare as in Python (True is 1, 6.0 is 6), never with a string, and NaN
    equals nothing.

    Args:
        expected: one JSON value.
        got: result in the notation of `harness.sandbox.inside.values`, or any text that the
            solution wrote itself.
    """
    return compare_json(expected, got, partial(first_unequal, same=same_scalar, tuples=TOP_TUPLE))


LCB = ComparisonRule(lcb_output, lcb_value, lcb_printed)
