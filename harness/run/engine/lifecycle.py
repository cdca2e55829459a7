"""Start, resume and finish a run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.agent.attempt import RunStop
from harness.errors import RunDirectoryError
from harness.problem import Problem
from harness.run.engine.manifest import grown, manifest, refuse_other
from harness.run.engine.resume import chosen_of, earlier_spending, samples_left
from harness.run.engine.stop_flag import StopFlag
from harness.run.observer import Failure
from harness.run.plan.budget import NOTHING, Budget, Total
from harness.run.plan.plan import Plan
from harness.run.plan.pricing import allowance_of, with_costs
from harness.run.store.directory import RESULTS, RunDirectory, read_manifest
from harness.run.store.request_log import Spent
from harness.run.store.results import read_results
from harness.run.store.state import state_of, unheard_requests
from harness.run.store.transcripts import Transcripts
from harness.run.summary.summary import Stopped, Summary, summarize
from harness.sandbox.isolation import Level
from harness.sandbox.strongest import ChosenSandbox
from harness.sources.files.rows import Loaded

Read = Callable[[str], Loaded]
Vet = Callable[[Sequence[Problem]], tuple[Problem, ...]]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that may begin, or go on; nothing has been asked or written for it yet.

    Attributes:
        samples: those that are to be done now.
        before: its manifest, where it goes on.
    """

    plan: Plan
    samples: Sequence[tuple[Problem, int]]
    before: Mapping[str, Any] | None = None

    @property
    def least(self) -> Level:
        """The sandbox's level beneath which nothing is judged: that which the run began with."""
        return self.plan.spec.require_isolation if self.before is None else level_of(self.before)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to, as far as it is.

    Attributes:
        failures: samples that infrastructure stopped now.
        budget: what was spent of what.
    """

    summary: Summary
    failures: Sequence[Failure]
    budget: Budget

    @property
    def stopped_by_provider(self) -> str | None:
        """Why the provider made the run stop, in a line; None where it did not."""
        stopped = self.summary.stopped
        if stopped is None or stopped.reason not in {RunStop.OUTAGE, RunStop.REFUSED}:
            return None
        if stopped.reason == RunStop.REFUSED:
            return f"the provider refuses every request: {stopped.cause}"
        return stopped.cause


def going_on(
    plan: Plan, path: Path, before: Mapping[str, Any], only: Sequence[str] = ()
) -> Prepared:
    """A run that goes on, with what is left of it, its new samples included.

    Args:
        plan: of the run as it is asked for now.
        path: its directory.
        before: its manifest.
        only: which of the samples that are left.

    Raises:
        RunDirectoryError: it would be another run.
        UsageError: nothing that is left is meant by `only`.
    """
    refuse_other(plan, before)
    done = list(read_results(path / RESULTS))
    left = samples_left(plan, done)
    with Transcripts(path) as transcripts:
        chosen = chosen_of(left, only, done, transcripts)
    return Prepared(plan, chosen, before)


def open_directory(prepared: Prepared, path: Path, choice: ChosenSandbox) -> RunDirectory:
    """The run's directory: a new one, or the one that is there, which says what is new in it.

    Raises:
        RunDirectoryError: it cannot be written there, or another process is at work on it.
    """
    if prepared.before is None:
        return RunDirectory.create(path, manifest(prepared.plan, choice))
    directory = RunDirectory.resume(path)
    directory.write_manifest(grown(prepared.plan, prepared.before, works=bool(prepared.samples)))
    return directory


def sum_up(directory: RunDirectory, plan: Plan, stopped: Stopped | None = None) -> Summary:
    """Sum a run up, and write the summary into its directory. Raises StorageError."""
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
    """Why a run stopped before it was done; None where it did not."""
    if stopping.reason is not None:
        return Stopped(reason=stopping.reason, cause=stopping.cause)
    return Stopped(reason=RunStop.BUDGET, cause=budget.state) if budget.turned_away else None


def budget_of(plan: Plan, path: Path, elsewhere: Total = NOTHING) -> Budget:
    """What a run's spec lets it spend, with what it, and others elsewhere, spent already."""
    budget = Budget(allowance_of(plan.spec), plan.price, elsewhere)
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
    """The sandbox's level when the run began.

    Raises:
        RunDirectoryError: the manifest does not say it.
    """
    try:
        return Level(manifest["sandbox"]["level"])
    except (KeyError, TypeError, ValueError) as error:
        raise RunDirectoryError(
            "run.json does not say under which sandbox level the run began; start a new run"
        ) from error
