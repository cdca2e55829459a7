"""The samples of a run without a result, and which of them to do."""

from collections.abc import Iterable, Sequence

from harness.errors import UsageError
from harness.problem import Problem
from harness.run.plan.plan import Plan
from harness.run.store.results import SampleResult
from harness.run.store.transcript import file_name, sample_name
from harness.run.store.transcripts import Transcripts

ERRORED, UNSOLVED = "errored", "unsolved"


Sample = tuple[Problem, int]


def samples_left(plan: Plan, done: Iterable[SampleResult]) -> list[Sample]:
    """Return the samples without a result."""
    names = {result.sample for result in done}
    return [each for each in plan.samples if _name(each) not in names]


def chosen_of(
    left: Sequence[Sample],
    only: Sequence[str],
    done: Iterable[SampleResult],
    transcripts: Transcripts,
) -> list[Sample]:
    """Return the selected remaining samples; the others stay pending.

    Args:
        left: samples without a result.
        only: `errored` for samples started before, `unsolved` for samples of problems not solved
            yet, or ids of problems and samples; empty for all.
        done: the results.
        transcripts: the run's transcripts.

    Raises:
        UsageError: an id matches no remaining sample.
    """
    words = [word.strip() for each in only for word in each.split(",") if word.strip()]
    if not words:
        return list(left)
    solved = {result.problem_id for result in done if result.solved}
    chosen: set[str] = set()
    for word in words:
        if word == ERRORED:
            matching = [each for each in left if transcripts.exists(file_name(each[0].id, each[1]))]
        elif word == UNSOLVED:
            matching = [each for each in left if each[0].id not in solved]
        else:
            matching = [each for each in left if word in _answers_to(each)]
            if not matching:
                raise UsageError(
                    f"--only {word[:200]}: no pending sample has that id; give errored, "
                    "unsolved, or the id of a problem or sample"
                )
        chosen |= {_name(each) for each in matching}
    return [each for each in left if _name(each) in chosen]


def _name(sample: Sample) -> str:
    return sample_name(sample[0].id, sample[1])


def _answers_to(sample: Sample) -> set[str]:
    problem, index = sample
    names = {problem.id, problem.native_id, *problem.aliases}
    return names | {sample_name(name, index) for name in names}
