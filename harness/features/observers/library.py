"""Observers given to `evaluate`: objects, functions of events, the live table."""

import inspect
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from harness.agent.events import Resumed, Retried
from harness.errors import UsageError
from harness.features.observers.observer_events import Observed, RunFailed, Watching
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

    Its errors end the evaluation, which waits while it runs.
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
    """Refuse what cannot receive events. Raises UsageError.

    It is neither an observer nor a function of one argument, or it is a class, or a coroutine
    function, which nobody awaits.
    """
    if told is None:
        return
    given: object = told
    if isinstance(given, type):
        raise UsageError(
            f"evaluate(): observer is the class {given.__name__}: give an object of it, or a "
            "function of an event"
        )
    if _is_observer(told):
        for name in METHODS:
            _refuse_never_run(getattr(told, name), f"observer has a method {name} that")
    elif callable(told):
        _refuse_never_run(told, "observer")
        _takes_an_event(told)
    else:
        lacking = [each for each in METHODS if not callable(getattr(told, each, None))]
        raise UsageError(
            f"evaluate(): observer is a {type(told).__name__}: give a function of an event, or an "
            f"object with {', '.join(lacking)}"
        )


def _refuse_never_run(function: Callable[..., object], what: str) -> None:
    """Refuse a function whose call does not run it. Raises UsageError."""
    while isinstance(function, partial):
        function = function.func
    for each in (function, getattr(function, "__call__", None)):  # noqa: B004 - an object's own
        kind = "a coroutine function" if inspect.iscoroutinefunction(each) else None
        if inspect.isgeneratorfunction(each) or inspect.isasyncgenfunction(each):
            kind = "a generator function"
        if kind is not None:
            raise UsageError(
                f"evaluate(): {what} is {kind}, which a call does not run; give a plain function"
            )


def _takes_an_event(function: Callable[..., object]) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some C functions have none
        return
    try:
        signature.bind(None)
    except TypeError:
        raise UsageError(
            f"evaluate(): observer takes {signature}; it is called with one argument, the event"
        ) from None


def watched(told: Told | None, *, progress: bool | None, run: Path | None = None) -> Watch:
    """Return a maker of the observer that the engine reports to.

    Args:
        told: the user's observer or function.
        progress: show the live table on stderr; None shows it if stderr is a terminal.
        run: the run directory as the user gave it, for events; default: as it is used.
    """
    own = told if _is_observer(told) else Logging()
    listeners = () if told is None or _is_observer(told) else (EventFunction(told),)
    shown = sys.stderr.isatty() if progress is None else progress

    @contextmanager
    def watch(plan: Plan, directory: RunDirectory) -> Generator[Watching]:
        path = run or directory.path
        if not shown:
            yield Watching(own, listeners, path)
            return
        with run_progress(console(error=True))(plan, directory) as table:
            yield Watching(table, listeners, path, own)

    return watch


def _is_observer(told: object) -> "TypeIs[Observer]":
    return all(callable(getattr(told, each, None)) for each in METHODS)
