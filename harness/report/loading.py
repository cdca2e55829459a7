"""How fetching and reading go on: a live bar on a terminal, a line a large file elsewhere."""

from rich.console import Console
from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from harness.closing import Closing
from harness.text import printable_line

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
