"""How judging goes on: a live bar on a terminal, a line now and then elsewhere; on stderr."""

from types import TracebackType
from typing import Self

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
from harness.sources.benchmarks import load
from harness.sources.files.rows import Loaded
from harness.text import printable_line


def live_bar(console: Console) -> Progress:
    """A description, a bar, how many of how many, and the time left; nothing but on a terminal."""
    return Progress(
        TextColumn("{task.description}", markup=False),  # it may hold a stranger's words
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
        console=console,
        disable=not console.is_terminal,
    )


class JudgingBar:
    """How many solutions are judged, and how many of them well.

    Args:
        console: where that is shown.
        total: how many there are.
        noun: what they are called there, and the word for those that are as they should be:
            `solutions accepted`.
    """

    LINES = 20  # at most, where there is no terminal

    def __init__(self, console: Console, total: int, noun: str) -> None:
        self._console = console
        self._total, self._noun = total, noun
        self._done = self._good = self._failed = 0
        self._bar = live_bar(console)
        self._task = self._bar.add_task(self._state(), total=total)

    def judged(self, *, good: bool, failed: bool) -> None:
        """One more is judged: well, or not at all where infrastructure failed."""
        self._done += 1
        self._good += good
        self._failed += failed
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()


LARGE = 8_000_000
"""Bytes from which on a file is worth a line."""


class LoadingBar(Closing):
    """What `harness.sources` tells of large files, for a person; call it as a `Watch`."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._tasks: dict[str, TaskID] = {}
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            DownloadColumn(),
            TimeRemainingColumn(compact=True),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )

    def __call__(self, what: str, done: int, total: int) -> None:
        """So many bytes of so many of something are done."""
        if what not in self._tasks:
            self._bar.start()
            self._tasks[what] = self._bar.add_task(printable_line(what), total=total)
            if not self._console.is_terminal and total >= LARGE:
                self._console.print(f"{printable_line(what)}, {decimal(total)}", soft_wrap=True)
        self._bar.update(self._tasks[what], completed=done, total=total, visible=done < total)

    def close(self) -> None:
        """Take the bar away."""
        self._bar.stop()


def load_with_bar(spec: str, console: Console, *, skip_bad_rows: bool = False) -> Loaded:
    """The problems that a spec names; see `harness.sources.benchmarks.load`.

    Args:
        spec: `NAME[:WHERE]`.
        console: where the bar is.
        skip_bad_rows: pass over rows that are not as their schema says, and report them.
    """
    with LoadingBar(console) as watch:
        return load(spec, skip_bad_rows=skip_bad_rows, watch=watch)
