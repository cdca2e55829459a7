"""Events of runs and samples that observers receive, and the observers of `evaluate`.

An event is frozen, contains no hidden test and no reference, and becomes a JSON object by
`model_dump_json`. Within one `schema_version` keys are only added and never change their meaning.
An observer of `evaluate` is an object, or a function of events; the live table is one too.
"""

import inspect
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from pydantic import Field

from harness.agent.events import Resumed, Retried
from harness.errors import UsageError
from harness.frozen import Frozen
from harness.grading.verdict import Verdict
from harness.plugins import words_of
from harness.run.observer import Failure, Observer, Progress, Watch, tell_progress
from harness.run.plan.plan import Plan
from harness.run.reporter import log
from harness.run.store.directory import RunDirectory
from harness.run.store.results import SampleResult
from harness.run.summary.summary import Summary
from harness.terminal.consoles import console
from harness.terminal.run_progress import run_progress
from harness.text import printable_line

if TYPE_CHECKING:
    from typing_extensions import TypeIs

SCHEMA = 1
METHODS = ("started", "resumed", "finished", "failed", "put_off", "retried")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class _Event(Frozen):
    """Common fields: `run`, the run directory as the user gave it; `time`, in UTC."""

    schema_version: int = SCHEMA
    run: str
    time: str = Field(default_factory=_now)


class RunStarted(_Event):
    """A run has started or resumed. `left` of its `samples` are still to do."""

    event: Literal["run_started"] = "run_started"
    model: str
    mode: str
    prompt: str
    problems: int
    samples: int
    left: int


class SampleStarted(_Event):
    """A sample has started or resumed. `sample` is `<problem id>#<index>`."""

    event: Literal["sample_started"] = "sample_started"
    sample: str


class SampleEnded(_Event):
    """A sample is graded and committed."""

    event: Literal["sample_ended"] = "sample_ended"
    sample: str
    result: SampleResult


class SampleFailed(_Event):
    """A sample could not be graded because infrastructure failed; it stays pending."""

    event: Literal["sample_failed"] = "sample_failed"
    sample: str
    verdict: Verdict
    cause: str


class SamplePutOff(_Event):
    """A sample is postponed: the budget is spent, or the user stopped the run."""

    event: Literal["sample_put_off"] = "sample_put_off"
    sample: str


class RunEnded(_Event):
    """A run has ended: it is done, the user stopped it, or some samples are pending."""

    event: Literal["run_ended"] = "run_ended"
    outcome: Literal["done", "interrupted", "incomplete"]
    summary: Summary


class RunFailed(_Event):
    """A run failed with an error; samples committed before are kept."""

    event: Literal["run_failed"] = "run_failed"
    cause: str


RunEvent = RunStarted | RunEnded | RunFailed
Observed = Annotated[
    RunEvent | SampleStarted | SampleEnded | SampleFailed | SamplePutOff,
    Field(discriminator="event"),
]


class Listener(Protocol):
    """Receiver of events, such as `harness.features.observers.attach.Watcher`."""

    def tell(self, event: Observed) -> None:
        """Receive an event."""
        ...


class Watching:
    """Passes events to the run's own observer, then to the watchers.

    Args:
        own: observer that receives each event first.
        watchers: receivers of events after it.
        run: the run's directory.
        others: observers that receive each event after `own`.
    """

    def __init__(
        self, own: Observer, watchers: Sequence[Listener], run: Path, *others: Observer
    ) -> None:
        self._own = (own, *others)
        self._watchers = watchers
        self._run = _text(str(run))

    def begun(self, plan: Plan, left: int) -> None:
        """The run starts or resumes, with `left` samples to do."""
        self._tell(
            RunStarted(
                run=self._run,
                model=plan.model_name,
                mode=plan.spec.mode,
                prompt=plan.prompt.name,
                problems=len(plan.problems),
                samples=len(plan.samples),
                left=left,
            )
        )

    def ended(self, summary: Summary, *, interrupted: bool) -> None:
        """The run has ended, or the user stopped it."""
        outcome = "interrupted" if interrupted else "incomplete" if summary.pending else "done"
        copy = summary.model_copy(deep=True)  # observers must not change what is printed
        self._tell(RunEnded(run=self._run, outcome=outcome, summary=copy))

    def broken(self, error: BaseException) -> None:
        """The run failed with an error."""
        self._tell(RunFailed(run=self._run, cause=_text(words_of(error))))

    def started(self, sample: str) -> None:
        """A sample has begun."""
        for each in self._own:
            each.started(sample)
        self._tell(SampleStarted(run=self._run, sample=sample))

    def resumed(self, sample: str, event: Resumed) -> None:
        """A sample continues where it was interrupted."""
        for each in self._own:
            each.resumed(sample, event)

    def finished(self, result: SampleResult) -> None:
        """A sample is graded and committed."""
        for each in self._own:
            each.finished(result)
        self._tell(SampleEnded(run=self._run, sample=result.sample, result=result))

    def failed(self, failure: Failure) -> None:
        """A sample stays pending."""
        for each in self._own:
            each.failed(failure)
        self._tell(
            SampleFailed(
                run=self._run,
                sample=failure.sample,
                verdict=failure.verdict,
                cause=_text(failure.cause),
            )
        )

    def put_off(self, sample: str) -> None:
        """A sample is postponed."""
        for each in self._own:
            each.put_off(sample)
        self._tell(SamplePutOff(run=self._run, sample=sample))

    def retried(self, sample: str, retry: Retried) -> None:
        """A request failed and is sent again."""
        for each in self._own:
            each.retried(sample, retry)

    def progressed(self, sample: str, event: Progress) -> None:
        """The model has answered, or tests were run."""
        for each in self._own:
            tell_progress(each, sample, event)

    def _tell(self, event: Observed) -> None:
        for watcher in self._watchers:
            watcher.tell(event)


def _text(text: str) -> str:
    """Return a text that JSON can hold; paths may hold any bytes."""
    return text.encode("utf-8", "backslashreplace").decode()


Told = Observer | Callable[[Observed], object]
"""An observer of samples, or a function of events (see `observer_events`)."""


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

    def started(self, *_: Any, **__: Any) -> None:
        """Log nothing."""

    resumed = finished = put_off = started

    def failed(self, failure: Failure) -> None:
        """A sample stays pending."""
        message = f"{failure.sample} is pending: {failure.verdict}: {failure.cause}"
        log.info(printable_line(message))

    def retried(self, sample: str, retry: Retried) -> None:
        """A request failed and is sent again."""
        log.info(printable_line(f"{sample}: retry {retry.attempt}: {retry.cause}"))


def check_observer(observers: Told | None) -> None:
    """Refuse what cannot receive events. Raises UsageError.

    It is neither an observer nor a function of one argument, or it is a class, or a coroutine
    function, which nobody awaits.
    """
    if observers is None:
        return
    given: object = observers
    if isinstance(given, type):
        raise UsageError(
            f"evaluate(): observer is the class {given.__name__}: give an object of it, or a "
            "function of an event"
        )
    if _is_observer(observers):
        for name in METHODS:
            _refuse_never_run(getattr(observers, name), f"observer has a method {name} that")
    elif callable(observers):
        _refuse_never_run(observers, "observer")
        _takes_an_event(observers)
    else:
        lacking = [each for each in METHODS if not callable(getattr(observers, each, None))]
        raise UsageError(
            f"evaluate(): observer is a {type(observers).__name__}: give a function of an event, "
            "or an "
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


def watched(
    observers: Told | None,
    *,
    progress: bool | None,
    run: Path | None = None,
    of_variant: bool = False,
) -> Watch:
    """Return a maker of the observer that the engine reports to.

    Args:
        observers: the user's observer or function.
        progress: show the live table on stderr; None shows it if stderr is a terminal.
        run: the run directory as the user gave it, for events; default: as it is used.
        of_variant: whether the runs are parts of an experiment's variants.
    """
    own = observers if _is_observer(observers) else Logging()
    listeners = () if observers is None or _is_observer(observers) else (EventFunction(observers),)
    shown = sys.stderr.isatty() if progress is None else progress

    @contextmanager
    def watch(plan: Plan, directory: RunDirectory) -> Generator[Watching]:
        path = run or directory.path
        if not shown:
            yield Watching(own, listeners, path)
            return
        with run_progress(console(error=True), of_variant=of_variant)(plan, directory) as table:
            yield Watching(table, listeners, path, own)

    return watch


def _is_observer(value: object) -> "TypeIs[Observer]":
    return all(callable(getattr(value, each, None)) for each in METHODS)
