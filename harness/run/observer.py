"""What is told of a run as it goes on."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from harness.agent.events import Response, Resumed, Retried, Tested, ToolResult
from harness.grading.verdict import Verdict
from harness.run.store.results import SampleResult


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
