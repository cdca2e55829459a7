"""Grading of a sample's revisions, and their cost so far.

The final revision has the sample's grade, and one that failed a public test is wrong, except where
hidden tests alone give points. Any other revision might be the final one under a smaller budget, so
it is graded on all tests, once.
"""

from collections.abc import Mapping

from harness.agent.attempt import Attempt
from harness.grading.verdict import INFRASTRUCTURE, Grade
from harness.models.prices.price import Price, cost
from harness.tools.revision import Revision, Spent


def to_judge(attempt: Attempt, *, points: bool = False) -> tuple[str, ...]:
    """Return the solutions to grade besides the final one, unique and in order.

    Args:
        attempt: the attempt with its revisions.
        points: whether its problem gives points.
    """
    open_ones = (each.code for each in attempt.revisions if points or not _failed(each))
    return tuple(code for code in dict.fromkeys(open_ones) if code != attempt.code)


def steps_of(
    attempt: Attempt, grade: Grade, others: Mapping[str, Grade], price: Price | None
) -> tuple[Revision, ...]:
    """Return an attempt's revisions in the format of results.

    Args:
        attempt: the attempt with its revisions.
        grade: grade of the final solution.
        others: grades of the solutions from `to_judge`, by code.
        price: the model's price, if known.
    """
    revisions = attempt.revisions
    if attempt.code and attempt.code not in {revision.code for revision in revisions}:
        usage = attempt.usage if attempt.usage_known else None  # it was found in a message
        revisions = (*revisions, Revision.of(attempt.code, Spent(attempt.model_calls, usage)))
    grades = {**others, attempt.code: grade}
    public = grade.public_total
    return tuple(_step(each, grades.get(each.code), price, public) for each in revisions)


def _failed(revision: Revision) -> bool:
    """Whether a public test failed, other than by an infrastructure failure."""
    report = revision.report
    return report is not None and not report.solved and report.verdict not in INFRASTRUCTURE


def _step(revision: Revision, grade: Grade | None, price: Price | None, public: int) -> Revision:
    """Return a revision in the format of results.

    Args:
        revision: the revision.
        grade: its grade, if it was judged.
        price: the model's price, if known.
        public: number of the sample's public tests, with the hidden ones that repeat one. The loop
            runs equal tests once: a revision that passed all of its tests passed these too.
    """
    report = revision.report
    passed = None if report is None else report.passed
    if report is not None and report.solved:
        passed = max(public, report.passed)
    step = revision.judged(grade, passed)
    failed = grade is None and _failed(revision)
    verdict = {"solved": False, "passes_public": False} if failed else {}
    return step.model_copy(update={"cost": cost(revision.usage, price), **verdict})
