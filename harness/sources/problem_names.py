"""Names of problems, in any case, and the problems whose verdict cannot be trusted, by reason.

`many_answers`: several outputs are right and the tests accept one of them, so a right solution may
fail. `tolerance`: numbers that are close enough are right, and the tests require one exactly.
`interactive`: the solution would have to talk to a judge, so none can pass. `wrong_tests`: a test
is wrong or breaks the constraints, so a right solution fails.

The first two are found in a problem's own statement (`issues_of_statement`), for any source. They
do not apply to a problem that has a checker (`harness.kinds.checkers.by_problem`).

LiveCodeBench's own list adds to them: ERRATA.md of https://github.com/LiveCodeBench/LiveCodeBench,
which lists LeetCode's problems by slug, their `question_title` in the data. It has abc327_b, though
no two positive integers A make one A^A: one answer is right there, and no checker is needed.
LeetCode's problems by number are not on that list: their hidden tests break the statement's
constraints, 3329 in tests 12 to 14, 2837 in 12 to 14, 3025 and 3291 in 14 and 15, counted from 1.
"""

import difflib
import re
from collections.abc import Sequence

from harness.errors import UsageError
from harness.problem import Problem

_SOME = 3
_SHOWN = 20  # values in a message; data may have thousands
_NAMES = {
    "many_answers": (
        *("abc311_c", "abc326_d", "abc327_b", "abc333_e", "abc343_a", "abc343_e", "abc362_c"),
        *("arc185_c", "find-the-peaks", "find-words-containing-character"),
        "generate-binary-strings-without-adjacent-zeros",
    ),
    "interactive": ("abc337_e", "abc355_e"),
    "wrong_tests": (
        *("abc350_c", "apply-operations-to-make-string-empty", "arc189_a", "most-frequent-ids"),
        *("2837", "3025", "3291", "3329"),
    ),
}
_ONE_ANSWER = frozenset({"abc398_f", "fraction-to-recurring-decimal", "largest-multiple-of-three"})
"""Problems whose statement mentions several answers though there is only one."""

_MANY = (
    r"\breturn(?:ed)?\b[^.]{0,150}?\bin any order\b"
    r"|\breturn any (?:of (?:them|the|these|those)|one|valid|possible|such|answer|solution)\b"
    r"|\bany (?:one )?of (?:them|these|the)\b[^.]{0,40}?\b(?:is|are|be) (?:accepted|considered)"
    r"|\b(?:print|output|printing) any\b(?! other\b)"
    r"|\bany (?:output|answer|solution) that satisfies\b"
    r"|\b(?:print|output|show|present) one (?!integer\b|number\b|line\b)\w+"
    r"|\bfind any of (?:them|these|those)\b"
    r"|\bfind one (?:such|pair|good|shortest|of them)\b|, find one\."
    r"|\bprint such an? \w+\b"
    r"|\bshow one example\b|\bis case-insensitive\b|\banswer in any case\b"
    r"|\b(?:print(?:ed)?|output)\b[^.]{0,40}?\bin any (?:case|order)\b"
    r"|(?:^|\n|\. )find a set of\b(?![^.]{0,80}\b(?:smallest|largest|minimum|maximum)\b)"
)
_NEAR = (
    r"\b(?:absolute|relative)(?: or (?:absolute|relative))? error\b"
    r"|\b(?:within|error (?:less|smaller) than)\s+\$?10\s*\^?\s*\{?\s*-\s*\d"
    r"|\bconsidered correct,? if\b[^.]{0,80}\b10\s*\^?\s*\{?\s*-\s*\d"
)
_LONGEST_STATEMENT = 1 << 20
LIVECODEBENCH = {name: (reason,) for reason, names in _NAMES.items() for name in names}
"""Reasons why a problem's verdicts are unreliable, by question id or slug."""


def listed(values: Sequence[str]) -> str:
    """Return the first of some values, for a message."""
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return ", ".join(values[:_SHOWN]) + more


class Names:
    """Names of some problems.

    Args:
        problems: the problems.
        owner: name of the class that was given them, for messages; empty for a command.
    """

    def __init__(self, problems: Sequence[Problem], owner: str = "") -> None:
        self._owner = owner
        self._exact = {problem.id: problem for problem in problems}
        self._ids: dict[str, list[Problem]] = {}
        self._short: dict[str, list[Problem]] = {}
        for problem in problems:
            self._ids.setdefault(problem.id.casefold(), []).append(problem)
            for name in {name.casefold() for name in (problem.native_id, *problem.aliases)}:
                self._short.setdefault(name, []).append(problem)

    def candidates(self, name: str) -> list[Problem]:
        """Return the problems that a name may mean; a full id means only its own problem."""
        if name in self._exact:
            return [self._exact[name]]
        wanted = name.strip().casefold()
        return self._ids.get(wanted) or self._short.get(wanted) or []

    def find(self, task: str) -> Problem:
        """Return the only problem that a name means.

        Raises:
            UsageError: there is none, or more than one.
        """
        candidates = self.candidates(task)
        if self._owner and not self._exact:
            raise UsageError(
                f"{self._owner}() was given no problems, so that it knows no {task!r}: give it a "
                f"benchmark, as {self._owner}('fixture'), or name a problem by a Problem"
            )
        if not candidates:
            raise UsageError(f"no problem is called {task!r}{self._near(task.strip().casefold())}")
        if len(candidates) > 1:
            names = listed([problem.id for problem in candidates])
            raise UsageError(f"task {task!r} could be any of {names}; give one of these in full")
        return candidates[0]

    def _near(self, wanted: str) -> str:
        names = self._short | self._ids
        near = difflib.get_close_matches(wanted, names, n=3)
        ids = dict.fromkeys(problem.id for name in near for problem in names[name])
        if ids:
            return f"; did you mean {listed(list(ids))}?"
        some = [*self._exact][:_SOME]
        more = len(self._exact) - len(some)
        return f"; there are {', '.join(some)}{f' and {more:,} more' if more else ''}" * bool(some)


def issues_of_statement(statement: str, *names: str, checked: bool = False) -> tuple[str, ...]:
    """Return why a statement's answers cannot be compared with one expected answer.

    Args:
        statement: the text; phrases such as "return any of them" and "absolute error" are sought.
        names: the problem's ids and slugs; some are known to have only one answer.
        checked: whether a checker judges the answers, which removes both reasons.
    """
    if checked or _ONE_ANSWER.intersection(names):
        return ()
    text = statement[:_LONGEST_STATEMENT]
    groups = (("many_answers", _MANY), ("tolerance", _NEAR))  # to compile them takes 20 ms
    return tuple(name for name, words in groups if re.search(words, text, re.IGNORECASE))


def known_issues(*names: str, statement: str = "", checked: bool = False) -> tuple[str, ...]:
    """Return the known issues of a LiveCodeBench problem.

    Args:
        names: its ids and slugs.
        statement: its text, which may mention several right answers.
        checked: whether a checker judges it, which removes `many_answers` and `tolerance`.
    """
    listed = [reason for name in names for reason in LIVECODEBENCH.get(name, ())]
    issues = issues_of_statement(statement, *names)
    return tuple(
        reason
        for reason in dict.fromkeys((*listed, *issues))
        if not (checked and reason in {"many_answers", "tolerance"})
    )
