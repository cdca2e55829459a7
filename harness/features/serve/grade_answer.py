"""Answer of `POST /grade` for one solution; it shows nothing of hidden tests."""

import logging
from typing import Any

from harness.features.serve.grade_request import Item
from harness.grading.verdict import INFRASTRUCTURE, Grade, TestResult, Verdict
from harness.text import printable_line

log = logging.getLogger("harness")

HIDDEN_FIELDS = frozenset({"index", "public", "verdict", "cpu_s", "wall_s"})
"""Fields shown of hidden tests; output and errors may contain a test's input."""
HIDDEN_CAUSE = "the problem's row, or its checker, is faulty; the server's log says how"


def grade_answer(
    item: Item, grade: Grade, *, number: int, problem_id: str, extraction: str, cause: str
) -> dict[str, Any]:
    """Return the answer for one item.

    Args:
        item: the requested item.
        grade: the judge's grade.
        number: index of the item in the request, from 0.
        problem_id: full id of the problem.
        extraction: name of the rule that found the code; empty if code was given.
        cause: cause of an infrastructure failure; empty if there was none.
    """
    passed = grade.public_passed + grade.hidden_passed
    total = grade.public_total + grade.hidden_total
    hidden = grade.verdict is Verdict.CHECKER_ERROR and item.problem is not None
    if hidden:
        log.warning("%s: %s", problem_id, printable_line(cause))
    return {
        "index": number,
        "id": item.id,
        "problem": problem_id,
        "verdict": grade.verdict,
        "passed": grade.solved,
        "reward": reward_of(item, grade),
        "tests_passed": passed,
        "tests_run": len(grade.tests),
        "tests_total": total,
        "hidden_total": grade.hidden_total,
        "extraction": extraction,
        "cause": HIDDEN_CAUSE if hidden else cause,
        "isolation": grade.isolation,
        "tests": [shown_test(test) for test in grade.tests],
    }


def reward_of(item: Item, grade: Grade) -> float | None:
    """Return the reward; None if the verdict says nothing about the solution."""
    if grade.verdict in INFRASTRUCTURE | {Verdict.UNGRADED}:
        return None
    if item.reward != "fraction":
        return float(grade.solved)
    total = grade.public_total + grade.hidden_total
    return (grade.public_passed + grade.hidden_passed) / total if total else 0.0


def shown_test(test: TestResult) -> dict[str, Any]:
    """Return the part of a test's result that clients may see."""
    values = test.model_dump(mode="json")
    if test.public:
        return values
    return {name: value for name, value in values.items() if name in HIDDEN_FIELDS}
