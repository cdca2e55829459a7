"""Comparison rules: is this output the expected one? Pure functions that never raise.

Each returns None when the output is right, else where it first differs. Time and memory are linear
in the sizes of the two, whatever was printed. A new rule is a file here and a line of the table, or
an object with `output` and `value` that a package offers as an entry point of `harness.rules`.
"""

from functools import lru_cache
from typing import NamedTuple, cast

from harness import plugins
from harness.errors import UsageError
from harness.grading.rules.apps_legacy import apps_legacy_output, apps_legacy_value
from harness.grading.rules.equality import equality_output, equality_value
from harness.grading.rules.guarding import Rule, RuleError, guarded
from harness.grading.rules.lcb import lcb_output, lcb_value
from harness.grading.rules.notation import describe_value, read_json
from harness.grading.rules.tokens import tokens_output, tokens_value

__all__ = [
    "RULES",
    "ComparisonRule",
    "Rule",
    "RuleError",
    "apps_legacy_output",
    "apps_legacy_value",
    "describe_value",
    "equality_output",
    "equality_value",
    "find_rule",
    "lcb_output",
    "lcb_value",
    "read_json",
    "tokens_output",
    "tokens_value",
]


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
    "equality": ComparisonRule(equality_output, equality_value),
    "tokens": ComparisonRule(tokens_output, tokens_value),
    "apps_legacy": ComparisonRule(apps_legacy_output, apps_legacy_value),
}


def find_rule(name: str) -> ComparisonRule:
    """One of `RULES`, or that of a plug-in.

    Raises:
        UsageError: there is none, or the plug-in does not load, or offers something else.
    """
    if name in RULES:
        return RULES[name]
    plugin = plugins.find(plugins.RULES, name)
    if plugin is None:
        known = plugins.known(plugins.RULES, RULES)
        raise UsageError(f"rule {name[:100]}: known are {known}")
    return _of(plugin)


@lru_cache
def _of(plugin: plugins.Plugin) -> ComparisonRule:
    found = plugin.load()
    sides = [getattr(found, side, None) for side in ComparisonRule._fields]
    if not all(callable(side) for side in sides):
        raise UsageError(
            f"{plugin} is no rule: it lacks functions `output` and `value` of (expected, got)"
        )
    return ComparisonRule(*(guarded(plugin, cast("Rule", side)) for side in sides))
