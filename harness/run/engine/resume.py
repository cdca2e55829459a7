"""The remaining samples of a run, and the spending of earlier invocations."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness.agent.events import Response
from harness.errors import RunDirectoryError, UsageError
from harness.problem import Problem
from harness.run.plan.plan import Plan
from harness.run.store.request_log import Spent, requests_of
from harness.run.store.results import SampleResult
from harness.run.store.transcript import file_name, sample_name
from harness.run.store.transcripts import Transcripts


@dataclass(frozen=True, slots=True)
class Earlier:
    """Spending on a run so far.

    Attributes:
        requests: all requests; those with unknown usage come last.
        unfinished: requests of samples without a result, by transcript name.
    """

    requests: list[Spent] = field(default_factory=list[Spent])
    unfinished: Mapping[str, list[Spent]] = field(default_factory=dict[str, list[Spent]])

    @property
    def unheard(self) -> int:
        """Number of requests of unfinished samples whose answer was lost."""
        return sum(each.estimated for spent in self.unfinished.values() for each in spent)


def earlier_spending(run: Path, results: Iterable[SampleResult]) -> Earlier:
    """Return the spending on a run so far, by request.

    Raises:
        RunDirectoryError: its pack is damaged.
    """
    done = {file_name(result.problem_id, result.index): result for result in results}
    spent: list[Spent] = []
    unfinished: dict[str, list[Spent]] = {}
    with Transcripts(run) as transcripts:
        names = set(transcripts.names())
        for name in names:
            of_sample: list[Spent] = []
            with suppress(RunDirectoryError):  # broken transcripts are restarted
                of_sample += requests_of(transcripts.events(name))
            spent += of_sample
            if name not in done:
                unfinished[name] = of_sample
    spent += [
        Spent(result.usage, result.model_calls)
        for name, result in done.items()
        if name not in names and result.model_calls
    ]
    return Earlier(sorted(spent, key=lambda each: each.usage is None), unfinished)


def is_answered(transcripts: Transcripts) -> bool:
    """Whether a transcript holds an answer of the model."""
    for name in transcripts.names():
        with suppress(RunDirectoryError):  # broken transcripts are restarted
            if any(isinstance(event, Response) for event in transcripts.events(name)):
                return True
    return False


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
            found = [each for each in left if transcripts.exists(file_name(each[0].id, each[1]))]
        elif word == UNSOLVED:
            found = [each for each in left if each[0].id not in solved]
        else:
            found = [each for each in left if word in _answers_to(each)]
            if not found:
                raise UsageError(
                    f"--only {word[:200]}: no sample of that id is left to do; give errored, "
                    "unsolved, or the id of a problem or sample"
                )
        chosen |= {_name(each) for each in found}
    return [each for each in left if _name(each) in chosen]


def _name(sample: Sample) -> str:
    return sample_name(sample[0].id, sample[1])


def _answers_to(sample: Sample) -> set[str]:
    problem, index = sample
    names = {problem.id, problem.native_id, *problem.aliases}
    return names | {sample_name(name, index) for name in names}
