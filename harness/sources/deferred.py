"""Hidden tests that stay in their file until they are graded.

Hidden tests are most of a data set, so a problem only remembers the row that its own are in. A row
of a compressed file has no cheap way back and is held.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from harness.errors import DataError
from harness.problem import TestCase
from harness.sources.reading import Line, read_line_again

LoadTests = Callable[[], tuple[TestCase, ...]]


class Row(NamedTuple):
    """The id and hash of the problem that a line makes, and its hidden tests."""

    problem_id: str
    content_hash: str
    load_hidden: LoadTests


def deferred(
    line: Line, problem_id: str, content_hash: str, read: Callable[[Line], Row]
) -> LoadTests:
    """The hidden tests of a row, decoded when asked for and not held in between.

    Args:
        line: the row.
        problem_id: of the problem that was made of it.
        content_hash: of the same.
        read: reads such a line anew; raises DataError when it cannot.

    Returns:
        What raises DataError when the line is no longer the row that was loaded, or its tests
        cannot be decoded.
    """
    if line.offset is None:
        return _Held(line, read)
    path = line.path.absolute()
    return _InFile(path, line.offset, line.name, line.number, problem_id, content_hash, read)


@dataclass(frozen=True, slots=True)
class _Held:
    line: Line
    read: Callable[[Line], Row]

    def __call__(self) -> tuple[TestCase, ...]:
        return self.read(self.line).load_hidden()


@dataclass(frozen=True, slots=True)
class _InFile:
    path: Path
    offset: int
    name: str
    number: int
    problem_id: str
    content_hash: str
    read: Callable[[Line], Row]

    def __call__(self) -> tuple[TestCase, ...]:
        where = f"{self.name}:{self.number}"
        raw = read_line_again(self.path, self.offset, where)
        try:
            row = self.read(Line(self.path, self.name, self.number, self.offset, raw))
        except DataError:
            row = None
        if row is None or row[:2] != (self.problem_id, self.content_hash):
            raise DataError(
                where, None, f"no longer the row of {self.problem_id!r} that was loaded"
            )
        return row.load_hidden()
