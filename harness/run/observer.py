"""Observers of a run: protocols of those who hear what happens in it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from harness.agent.events import Response, Resumed, Retried, Tested, ToolResult
from harness.grading.verdict import Verdict
from harness.run.plan.plan import Plan
from harness.run.store.directory import RunDirectory
from harness.run.store.results import SampleResult
from harness.run.summary.summary import Summary


@dataclass(frozen=True, slots=True)
class Failure:
    """A sample that infrastructure kept from being graded: it stays pending."""

    sample: str
    verdict: Verdict
    cause: str


class Observer(Protocol):
    """Is told how a run goes on."""

    def started(self, sample: str) -> None:
        """A sample has begun."""
        ...

    def resumed(self, sample: str, event: Resumed) -> None:
        """It goes on where it was interrupted, or begins anew for the cause that is told."""
        ...

    def finished(self, result: SampleResult) -> None:
        """A sample is graded and committed."""
        ...

    def failed(self, failure: Failure) -> None:
        """A sample stays pending."""
        ...

    def put_off(self, sample: str) -> None:
        """A limit of the run was reached; the sample stays pending."""
        ...

    def retried(self, sample: str, retry: Retried) -> None:
        """A request failed and is sent again."""
        ...


class RunObserver(Observer, Protocol):
    """Is also told of the run as a whole."""

    def begun(self, plan: Plan, left: int) -> None:
        """The run begins, or goes on, with so many samples to do."""
        ...

    def ended(self, summary: Summary, *, interrupted: bool) -> None:
        """The run is over, or its user stopped it."""
        ...

    def broken(self, error: BaseException) -> None:
        """An error ended the run."""
        ...


Watch = Callable[[Plan, RunDirectory], AbstractContextManager[RunObserver]]
"""Makes the observer of a run, for the length of a block."""
Progress = Response | ToolResult | Tested
"""What a sample does on its way: an answer of the model, a tool's result, a run of the tests."""


@runtime_checkable
class ProgressObserver(Protocol):
    """Is also told what samples do on their way; an `Observer` may be one, and need not."""

    def progressed(self, sample: str, event: Progress) -> None:
        """The model has answered, or tests were run."""
        ...


def tell_progress(observer: object, sample: str, event: Progress) -> None:
    """Tell an observer what a sample does, if it wants to know."""
    if isinstance(observer, ProgressObserver):
        observer.progressed(sample, event)
