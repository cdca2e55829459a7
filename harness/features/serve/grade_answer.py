"""What `POST /grade` answers of one solution: nothing that would show a hidden test."""

import logging
from typing import Any

from harness.features.serve.grade_request import Item
from harness.grading.verdict import INFRASTRUCTURE, Grade, TestResult, Verdict
from harness.text import printable_line

log = logging.getLogger("harness")

HIDDEN_FIELDS = frozenset({"index", "public", "verdict", "cpu_s", "wall_s"})
"""Of a hidden test's result. Output and errors of a program may hold its input."""
HIDDEN_CAUSE = "the problem's row, or its checker, is faulty; the server's log says how"


def grade_answer(
    item: Item, grade: Grade, *, number: int, problem_id: str, extraction: str, cause: str
) -> dict[str, Any]:
    """Return the answer to one item.

    Args:
        item: what was asked.
        grade: what the judge says.
        number: its place in the request, from 0.
        problem_id: in full.
        extraction: the rule that found the code; empty where code was given.
        cause: why infrastructure failed, where it did.
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
    """Return what a verdict is worth; None where it says nothing of the solution."""
    if grade.verdict in INFRASTRUCTURE | {Verdict.UNGRADED}:
        return None
    if item.reward != "fraction":
        return float(grade.solved)
    total = grade.public_total + grade.hidden_total
    return (grade.public_passed + grade.hidden_passed) / total if total else 0.0


def shown_test(test: TestResult) -> dict[str, Any]:
    """Return the part of a test's result that may leave the server."""
    values = test.model_dump(mode="json")
    if test.public:
        return values
    return {name: value for name, value in values.items() if name in HIDDEN_FIELDS}
