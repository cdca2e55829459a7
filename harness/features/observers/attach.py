"""Find the observers of a run, attach them, and wait for them when it ends."""

import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from rich.console import Console

from harness.features.observers.dispatch import Watching
from harness.features.observers.observer_names import find_observer
from harness.features.observers.thread import Watcher
from harness.features.observers.webhook import notifier
from harness.run.observer import Watch
from harness.run.plan.plan import Plan
from harness.run.store.directory import RunDirectory
from harness.terminal.run_progress import run_progress
from harness.text import printable_line

PATIENCE_S = 10.0
"""Most seconds that all observers together may delay the end of a run."""


def watchers_of(observers: Iterable[str] | None, notify: Iterable[str] | None) -> list[Watcher]:
    """Return the observers that the flags name.

    Raises:
        UsageError: an observer is unknown, or an address is malformed.
    """
    found = [find_observer(name) for name in observers or ()]
    return found + [notifier(url) for url in notify or ()]


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
                words = watcher.close(until)
            except KeyboardInterrupt:
                until = time.monotonic()
                words = watcher.close(until)
            if words is not None:
                err.print(printable_line(words), soft_wrap=True)


def with_watchers(
    watchers: Sequence[Watcher], console: Console, shown: Watch | None = None
) -> Watch:
    """Return a maker of the run's live table that also passes events to observers.

    Args:
        watchers: observers, which receive each event after the table.
        console: console of the table.
        shown: makes the display of a run; default: a table of its own.
    """
    shown = shown or run_progress(console)

    @contextmanager
    def watch(plan: Plan, directory: RunDirectory) -> Generator[Watching]:
        with shown(plan, directory) as table:
            yield Watching(table, watchers, directory.path)

    return watch
