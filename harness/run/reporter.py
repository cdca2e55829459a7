"""Reporting to the user: notices, and progress of grading and loading."""

import logging
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

LoadingWatch = Callable[[str, int, int], None]
"""Called with a file's name, the bytes read so far, and its total bytes."""

log = logging.getLogger("harness")


@dataclass(slots=True)
class Verbosity:
    """What a command shows beside its answer and errors.

    Attributes:
        notices: whether notices are shown.
        progress: whether progress is shown.
    """

    notices: bool = True
    progress: bool = True


VERBOSITY = Verbosity()
"""That of this process."""


@contextmanager
def showing(*, notices: bool, progress: bool) -> Generator[None]:
    """Show notices and progress, or not, within a context."""
    before = VERBOSITY.notices, VERBOSITY.progress
    VERBOSITY.notices, VERBOSITY.progress = notices, progress
    try:
        yield
    finally:
        VERBOSITY.notices, VERBOSITY.progress = before


class JudgingProgress(Protocol):
    """Counts graded solutions."""

    def judged(self, *, good: bool, failed: bool) -> None:
        """Count one more solution.

        Args:
            good: whether it has the desired result.
            failed: whether infrastructure failed, so that it is not graded.
        """
        ...


class Reporter(Protocol):
    """Receives everything to show to the user."""

    def notice(self, line: str) -> None:
        """Show a line."""
        ...

    def judging(self, total: int, noun: str) -> AbstractContextManager[JudgingProgress]:
        """Show the progress of grading within a context.

        Args:
            total: number of solutions to grade.
            noun: what is counted, such as `solutions accepted`.
        """
        ...

    def loading(self) -> AbstractContextManager[LoadingWatch]:
        """Show the progress of reading large files within a context."""
        ...


def _ignore(_what: str, _done: int, _total: int) -> None:
    """Show nothing."""


class _NoProgress:
    def judged(self, *, good: bool, failed: bool) -> None:
        """Show nothing."""


class LogReporter:
    """Logs notices as warnings of the logger `harness`; shows no progress."""

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
"""Reporter of calls from Python."""


def print_nothing(line: str) -> None:
    """Ignore a warning."""


@dataclass(frozen=True, slots=True)
class Warnings:
    """Prints each kind of warning once.

    Attributes:
        print_line: called with each new line.
    """

    print_line: Callable[[str], None] = print_nothing
    _seen: set[str] = field(default_factory=set[str])

    def __call__(self, kind: str, line: str) -> None:
        """Print a line, unless one of its kind was printed before."""
        if kind not in self._seen:
            self._seen.add(kind)
            self.print_line(line)
