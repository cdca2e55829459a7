"""Problems whose verdict cannot be trusted.

`many_answers`: several outputs are right and the tests accept one of them, so a right solution may
fail. `interactive`: the solution would have to talk to a judge, so none can pass. `wrong_tests`: a
test is wrong or breaks the constraints, so a right solution fails.

Sources: for LiveCodeBench, ERRATA.md of https://github.com/LiveCodeBench/LiveCodeBench, which lists
LeetCode's problems by slug, their `question_title` in the data; for the other sets of LeetCode's
problems, the statements themselves. It lists abc327_b, though no two positive integers A make one
A^A: only one answer can be right there, and no checker could take another.
"""

import re
from types import MappingProxyType

_NAMES = {
    "many_answers": (
        "abc311_c",
        "abc326_d",
        "abc327_b",
        "abc333_e",
        "abc343_a",
        "abc343_e",
        "abc362_c",
        "arc185_c",
        "find-the-peaks",
        "find-words-containing-character",
        "generate-binary-strings-without-adjacent-zeros",
    ),
    "interactive": ("abc337_e", "abc355_e"),
    "wrong_tests": (
        "abc350_c",
        "apply-operations-to-make-string-empty",
        "arc189_a",
        "most-frequent-ids",
    ),
}

LIVECODEBENCH = MappingProxyType(
    {name: (reason,) for reason, names in _NAMES.items() for name in names}
)
"""Question id or slug to the reasons why its verdicts mislead."""


_ANY = re.compile(
    r"\breturn(?:ed)?\b[^.]{0,150}?\bin any order\b"
    r"|\breturn any (?:of (?:them|the|these|those)|one|valid|possible|such|answer|solution)\b",
    re.IGNORECASE,
)
_LONGEST_STATEMENT = 1 << 20


def issues_of_statement(statement: str) -> tuple[str, ...]:
    """`many_answers` where a statement of LeetCode's takes any order, or any of several answers.

    Its data sets hold one answer of these, and no checker.
    """
    return ("many_answers",) if _ANY.search(statement[:_LONGEST_STATEMENT]) else ()


def known_issues(*names: str, checked: bool = False) -> tuple[str, ...]:
    """The reasons against a LiveCodeBench problem that goes by any of these ids or slugs.

    Args:
        names: its ids and slugs.
        checked: whether a checker judges it (`harness.sources.checkers`): several right answers
            are then nothing against it.
    """
    reasons = (reason for name in names for reason in LIVECODEBENCH.get(name, ()))
    return tuple(
        reason for reason in dict.fromkeys(reasons) if not (checked and reason == "many_answers")
    )
