"""Observers named by flags: find them, run each in its own thread, wait for them at the end."""

import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import Any

from rich.console import Console

from harness import plugins
from harness.errors import UsageError
from harness.features.observers.observer_events import (
    Observed,
    RunEnded,
    RunFailed,
    RunStarted,
    Watching,
)
from harness.models.user_code import load_attribute
from harness.plugins import words_of
from harness.run.observer import Watch
from harness.run.plan.plan import Plan
from harness.run.store.directory import RunDirectory
from harness.text import printable_line

OTEL = "otel"
"""The bundled observer, which sends OpenTelemetry spans."""
ROOM = 1_000
"""Most events that wait for an observer; the rest are lost, but for a run's end."""
Tell = Callable[[Observed], object]
PATIENCE_S = 10.0
"""Most seconds that all observers together may delay the end of a run."""


@dataclass(slots=True)
class Watcher:
    """Passes events to one observer, in order, and counts those that were lost.

    `tell` neither waits nor raises, whatever the observer does. The thread is a daemon: an observer
    that never returns does not keep the process alive.

    Args:
        name: name of the observer, for messages.
        make: function that makes the observer, a function of an event, in the thread. If the
            observer has a method `close`, it is called after the last event.
        wants: types of the events to pass on; None for all.
        room: most events that wait for the observer.
    """

    name: str
    make: Callable[[], Tell]
    wants: tuple[type, ...] | None = None
    room: int = ROOM
    _waiting: SimpleQueue[Observed | None] = field(default_factory=SimpleQueue[Observed | None])
    _thread: threading.Thread | None = None
    _given: int = 0
    _told: int = 0
    _failed: int = 0
    _first: str = ""

    def tell(self, event: Observed) -> None:
        """Queue an event for the observer."""
        if self.wants is not None and not isinstance(event, self.wants):
            return
        self._given += 1
        if self._thread is None and not self._begin():
            return
        if self._waiting.qsize() < self.room or isinstance(event, RunEnded | RunFailed):
            self._waiting.put(event)

    def close(self, until: float) -> str | None:
        """Wait for queued events and the observer's `close`.

        Args:
            until: deadline, on the clock of `time.monotonic`.

        Returns:
            One line on what failed; None if nothing did.
        """
        if not self._given:
            return None
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join(max(0.0, until - time.monotonic()))
        faults: list[str] = []
        given = f"{self._given:,} event{'' if self._given == 1 else 's'}"
        if self._failed:
            failed = min(self._failed, self._given)  # its `close` may fail too and is not an event
            faults.append(f"it failed at {failed:,} of {given}, at first by {self._first}")
        lost = self._given - self._told
        if self._thread is None:
            faults.append("no thread could be started for it")
        elif lost:
            faults.append(f"{lost:,} of {given} were lost, as it was too slow")
        elif self._thread.is_alive():
            faults.append("it has not finished the last event and is no longer waited for")
        return f"{self.name}: {'; '.join(faults)}" if faults else None

    def _begin(self) -> bool:
        """Start the thread; return False if the system has no more threads."""
        thread = threading.Thread(target=self._work, daemon=True, name=self.name)
        _keep_stdout(thread)
        try:
            thread.start()
        except RuntimeError:
            return False
        self._thread = thread
        return True

    def _work(self) -> None:
        observer = self._guarded(self.make)
        while (event := self._waiting.get()) is not None:
            if observer is None:
                self._failed += 1
            else:
                self._guarded(partial(observer, event))
            self._told += 1
        close = getattr(observer, "close", None)
        if callable(close):
            self._guarded(close)

    def _guarded(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except BaseException as error:  # noqa: BLE001 - SystemExit must not end the run
            self._failed += call is not self.make  # counted with each event
            self._first = self._first or words_of(error)


class _Stdout:
    """Standard output that redirects what observers print to standard error.

    A command's output may be JSON that a program reads.
    """

    def __init__(self, real: Any) -> None:
        self._real = real
        self.others: list[threading.Thread] = []

    def write(self, text: str) -> int:
        return self._now().write(text)

    def flush(self) -> None:
        self._now().flush()

    def _now(self) -> Any:
        return sys.stderr if threading.current_thread() in self.others else self._real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def _keep_stdout(thread: threading.Thread) -> None:
    """Redirect what this thread prints to standard error, until the process ends."""
    out: Any = sys.stdout
    if not isinstance(out, _Stdout):
        out = sys.stdout = _Stdout(out)
    out.others.append(thread)


def find_observer(name: str) -> Watcher:
    """Return the observer `otel`, one of a plug-in, or the one that `module:attribute` names.

    An observer is a function of an event (`harness.features.observers.observer_events`), or a class
    that is called without arguments in the observer's own thread to make such a function.

    Raises:
        UsageError: the name is unknown, does not load, or is not callable.
    """
    if name == OTEL:
        from harness.features.observers.open_telemetry import GenAiSpans, check_installed

        check_installed()
        return Watcher("observer otel", GenAiSpans)
    plugin = plugins.find(plugins.OBSERVERS, name)
    if plugin is None and ":" not in name:
        there = plugins.known(plugins.OBSERVERS, ()) or "none is installed"
        raise UsageError(
            f"observer {name[:100]!r} is unknown; those of plug-ins: {there}; else otel, or one of "
            "your own as module:attribute"
        )
    observer: Any = load_attribute(name) if plugin is None else plugin.load()
    if not callable(observer):
        who = f"observer {name[:100]}" if plugin is None else str(plugin)
        raise UsageError(
            f"{who} is a {type(observer).__name__}; an observer is a function of an event"
        )
    make = observer if isinstance(observer, type) else lambda: observer
    return Watcher(f"observer {name[:100]}", make)


def watchers_of(observers: Iterable[str] | None, notify: Iterable[str] | None) -> list[Watcher]:
    """Return the observers that the flags name.

    Raises:
        UsageError: an observer is unknown, or an address is malformed.
    """
    attached = [find_observer(name) for name in observers or ()]
    if notify:
        from harness.features.observers.webhook import Webhook

        webhooks = [Webhook.of(url) for url in notify]
        attached += [_notifier(each.host, each) for each in webhooks]
    return attached


def _notifier(host: str, webhook: Tell) -> Watcher:
    """Return an observer that posts the start and end of a run."""
    wants = (RunStarted, RunEnded, RunFailed)
    return Watcher(f"--notify {host}", lambda: webhook, wants=wants)


@contextmanager
def taking_leave(
    watchers: Sequence[Watcher], err: Console, patience_s: float = PATIENCE_S
) -> Generator[None]:
    """Wait, at the end of the block, until all observers are done; print what failed.

    An interrupt ends only the waiting; the run is already over.
    """
    try:
        yield
    finally:
        until = time.monotonic() + patience_s
        for watcher in watchers:
            try:
                message = watcher.close(until)
            except KeyboardInterrupt:
                until = time.monotonic()
                message = watcher.close(until)
            if message is not None:
                err.print(printable_line(message), soft_wrap=True)


def with_watchers(watchers: Sequence[Watcher], shown: Watch) -> Watch:
    """Return a maker of a run's display that also passes events to observers.

    Args:
        watchers: observers, which receive each event after the display.
        shown: makes the display alone.
    """

    @contextmanager
    def watch(plan: Plan, directory: RunDirectory) -> Generator[Watching]:
        with shown(plan, directory) as table:
            yield Watching(table, watchers, directory.path)

    return watch
