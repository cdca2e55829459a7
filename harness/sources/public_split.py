"""Public tests where a source defines none.

They are the tests whose input and output the statement shows; where it shows none, the first few in
order.
"""

from collections.abc import Sequence
from typing import NamedTuple

from harness.problem import PublicRule, TestCase

FIRST = 3


class Split(NamedTuple):
    """Public and hidden tests of a problem, in the data's order, and the rule of the split."""

    public: tuple[TestCase, ...]
    hidden: tuple[TestCase, ...]
    rule: PublicRule


def first_public(number: int) -> int:
    """Return how many of some tests are public where nothing says which."""
    return min(FIRST, max(1, number // 2))


def split(tests: Sequence[TestCase], shown: Sequence[bool]) -> Split:
    """Split tests into public and hidden ones.

    Args:
        tests: tests in the data's order; their own `public` is ignored.
        shown: for each test, whether the statement shows its input and its output.

    Returns:
        The tests, marked. Where the statement shows none, the first three are public, or fewer, so
        that half of them stay hidden; of one test, that one.
    """
    rule: PublicRule = "statement" if any(shown) else "first"
    first = first_public(len(tests))
    public = shown if any(shown) else [index < first for index in range(len(tests))]
    marked = [
        test.model_copy(update={"public": is_public})
        for test, is_public in zip(tests, public, strict=True)
    ]
    return Split(
        tuple(test for test in marked if test.public),
        tuple(test for test in marked if not test.public),
        rule,
    )
