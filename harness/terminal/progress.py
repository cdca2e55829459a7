"""Progress on stderr: a live bar on a terminal, occasional lines elsewhere."""

from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple, Self

from rich.console import Console
from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from harness.closing import Closing
from harness.figures import bad_rows
from harness.run.reporter import VERBOSITY
from harness.sources.benchmarks import load
from harness.sources.files.rows import Loaded
from harness.text import printable_line

LARGE = 8_000_000
"""Bytes from which on a file gets a line."""


def live_bar(console: Console) -> Progress:
    """Return a bar with description, count and time left; only shown on a terminal.

    Like all progress, it is not shown under `--quiet` and `--no-progress`.
    """
    return Progress(
        TextColumn("{task.description}", markup=False),  # it may contain untrusted text
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
        console=console,
        disable=not (console.is_terminal and VERBOSITY.progress),
    )


def status(console: Console, what: str) -> AbstractContextManager[object]:
    """Show on a terminal, within a context, what is done."""
    return console.status(what) if VERBOSITY.progress else nullcontext()


class JudgingBar(Closing):
    """Progress of grading: the number of solutions graded, and of good ones.

    Args:
        console: where to show it.
        total: number of solutions.
        noun: noun for good solutions: `solutions accepted`.
    """

    LINES = 20  # largest number of lines if not on a terminal

    def __init__(self, console: Console, total: int, noun: str) -> None:
        self._console = console
        self._total, self._noun = total, noun
        self._done = self._good = self._failed = 0
        self._bar = live_bar(console)
        self._task = self._bar.add_task(self._state(), total=total)

    def judged(self, *, good: bool, failed: bool) -> None:
        """Count a graded solution; `failed`: infrastructure prevented grading."""
        self._done += 1
        self._good += good
        self._failed += failed
        if not VERBOSITY.progress:
            return
        if self._console.is_terminal:
            self._bar.update(self._task, completed=self._done, description=self._state())
        elif self._done * self.LINES // self._total > (self._done - 1) * self.LINES // self._total:
            self._console.print(f"[{self._done}/{self._total}] {self._state()}", soft_wrap=True)

    def _state(self) -> str:
        failed = f"  not judged {self._failed}" if self._failed else ""
        return f"{self._noun} {self._good}{failed}"

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def close(self) -> None:
        """Remove the bar."""
        self._bar.stop()


class LoadingBar(Closing):
    """Progress of reading large files; callable as a `Watch`."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._tasks: dict[str, TaskID] = {}
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            DownloadColumn(),
            TimeRemainingColumn(compact=True),
            console=console,
            disable=not (console.is_terminal and VERBOSITY.progress),
            transient=True,
        )

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show that `done` of `total` bytes were read."""
        if what not in self._tasks:
            self._bar.start()
            self._tasks[what] = self._bar.add_task(printable_line(what), total=total)
            if VERBOSITY.progress and not self._console.is_terminal and total >= LARGE:
                self._console.print(f"{printable_line(what)}, {decimal(total)}", soft_wrap=True)
        self._bar.update(self._tasks[what], completed=done, total=total, visible=done < total)

    def close(self) -> None:
        """Remove the bar."""
        self._bar.stop()


def load_with_bar(spec: str, console: Console, *, skip_bad_rows: bool = False) -> Loaded:
    """Load the problems of a spec; see `harness.sources.benchmarks.load`.

    Args:
        spec: `NAME[:WHERE]`.
        console: where to show the bar.
        skip_bad_rows: whether to skip and report rows that do not match their schema.
    """
    with LoadingBar(console) as watch:
        return load(spec, skip_bad_rows=skip_bad_rows, watch=watch)


def load_telling(spec: str, console: Console, *, skip_bad_rows: bool) -> Loaded:
    """Load the problems like `load_with_bar`; tell which rows were skipped."""
    loaded = load_with_bar(spec, console, skip_bad_rows=skip_bad_rows)
    if loaded.skipped:
        TerminalReporter(console).notice(bad_rows(loaded.skipped))
    return loaded


class TerminalReporter(NamedTuple):
    """Prints to a console, as far as `VERBOSITY` allows; a `harness.run.reporter.Reporter`."""

    console: Console

    def notice(self, line: str) -> None:
        """Show a line, unless `--quiet` is given."""
        if VERBOSITY.notices:
            self.console.print(line, soft_wrap=True)

    def judging(self, total: int, noun: str) -> AbstractContextManager[JudgingBar]:
        """Show a bar within a context."""
        return JudgingBar(self.console, total, noun)

    def loading(self) -> AbstractContextManager[LoadingBar]:
        """Show a bar while large files are read, within a context."""
        return LoadingBar(self.console)
