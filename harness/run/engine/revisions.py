"""Grading of a sample's revisions, and their cost so far.

The final revision has the sample's grade, and one that failed a public test is wrong, except where
hidden tests alone give points. Any other revision might be the final one under a smaller budget, so
it is graded on all tests, once.
"""

from collections.abc import Mapping

from harness.agent.attempt import Attempt, Written
from harness.grading.verdict import INFRASTRUCTURE, Grade, Verdict
from harness.models.prices.price import Price, cost
from harness.run.store.results import Step


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
) -> tuple[Step, ...]:
    """Return an attempt's revisions in the format of results.

    Args:
        attempt: the attempt with its revisions.
        grade: grade of the final solution.
        others: grades of the solutions from `to_judge`, by code.
        price: the model's price, if known.
    """
    revisions = list(attempt.revisions)
    if attempt.code and attempt.code not in {revision.code for revision in revisions}:
        usage = attempt.usage if attempt.usage_known else None  # it was found in a message
        revisions.append(
            Written(code=attempt.code, turn=attempt.model_calls, usage=usage, seconds=None)
        )
    grades = {**others, attempt.code: grade}
    public = grade.public_total
    return tuple(_step(each, grades.get(each.code), price, public) for each in revisions)


def _failed(revision: Written) -> bool:
    """Whether a public test failed, other than by an infrastructure failure."""
    tests = revision.tests
    return tests is not None and not tests.solved and tests.verdict not in INFRASTRUCTURE


def _says(grade: Grade) -> bool:
    return grade.verdict is not Verdict.UNGRADED and grade.verdict not in INFRASTRUCTURE


def _step(revision: Written, grade: Grade | None, price: Price | None, public: int) -> Step:
    """Return a revision in the format of results.

    Args:
        revision: the revision.
        grade: its grade, if it was judged.
        price: the model's price, if known.
        public: number of the sample's public tests, with the hidden ones that repeat one. The loop
            runs equal tests once: a revision that passed all of its tests passed these too.
    """
    usage, tests = revision.usage, revision.tests
    passed = None if tests is None else max(public, tests.passed) if tests.solved else tests.passed
    solved = passes = None
    if grade is not None and _says(grade):
        solved = grade.solved
        passes = grade.public_passed == grade.public_total if grade.public_total else None
    elif grade is None and _failed(revision):
        solved = passes = False
    return Step(
        turn=revision.turn,
        tokens=None if usage is None else usage.total_tokens,
        cost=cost(usage, price),
        seconds=revision.seconds,
        public_passed=passed,
        passes_public=passes,
        solved=solved,
    )
