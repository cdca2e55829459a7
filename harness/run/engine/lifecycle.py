"""Start, resume and finish a run."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.agent.attempt import RunStop
from harness.agent.events import Response
from harness.errors import RunDirectoryError, UsageError
from harness.problem import Problem
from harness.run.engine.manifest import grown, is_other_code, manifest, refuse_other
from harness.run.engine.stop_flag import StopFlag
from harness.run.observer import Failure
from harness.run.plan.budget import NOTHING, Allowance, Budget, Total
from harness.run.plan.plan import Plan
from harness.run.store.directory import RESULTS, RunDirectory, read_manifest
from harness.run.store.lost_answers import unheard_requests
from harness.run.store.results import SampleResult, read_results
from harness.run.store.state import state_of
from harness.run.store.transcript import file_name, sample_name
from harness.run.store.transcript_contents import Spent, requests_of
from harness.run.store.transcripts import Transcripts
from harness.run.summary.loaded_run import with_costs
from harness.run.summary.summary import Stopped, Summary, summarize
from harness.sandbox.isolation import Level
from harness.sandbox.strongest import ChosenSandbox
from harness.sources.files.rows import Loaded

ERRORED, UNSOLVED = "errored", "unsolved"


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
                    f"--only {word[:200]}: no pending sample has that id; give errored, "
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


Read = Callable[[str], Loaded]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run ready to start or resume; nothing has been requested or written yet.

    Attributes:
        plan: the run's plan.
        samples: the samples to do now.
        before: the manifest of a run to resume; None for a new run.
    """

    plan: Plan
    samples: Sequence[tuple[Problem, int]]
    before: Mapping[str, Any] | None = None

    @property
    def least(self) -> Level:
        """Lowest acceptable sandbox level: the spec's, or that the run started with."""
        return self.plan.spec.require_isolation if self.before is None else level_of(self.before)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a run so far.

    Attributes:
        summary: the run's summary.
        failures: samples stopped by infrastructure failures in this invocation.
        budget: the limits and what was spent.
    """

    summary: Summary
    failures: Sequence[Failure]
    budget: Budget

    @property
    def stopped_by_provider(self) -> str | None:
        """One-line reason why the provider made the run stop; None if it did not."""
        stopped = self.summary.stopped
        if stopped is None or stopped.reason not in {RunStop.OUTAGE, RunStop.REFUSED}:
            return None
        if stopped.reason == RunStop.REFUSED:
            return f"the provider refuses every request: {stopped.cause}"
        return stopped.cause


def going_on(
    plan: Plan, path: Path, before: Mapping[str, Any], only: Sequence[str] = ()
) -> Prepared:
    """Prepare the rest of an existing run, including any new samples.

    Args:
        plan: the plan requested now.
        path: the run directory.
        before: the run's manifest.
        only: selects among the remaining samples.

    Raises:
        RunDirectoryError: the plan is that of another run, or the user's own code as model has
            changed since its first answer.
        UsageError: `only` selects no remaining sample.
    """
    refuse_other(plan, before)
    done = list(read_results(path / RESULTS))
    left = samples_left(plan, done)
    with Transcripts(path) as transcripts:
        if is_other_code(plan, before) and (done or is_answered(transcripts)):
            raise RunDirectoryError(
                f"the code of {plan.model_name} has changed since this run began: that is another "
                "run; choose another --out"
            )
        chosen = chosen_of(left, only, done, transcripts)
    return Prepared(plan, chosen, before)


def open_directory(prepared: Prepared, path: Path, choice: ChosenSandbox) -> RunDirectory:
    """Open the run's directory: a new one, or an existing one, updating its manifest.

    Raises:
        RunDirectoryError: the directory is not writable, or used by another process.
    """
    if prepared.before is None:
        return RunDirectory.create(path, manifest(prepared.plan, choice))
    directory = RunDirectory.resume(path)
    directory.write_manifest(grown(prepared.plan, prepared.before, works=bool(prepared.samples)))
    return directory


def sum_up(directory: RunDirectory, plan: Plan, stopped: Stopped | None = None) -> Summary:
    """Write the run's summary into its directory. Raises StorageError."""
    dated = plan.price.as_of if plan.price else None
    done = list(with_costs(directory.committed(), plan.price))
    names = {result.sample for result in done}
    state = state_of(directory.path, read_manifest(directory.path), names, running=False)
    unheard = unheard_requests(directory.path, done) if len(done) < len(plan.samples) else 0
    summary = summarize(
        done,
        len(plan.samples),
        state.pending,
        prices_as_of=dated,
        max_tokens=plan.spec.max_tokens,
        stopped=stopped,
        unheard=unheard,
    )
    directory.write_summary(summary.model_dump(mode="json"))
    return summary


def stopped_by(stopping: StopFlag, budget: Budget) -> Stopped | None:
    """Return why a run stopped early; None if it did not."""
    if stopping.reason is not None:
        return Stopped(reason=stopping.reason, cause=stopping.cause)
    return Stopped(reason=RunStop.BUDGET, cause=budget.state) if budget.turned_away else None


def budget_of(plan: Plan, path: Path, elsewhere: Total = NOTHING) -> Budget:
    """Return a run's budget, including what was already spent, here and elsewhere."""
    spec = plan.spec
    allowance = Allowance(spec.max_cost, spec.max_tokens_total, spec.max_cost_per_sample)
    budget = Budget(allowance, plan.price, elsewhere)
    if budget.is_limited:
        done = with_costs(read_results(path / RESULTS), plan.price)
        earlier = earlier_spending(path, done)
        for spent in earlier.requests:
            budget.count(spent)
        for result in done:
            if result.usage is not None:
                budget.finish(budget.amounts([Spent(result.usage)]))
        budget.begun = {name: budget.amounts(spent) for name, spent in earlier.unfinished.items()}
    return budget


def level_of(manifest: Mapping[str, Any]) -> Level:
    """Return the sandbox level the run started with.

    Raises:
        RunDirectoryError: the manifest does not contain it.
    """
    try:
        return Level(manifest["sandbox"]["level"])
    except (KeyError, TypeError, ValueError) as error:
        raise RunDirectoryError(
            "run.json does not say under which sandbox level the run began; start a new run"
        ) from error
