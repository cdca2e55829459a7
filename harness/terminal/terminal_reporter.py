"""Reporting to a terminal: notices, and bars for grading and loading."""

from contextlib import AbstractContextManager
from dataclasses import dataclass

from rich.console import Console

from harness.terminal.progress import JudgingBar, LoadingBar


@dataclass(frozen=True)
class TerminalReporter:
    """Prints to a console; implements `harness.run.reporter.Reporter`."""

    console: Console

    def notice(self, line: str) -> None:
        """Show a line."""
        self.console.print(line, soft_wrap=True)

    def judging(self, total: int, noun: str) -> AbstractContextManager[JudgingBar]:
        """Show a bar within a context."""
        return JudgingBar(self.console, total, noun)

    def loading(self) -> AbstractContextManager[LoadingBar]:
        """Show a bar while large files are read, within a context."""
        return LoadingBar(self.console)
