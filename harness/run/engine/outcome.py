"""The outcome of a run: its summary, why it stopped, and what it spent."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from harness.agent.attempt import RunStop
from harness.problem import Problem
from harness.run.engine.stop_flag import StopFlag
from harness.run.observer import Failure
from harness.run.plan.budget import Budget
from harness.run.plan.plan import Plan
from harness.run.store.directory import RunDirectory, read_manifest
from harness.run.store.pending import INTERRUPTED, NOT_NEEDED, NOT_RUN, Reason, pending_reasons
from harness.run.store.state import state_of
from harness.run.store.transcript import sample_name
from harness.run.store.transcripts import unheard_requests
from harness.run.summary.loaded_run import with_costs
from harness.run.summary.summary import Stopped, Summary, summarize

NO_FAULT = frozenset({NOT_RUN, NOT_NEEDED, INTERRUPTED, RunStop.BUDGET.value})
"""Reasons of pending samples that are no failure of infrastructure."""


class Outcome(NamedTuple):
    """Result of a run so far.

    Attributes:
        summary: the run's summary.
        failures: samples stopped by infrastructure failures in this invocation.
        budget: the limits and what was spent.
        left: why samples of this invocation stay pending, a reason each.
    """

    summary: Summary
    failures: Sequence[Failure]
    budget: Budget
    left: Sequence[Reason]

    @property
    def failed(self) -> Sequence[Reason]:
        """Why infrastructure left samples of this invocation without a grade, a reason each."""
        if self.stopped_by_provider:
            return self.left
        return [each for each in self.left if each.word not in NO_FAULT]

    @property
    def stranded(self) -> int:
        """Number of samples left without a grade that exit code 4 stands for.

        Pending samples that a budget left are among them if no sample of the run is graded, or if
        the budget cannot be kept.
        """
        kept = self.summary.measured and self.budget.can_be_raised
        return len(self.failed) if kept else len(self.left)

    @property
    def stopped_by_provider(self) -> str | None:
        """One-line reason why the provider made the run stop; None if it did not."""
        stopped = self.summary.stopped
        if stopped is None or stopped.reason not in {RunStop.OUTAGE, RunStop.REFUSED}:
            return None
        if stopped.reason == RunStop.REFUSED:
            return f"the provider refuses every request: {stopped.cause}"
        return stopped.cause


def reasons_left(
    directory: RunDirectory, samples: Iterable[tuple[Problem, int]]
) -> Sequence[Reason]:
    """Return why samples of a run are still pending, of some of its samples."""
    path, done = directory.path, {result.sample for result in directory.committed()}
    asked = {sample_name(problem.id, index) for problem, index in samples} - done
    if not asked:
        return ()
    reasons = pending_reasons(path, read_manifest(path), done, running=False)
    return [reason for name, reason in reasons if name in asked]


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
