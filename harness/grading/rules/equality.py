"""Rule `equality`: Python's `==`, as in an `assert` of LeetCodeDataset."""

from harness.grading.rules.difference import first_unequal_line
from harness.grading.rules.json_values import NO_TUPLES, compare_json, first_unequal, same_scalar
from harness.grading.rules.printed import first_unequal_printed
from harness.grading.verdict import Difference


def equality_output(expected: str, got: str) -> Difference | None:
    """Compare a program's output line by line, ignoring white space at the ends of lines."""
    return first_unequal_line(expected, got, _never)


def equality_printed(expected: str, got: bytes) -> Difference | None:
    """Do `equality_output` for an output as bytes."""
    return first_unequal_printed(expected, got, _never)


def _never(_wanted: str, _printed: str) -> bool:
    return False


def equality_value(expected: str, got: str) -> Difference | None:
    """Compare a function's result by equality, where a tuple is no list.

    Numbers compare as in Python (True is 1, 6.0 is 6), and NaN equals nothing. A linked list or
    tree is equal when its values are.

    Args:
        expected: one JSON value.
        got: result in the notation of `harness.sandbox.inside.values`, or any text that the
            solution wrote itself.
    """
    return compare_json(
        expected, got, lambda wanted, tagged: first_unequal(wanted, tagged, same_scalar, NO_TUPLES)
    )
