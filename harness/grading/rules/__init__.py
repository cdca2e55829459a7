"""Comparison rules: is this output the expected one? Pure functions that never raise.

Each returns None when the output is right, else where it first differs. Time and memory are linear
in the sizes of the two, whatever was printed. A new rule is a file here and a line of the table.
"""

from collections.abc import Callable
from typing import NamedTuple

from harness.grading.rules.apps_legacy import apps_legacy_output, apps_legacy_value
from harness.grading.rules.lcb import lcb_output, lcb_value
from harness.grading.rules.notation import describe_value, read_json
from harness.grading.rules.tokens import tokens_output, tokens_value
from harness.grading.verdict import Difference

__all__ = [
    "RULES",
    "ComparisonRule",
    "Rule",
    "apps_legacy_output",
    "apps_legacy_value",
    "describe_value",
    "lcb_output",
    "lcb_value",
    "read_json",
    "tokens_output",
    "tokens_value",
]

Rule = Callable[[str, str], Difference | None]


class ComparisonRule(NamedTuple):
    """A rule for programs and one for functions.

    Attributes:
        output: takes the expected text and what the program printed.
        value: takes the expected value as JSON and the result in the notation of
            `harness.sandbox.inside.values`, or, from a solution that wrote it itself, anything.
    """

    output: Rule
    value: Rule


RULES = {
    "lcb": ComparisonRule(lcb_output, lcb_value),
    "tokens": ComparisonRule(tokens_output, tokens_value),
    "apps_legacy": ComparisonRule(apps_legacy_output, apps_legacy_value),
}
