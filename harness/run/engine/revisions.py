"""What iterating brings: how good each revision of a sample was, and what it had cost by then.

The final revision is what its grade says, and one that failed a public test is wrong. The first is
judged for its own sake where neither tells; of others that passed the public tests, or were never
run, nobody knows.
"""

from harness.agent.attempt import Attempt, Written
from harness.grading.verdict import INFRASTRUCTURE, Grade, Verdict
from harness.models.prices import Price, cost
from harness.run.store.results import Step


def first_to_judge(attempt: Attempt) -> str | None:
    """The first revision, where it has to be judged to know how good it was; else None."""
    if not attempt.revisions:
        return None
    first = attempt.revisions[0]
    return None if _failed(first) or first.code == attempt.code else first.code


def steps_of(
    attempt: Attempt, grade: Grade, first: Grade | None, price: Price | None
) -> tuple[Step, ...]:
    """The revisions of an attempt as results keep them.

    Args:
        attempt: with its revisions.
        grade: of the final solution.
        first: the grade of the first revision, where it was judged by itself.
        price: of the model, if it is known.
    """
    revisions = list(attempt.revisions)
    if attempt.code and attempt.code not in {revision.code for revision in revisions}:
        usage = attempt.usage if attempt.usage_known else None  # it was found in the last words
        revisions.append(
            Written(code=attempt.code, turn=attempt.model_calls, usage=usage, seconds=None)
        )
    return tuple(
        _step(revision, _solved(revision, attempt, grade, None if number else first), price)
        for number, revision in enumerate(revisions)
    )


def _solved(revision: Written, attempt: Attempt, grade: Grade, own: Grade | None) -> bool | None:
    if revision.code == attempt.code:
        return _says(grade)
    if _failed(revision):
        return False
    return None if own is None else _says(own)


def _failed(revision: Written) -> bool:
    """Whether a public test failed, and by the revision's own doing."""
    tests = revision.tests
    return tests is not None and not tests.solved and tests.verdict not in INFRASTRUCTURE


def _says(grade: Grade) -> bool | None:
    unknown = grade.verdict is Verdict.UNGRADED or grade.verdict in INFRASTRUCTURE
    return None if unknown else grade.solved


def _step(revision: Written, solved: bool | None, price: Price | None) -> Step:
    usage, tests = revision.usage, revision.tests
    return Step(
        turn=revision.turn,
        tokens=None if usage is None else usage.total_tokens,
        cost=cost(usage, price),
        seconds=revision.seconds,
        public_passed=None if tests is None else tests.passed,
        solved=solved,
    )
