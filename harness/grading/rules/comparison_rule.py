"""A comparison rule: how the outputs of programs and the results of functions are compared."""

from collections.abc import Callable
from typing import NamedTuple

from harness.excerpts import decode_head
from harness.grading.rules.difference import longest_right
from harness.grading.verdict import Difference

Rule = Callable[[str, str], Difference | None]

LARGE = 1 << 16
"""Outputs of more bytes are compared without decoding, if the rule allows it."""


class ComparisonRule(NamedTuple):
    """A rule for programs and one for functions.

    Attributes:
        output: rule for programs, given the expected text and the printed one.
        value: rule for functions, given the expected value as JSON and the result in the notation
            of `harness.sandbox.inside.values`, or any text that the solution wrote itself.
        printed: variant of `output` for bytes; None for a rule of a plug-in, which gets every
            output and result completely, as text.
    """

    output: Rule
    value: Rule
    printed: Callable[[str, bytes], Difference | None] | None = None

    def compare_output(self, expected: str, got: bytes) -> Difference | None:
        """Compare a program's output, without large copies of it."""
        if self.printed is not None and len(got) > LARGE:
            return self.printed(expected, got)
        return self.output(expected, got.decode("utf-8", "surrogateescape"))

    def compare_value(self, expected: str, got: bytes) -> Difference | None:
        """Compare a result; decode no more of it than can be right."""
        if self.printed is None:
            return self.value(expected, got.decode("utf-8", "replace"))
        return self.value(expected, decode_head(got, longest_right(expected) + 1, "replace"))
