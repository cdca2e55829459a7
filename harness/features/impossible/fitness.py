"""Why a problem cannot have an impossible test: nothing proves that no right solution passes it.

A change is proven by the problem's comparison rule, so there must be one that accepts a single
answer, and the problem must have a single answer.
"""

import re

from harness.grading.jobs import Options
from harness.problem import Codec, Kind, Problem, TestCase

EXACT_RULES = frozenset({"lcb", "equality", "tokens"})
"""Rules that accept one answer, apart from white space and the notation of numbers."""
VALUES = frozenset({Codec.JSON, Codec.LINKED_LIST, Codec.TREE, Codec.FIRST_ARGUMENT})
"""Results whose expected output is a JSON value."""

LONGEST_STATEMENT = 50_000
_THINGS = r"(?:answer|solution|output|result|way|order|permutation|arrangement|path|construction)s?"
_SEVERAL = re.compile(
    rf"\bin any\b|\bany (?:\w+ )?{_THINGS}\b|\bany (?:one )?(?:of|such|valid|correct|possible)\b"
    r"|\barbitrar(?:y|ily)\b|\b(?:print|output|return|find|choose|report|give) any\b"
    rf"|\b(?:multiple|several|many|different|more than one|other) (?:\w+ )?{_THINGS}\b"
    r"|\bif there (?:are|is) (?:several|multiple|many|more than one)\b|\bnot (?:\w+ )?unique\b"
    r"|\baccept(?:s|ed)? any\b|\b(?:will|would|also) (?:also )?be accepted\b"
    r"|\bdoes(?: not|n't|n\u2019t) matter\b|\brandom(?:ly)?\b",
    re.IGNORECASE,
)


def unfit(problem: Problem, options: Options) -> str | None:
    """Return why a problem cannot have an impossible test; None if it can.

    Args:
        problem: the problem.
        options: how its solutions are judged.

    Raises:
        DataError: its hidden tests cannot be decoded.
    """
    reasons = (
        ("asks for no program", problem.kind is not Kind.CODE_GENERATION),
        ("its own checker", problem.checker is not None),
        ("rule accepts several answers", options.rule_of(problem) not in EXACT_RULES),
        ("result is not a value", problem.signature.result not in VALUES),
        ("known issues", bool(problem.known_issues)),
        ("several right answers", says_several(problem.statement)),
        ("no public test", not problem.tests.public),
    )
    unfit = next((reason for reason, holds in reasons if holds), None)
    if unfit is None and not problem.tests.load_hidden():
        return "no hidden test"
    return unfit


def says_several(statement: str) -> bool:
    """Whether a statement may allow several answers; an empty or very long one may."""
    if not statement.strip() or len(statement) > LONGEST_STATEMENT:
        return True
    return _SEVERAL.search(" ".join(statement.split())) is not None


def only_tests(tests: tuple[TestCase, ...]) -> list[int]:
    """Return the indexes of the tests whose input no other test has."""
    inputs = [test.input.strip() for test in tests]
    return [place for place, given in enumerate(inputs) if inputs.count(given) == 1]
