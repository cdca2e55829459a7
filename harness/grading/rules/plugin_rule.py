"""Rules of plug-ins, with errors caught and results checked."""

from collections.abc import Callable
from typing import cast

from harness.grading.rules.difference import difference
from harness.grading.verdict import Difference
from harness.plugins import Plugin, words_of

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
