"""Warnings of a run, each printed once, however many samples it concerns."""

from collections.abc import Callable
from dataclasses import dataclass, field


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
