"""How a use case reports to its user: notices, and progress of judging and loading."""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

LoadingWatch = Callable[[str, int, int], None]
"""Is called with the name of a file, the bytes that are done, and all of its bytes."""

log = logging.getLogger("harness")


class JudgingProgress(Protocol):
    """Counts judged solutions."""

    def judged(self, *, good: bool, failed: bool) -> None:
        """Count one more.

        Args:
            good: it is as it should be.
            failed: infrastructure failed, so it is not judged.
        """
        ...


class Reporter(Protocol):
    """Receives what a user should see."""

    def notice(self, line: str) -> None:
        """Show a line."""
        ...

    def judging(self, total: int, noun: str) -> AbstractContextManager[JudgingProgress]:
        """Show progress for the length of a block.

        Args:
            total: how many solutions are to be judged.
            noun: what is counted, such as `solutions accepted`.
        """
        ...

    def loading(self) -> AbstractContextManager[LoadingWatch]:
        """Show how far large files are read, for the length of a block."""
        ...


def _ignore(_what: str, _done: int, _total: int) -> None:
    """Show nothing."""


class _NoProgress:
    def judged(self, *, good: bool, failed: bool) -> None:
        """Show nothing."""


class LogReporter:
    """Sends notices to the logger `harness`, as warnings; shows no progress."""

    def notice(self, line: str) -> None:
        """Log a line."""
        log.warning(line)

    def judging(self, total: int, noun: str) -> AbstractContextManager[JudgingProgress]:  # noqa: ARG002
        """Show nothing."""
        return nullcontext(_NoProgress())

    def loading(self) -> AbstractContextManager[LoadingWatch]:
        """Show nothing."""
        return nullcontext(_ignore)


LOG = LogReporter()
"""Of calls from Python."""
