"""Protocols of observers, which receive the events of a run."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol, cast

from harness.agent.events import Response, Resumed, Retried, SampleEnd, Tested, ToolResult
from harness.grading.verdict import Verdict
from harness.run.plan.plan import Plan
from harness.run.store.directory import RunDirectory
from harness.run.store.results import SampleResult
from harness.run.summary.summary import Summary


class Failure(NamedTuple):
    """A sample that could not be graded because of infrastructure; it stays pending."""

    sample: str
    verdict: Verdict
    cause: str


class Observer(Protocol):
    """Receives the progress of a run."""

    def started(self, sample: str) -> None:
        """A sample was started."""
        ...

    def resumed(self, sample: str, event: Resumed) -> None:
        """A sample was resumed, or restarted for the cause in the event."""
        ...

    def finished(self, result: SampleResult) -> None:
        """A sample was graded and committed."""
        ...

    def failed(self, failure: Failure) -> None:
        """A sample stays pending."""
        ...

    def put_off(self, sample: str) -> None:
        """A limit of the run was reached; the sample stays pending."""
        ...

    def retried(self, sample: str, retry: Retried) -> None:
        """A request failed and is retried."""
        ...


class RunObserver(Observer, Protocol):
    """An observer that also receives events of the run as a whole."""

    def begun(self, plan: Plan, left: int) -> None:
        """The run starts or resumes, with `left` samples to do."""
        ...

    def ended(self, summary: Summary, *, interrupted: bool) -> None:
        """The run ended, or the user stopped it."""
        ...

    def broken(self, error: BaseException) -> None:
        """An error ended the run."""
        ...


Watch = Callable[[Plan, RunDirectory], AbstractContextManager[RunObserver]]
"""Context manager that makes the observer of a run."""
Progress = Response | ToolResult | Tested | SampleEnd
"""Events on a sample's way: a model's answer, a tool's result, a test run, an attempt's end."""


class ProgressObserver(Protocol):
    """An observer that also receives the progress of samples; optional."""

    def progressed(self, sample: str, event: Progress) -> None:
        """The model answered, tests were run, or the attempt ended and is graded next."""
        ...


def tell_progress(observer: object, sample: str, event: Progress) -> None:
    """Pass an event to an observer, if it accepts progress."""
    if hasattr(observer, "progressed"):  # much faster than to ask for the protocol
        cast("ProgressObserver", observer).progressed(sample, event)
