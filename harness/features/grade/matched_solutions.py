"""Judge solutions that are matched with their problems."""

from collections.abc import Callable, Iterator, Sequence

from harness.errors import DataError, UsageError
from harness.features.grade.solution_match import MatchedSolution
from harness.grading.jobs import Job, Judged, Options, judge_all
from harness.grading.verdict import Grade, Verdict
from harness.run.plan.judging_options import judging_of
from harness.run.plan.problem_kinds import judge_answer, rules_of
from harness.run.spec.spec import RunSpec
from harness.sandbox.executor import Executor


def jobs_of(matched: Sequence[MatchedSolution]) -> list[Job]:
    """Return a job for each solution, numbered as matched and grouped by problem."""
    order = {name: place for place, name in enumerate(dict.fromkeys(m.problem.id for m in matched))}
    jobs = [Job(number, each.problem, each.code) for number, each in enumerate(matched)]
    return sorted(jobs, key=lambda job: order[job.problem.id])


def judged_answers(matched: Sequence[MatchedSolution]) -> Iterator[Judged]:
    """Judge answers to problems that ask for a value; no sandbox is needed."""
    for number, each in enumerate(matched):
        try:
            grade = judge_answer(each.problem, each.code)
        except DataError as error:
            yield Judged(number, Grade(verdict=Verdict.CHECKER_ERROR), str(error))
        else:
            yield Judged(number, grade, grade.checker_error)


def options_of(spec: RunSpec, caller: str) -> Options:
    """Return how a spec has solutions of loaded problems judged.

    Raises:
        UsageError: the time limit follows references, which needs a benchmark's name.
    """
    if isinstance(spec.test_timeout, str):
        raise UsageError(
            f"{caller}: test_timeout {spec.test_timeout!r} needs a benchmark by its "
            "name; with loaded problems give seconds"
        )
    return judging_of(spec)


async def judge_matched(
    pool: Executor,
    matched: Sequence[MatchedSolution],
    options: Options,
    keep: Callable[[Judged], None],
) -> None:
    """Judge programs, or compare answers, of problems of one kind.

    Args:
        pool: the workers.
        matched: the solutions.
        options: limits and rules.
        keep: receives each verdict; its number is the place in `matched`.
    """
    if rules_of(each.problem for each in matched).runs_code:
        await judge_all(pool, jobs_of(matched), options, keep)
        return
    for judged in judged_answers(matched):
        keep(judged)
