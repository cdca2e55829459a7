"""The live bar of whatever takes a while."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


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
