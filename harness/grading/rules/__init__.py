"""Comparison rules: pure functions that compare an output with the expected one.

They never raise. Each returns None when the output is right, else where it first differs. Time and
memory are linear in the sizes of the two texts, whatever was printed. To add a rule, add a file
here and a line to the table, or offer an object with `output` and `value` in a package as an entry
point of `harness.rules`.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, cast

from harness import plugins
from harness.errors import UsageError
from harness.grading.rules.apps_legacy import apps_legacy_output, apps_legacy_value
from harness.grading.rules.difference import difference, longest_right, of_bytes
from harness.grading.rules.standard import (
    equality_output,
    equality_printed,
    equality_value,
    lcb_output,
    lcb_printed,
    lcb_value,
    tokens_output,
    tokens_value,
)
from harness.grading.verdict import Difference
from harness.plugins import Plugin, words_of
from harness.text import decode_head

Rule = Callable[[str, str], Difference | None]


class RuleError(Exception):
    """A rule fails on a right answer too, which says nothing about the solution."""


def guarded(plugin: Plugin, rule: Rule) -> Rule:
    """Return the rule, changed to raise nothing but RuleError.

    Where it fails on an answer, and not on the expected output itself, the answer is wrong: it is
    of a kind that the rule does not know.
    """

    def compare(expected: str, got: str) -> Difference | None:
        try:
            said = cast("object", rule(expected, got))
        except (Exception, SystemExit) as error:
            if _accepts(rule, expected):
                where = f"the rule cannot make anything of it: {words_of(error)}"
                return difference(where, expected, got)
            raise RuleError(f"{plugin} raised {words_of(error)}") from error
        if said is None or isinstance(said, Difference):
            return said
        raise RuleError(f"{plugin} returned a {type(said).__name__}, not a Difference or None")

    return compare


def _accepts(rule: Rule, expected: str) -> bool:
    try:
        return rule(expected, expected) is None
    except (Exception, SystemExit):  # noqa: BLE001 - it is the plug-in's code
        return False


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


RULES = {
    "lcb": ComparisonRule(lcb_output, lcb_value, lcb_printed),
    "equality": ComparisonRule(equality_output, equality_value, equality_printed),
    "tokens": ComparisonRule(tokens_output, tokens_value, of_bytes(tokens_output)),
    "apps_legacy": ComparisonRule(
        apps_legacy_output, apps_legacy_value, of_bytes(apps_legacy_output)
    ),
}


def find_rule(name: str) -> ComparisonRule:
    """Return a rule of `RULES` or of a plug-in.

    Raises:
        UsageError: there is none, or the plug-in does not load, or is no rule.
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
    sides = [getattr(found, side, None) for side in ("output", "value")]
    if not all(callable(side) for side in sides):
        raise UsageError(
            f"{plugin} is not a rule: missing functions `output` and `value` of (expected, got)"
        )
    output, value = (guarded(plugin, cast("Rule", side)) for side in sides)
    return ComparisonRule(output, value)
