"""Comparison rules: pure functions that compare an output with the expected one.

They never raise. Each returns None when the output is right, else where it first differs. Time and
memory are linear in the sizes of the two texts, whatever was printed. To add a rule, add a
`ComparisonRule` here and a line to `RULES` of `harness.registry`, or offer an object with `output`
and `value` in a package as an entry point of `harness.rules`.
"""

from functools import lru_cache
from typing import cast

from harness import plugins, registry
from harness.errors import UsageError
from harness.grading.rules.comparison_rule import ComparisonRule, Rule
from harness.grading.rules.difference import difference
from harness.grading.verdict import Difference
from harness.plugins import Plugin, words_of
from harness.registry import resolve

RULES = {name: resolve(target) for name, target in registry.RULES.items()}
"""The built-in rules by name."""


class RuleError(Exception):
    """A rule fails on a right answer too, which says nothing about the solution."""


def guarded(plugin: Plugin, rule: Rule) -> Rule:
    """Return the rule, changed to raise nothing but RuleError.

    Where it fails on an answer, and not on the expected output itself, the answer is wrong: it is
    of a kind that the rule does not know.
    """

    def compare(expected: str, got: str) -> Difference | None:
        try:
            ruling = cast("object", rule(expected, got))
        except (Exception, SystemExit) as error:
            if _accepts(rule, expected):
                where = f"the rule cannot make anything of it: {words_of(error)}"
                return difference(where, expected, got)
            raise RuleError(f"{plugin} raised {words_of(error)}") from error
        if ruling is None or isinstance(ruling, Difference):
            return ruling
        raise RuleError(f"{plugin} returned a {type(ruling).__name__}, not a Difference or None")

    return compare


def _accepts(rule: Rule, expected: str) -> bool:
    try:
        return rule(expected, expected) is None
    except (Exception, SystemExit):  # noqa: BLE001 - it is the plug-in's code
        return False


def find_rule(name: str) -> ComparisonRule:
    """Return a rule of `RULES` or of a plug-in.

    Raises:
        UsageError: there is none, or the plug-in does not load, or is not a rule.
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
    rule = plugin.load()
    sides = [getattr(rule, side, None) for side in ("output", "value")]
    if not all(callable(side) for side in sides):
        raise UsageError(
            f"{plugin} is not a rule: missing functions `output` and `value` of (expected, got)"
        )
    output, value = (guarded(plugin, cast("Rule", side)) for side in sides)
    return ComparisonRule(output, value)
