"""Observers given to `evaluate`: objects, functions of events, the live table."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

from harness.agent.events import Resumed, Retried
from harness.errors import UsageError
from harness.features.observers.dispatch import Watching
from harness.features.observers.observer_events import Observed, RunFailed
from harness.run.observer import Failure, Observer, Watch
from harness.run.plan.plan import Plan
from harness.run.reporter import log
from harness.run.store.directory import RunDirectory
from harness.run.store.results import SampleResult
from harness.terminal.run_progress import run_progress
from harness.terminal.summary_table import console
from harness.text import printable_line

if TYPE_CHECKING:
    from typing_extensions import TypeIs

Told = Observer | Callable[[Observed], object]
"""An observer of samples, or a function of events (see `observer_events`)."""

METHODS = ("started", "resumed", "finished", "failed", "put_off", "retried")


class EventFunction:
    """Calls a function with each event, in the evaluation's thread.

    Errors of the function end the evaluation.
    """

    def __init__(self, listen: Callable[[Observed], object]) -> None:
        self._listen = listen

    def tell(self, event: Observed) -> None:
        """Call the function with the event."""
        with suppress(Exception) if isinstance(event, RunFailed) else nullcontext():
            self._listen(event)  # report the run's failure, not an error that follows from it


class Logging:
    """Observer that logs retries and pending samples, which results do not show."""

    def started(self, sample: str) -> None:
        """A sample has begun."""

    def resumed(self, sample: str, event: Resumed) -> None:
        """The sample continues where it was interrupted."""

    def finished(self, result: SampleResult) -> None:
        """A sample is graded and committed."""

    def failed(self, failure: Failure) -> None:
        """A sample stays pending."""
        words = f"{failure.sample} is pending: {failure.verdict}: {failure.cause}"
        log.info(printable_line(words))

    def put_off(self, sample: str) -> None:
        """A sample is postponed."""

    def retried(self, sample: str, retry: Retried) -> None:
        """A request failed and is sent again."""
        log.info(printable_line(f"{sample}: retry {retry.attempt}: {retry.cause}"))


def check_observer(told: Told | None) -> None:
    """Refuse an object that is neither an observer nor callable. Raises UsageError."""
    if told is None or _is_observer(told) or callable(told):
        return
    lacking = [each for each in METHODS if not callable(getattr(told, each, None))]
    raise UsageError(
        f"evaluate(): observer is a {type(told).__name__}: give a function of an event, or an "
        f"object with {', '.join(lacking)}"
    )


def watched(told: Told | None, *, progress: bool | None) -> Watch:
    """Return a maker of the observer that the engine reports to.

    Args:
        told: the user's observer or function.
        progress: show the live table on stderr; None shows it if stderr is a terminal.
    """
    own = told if _is_observer(told) else Logging()
    listeners = () if told is None or _is_observer(told) else (EventFunction(told),)
    shown = sys.stderr.isatty() if progress is None else progress

    @contextmanager
    def watch(plan: Plan, directory: RunDirectory) -> Generator[Watching]:
        if not shown:
            yield Watching(own, listeners, directory.path)
            return
        with run_progress(console(error=True))(plan, directory) as table:
            yield Watching(table, listeners, directory.path, own)

    return watch


def _is_observer(told: object) -> "TypeIs[Observer]":
    return all(callable(getattr(told, each, None)) for each in METHODS)
