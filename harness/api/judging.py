"""Judging solutions in sandboxes that are there: what `grade` and `Grader` both do."""

from collections.abc import Callable, Sequence

from harness.agent.problem_kinds import rules_of
from harness.errors import UsageError
from harness.features.grade.grades import jobs_of, judged_answers
from harness.features.grade.solution_match import Matched
from harness.grading.jobs import Judged, Options, judge_all
from harness.run.plan.plan import judging_of
from harness.run.spec.spec import RunSpec
from harness.sandbox.executor import Executor

CODE = "code"
"""In place of a rule of extraction: a text is the solution itself."""


def options_of(spec: RunSpec, caller: str) -> Options:
    """How a spec has solutions judged. Raises UsageError."""
    if isinstance(spec.test_timeout, str):
        raise UsageError(
            f"{caller}: test_timeout {spec.test_timeout!r} goes with a benchmark by its name; "
            "give seconds"
        )
    return judging_of(spec)


async def judge_matched(
    pool: Executor, matched: Sequence[Matched], options: Options, keep: Callable[[Judged], None]
) -> None:
    """Judge solutions, or answers where the problems ask for a value.

    Args:
        pool: where they run.
        matched: of problems of one kind.
        options: how.
        keep: is given each, by its place in `matched`.
    """
    if rules_of(each.problem for each in matched).runs_code:
        await judge_all(pool, jobs_of(matched), options, keep)
        return
    for judged in judged_answers(matched):
        keep(judged)
