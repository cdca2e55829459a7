"""The facts that are kept of a judged reference."""

from harness.grading.jobs import Judged
from harness.grading.reference_verdicts import Finding


def finding(judged: Judged) -> Finding:
    """Return the facts to store about a judged reference."""
    grade = judged.grade
    failed = next((test for test in grade.tests if not test.passed), None)
    reason = judged.cause
    if failed is not None and failed.difference is not None:
        expected, got = failed.difference.expected, failed.difference.got
        reason = f"{expected!r} expected, {got!r} given"
        if expected.split() == got.split():  # a checker said why
            reason = failed.difference.where
    elif failed is not None:
        reason = (failed.error.strip().splitlines() or [""])[-1]
    return Finding(
        verdict=grade.verdict,
        tests=grade.public_total + grade.hidden_total,
        slowest_s=max((test.cpu_s for test in grade.tests), default=0.0),
        failed_test=None if failed is None else failed.index + 1,
        reason=reason,
        isolation=grade.isolation,
        hidden=grade.hidden_total,
        points=None if grade.score is None else grade.score.points,
        accepted_by_grader=bool(grade.accepted_by_grader),
        slowest_passed_s=max((test.cpu_s for test in grade.tests if test.passed), default=0.0),
    )
