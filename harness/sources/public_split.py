"""Which tests are public, where a source does not say.

Those whose input and output the statement shows; where it shows none, the first few in order.
"""

from collections.abc import Sequence
from typing import NamedTuple

from harness.problem import PublicRule, TestCase

FIRST = 3


class Split(NamedTuple):
    """The tests of a problem on either side, each in the data's order, and the rule that split."""

    public: tuple[TestCase, ...]
    hidden: tuple[TestCase, ...]
    rule: PublicRule


def split(tests: Sequence[TestCase], shown: Sequence[bool]) -> Split:
    """Tell public tests from hidden ones.

    Args:
        tests: in the data's order; what they say of being public does not matter.
        shown: for each, whether the statement shows its input and its output.

    Returns:
        The tests, marked. Where the statement shows none, the first three are public, or fewer, so
        that half of them stay hidden; of one test, that one.
    """
    rule: PublicRule = "statement" if any(shown) else "first"
    first = min(FIRST, max(1, len(tests) // 2))
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
