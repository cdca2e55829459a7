"""Find the observers of a run, attach them, and wait for them when it ends."""

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console

from harness import plugins
from harness.errors import UsageError
from harness.features.observers.observer_events import Watching
from harness.features.observers.thread import Watcher
from harness.models.opening import load_attribute
from harness.run.observer import Watch
from harness.run.plan.plan import Plan
from harness.run.store.directory import RunDirectory
from harness.terminal.run_progress import run_progress
from harness.text import printable_line


def find_observer(name: str) -> Watcher:
    """Return the observer of a plug-in, or the one that `module:attribute` names.

    An observer is a function of an event (`harness.features.observers.observer_events`), or a class
    that is called without arguments in the observer's own thread to make such a function.

    Raises:
        UsageError: the name is unknown, does not load, or is not callable.
    """
    plugin = plugins.find(plugins.OBSERVERS, name)
    if plugin is None and ":" not in name:
        there = plugins.known(plugins.OBSERVERS, ()) or "none is installed"
        raise UsageError(
            f"observer {name[:100]!r} is unknown; those of plug-ins: {there}, or one of your own "
            "as module:attribute"
        )
    found: Any = load_attribute(name) if plugin is None else plugin.load()
    if not callable(found):
        who = f"observer {name[:100]}" if plugin is None else str(plugin)
        raise UsageError(
            f"{who} is a {type(found).__name__}; an observer is a function of an event"
        )
    return Watcher(f"observer {name[:100]}", _maker(found))


def _maker(found: Any) -> Callable[[], Any]:
    return found if isinstance(found, type) else lambda: found


PATIENCE_S = 10.0
"""Most seconds that all observers together may delay the end of a run."""


def watchers_of(observers: Iterable[str] | None, notify: Iterable[str] | None) -> list[Watcher]:
    """Return the observers that the flags name.

    Raises:
        UsageError: an observer is unknown, or an address is malformed.
    """
    found = [find_observer(name) for name in observers or ()]
    if notify:
        from harness.features.observers.webhook import notifier

        found += [notifier(url) for url in notify]
    return found


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
