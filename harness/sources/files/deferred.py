"""Hidden tests and references that stay in their file until they are needed.

They are most of a data set, so a problem stores only the place of its row. A row of a compressed
file cannot be read again cheaply, and is kept in memory.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.errors import DataError
from harness.problem import Problem, Reference, TestCase, TestSuite
from harness.sources.files.lines import Line, read_line_again

Parse = Callable[[Line], Problem]
"""Makes a row's problem, with hidden tests and references; raises DataError on failure."""


class _Again(Protocol):
    def __call__(self) -> Problem: ...


@dataclass(frozen=True, slots=True)
class Held:
    """Row that is kept in memory.

    Attributes:
        line: the row.
        parse: function that reads it.
    """

    line: Line
    parse: Parse

    def __call__(self) -> Problem:
        """Return the problem, parsed again."""
        return self.parse(self.line)


@dataclass(frozen=True, slots=True)
class Carried:
    """Row that was sent to another process, which may not have its file.

    Attributes:
        line: the row.
        problem_id: id of its problem.
        content_hash: content hash of its problem.
        parse: function that reads it.
    """

    line: Line
    problem_id: str
    content_hash: str
    parse: Parse

    def __call__(self) -> Problem:
        """Return the problem, parsed again.

        Raises:
            DataError: the line is no longer the row that was loaded.
        """
        try:
            problem = self.parse(self.line)
        except DataError:
            problem = None
        if problem is None or (problem.id, problem.content_hash) != (
            self.problem_id,
            self.content_hash,
        ):
            what = f"no longer the row of {self.problem_id!r} that was loaded"
            raise DataError(self.line.where, None, what)
        return problem


@dataclass(frozen=True, slots=True)
class InFile:
    """Row that can be read again from its file. Pickled, it becomes `Carried`.

    Attributes:
        path: the file.
        name: name of the file in messages.
        number: number of the line, from 1.
        offset: offset of the row in bytes.
        problem_id: id of its problem.
        content_hash: content hash of its problem.
        parse: function that reads it.
    """

    path: Path
    name: str
    number: int
    offset: int
    problem_id: str
    content_hash: str
    parse: Parse

    def __call__(self) -> Problem:
        """Return the problem, read again.

        Raises:
            DataError: the line is no longer the row that was loaded.
        """
        return self._carried()()

    def _carried(self) -> Carried:
        raw = read_line_again(self.path, self.offset, f"{self.name}:{self.number}")
        line = Line(self.path, self.name, self.number, self.offset, raw)
        return Carried(line, self.problem_id, self.content_hash, self.parse)

    def __reduce__(self) -> tuple[type[Carried], tuple[Line, str, str, Parse]]:
        row = self._carried()
        return Carried, (row.line, row.problem_id, row.content_hash, row.parse)


@dataclass(frozen=True, slots=True)
class AtHand:
    """Problem with all its data, which was sent to another process."""

    problem: Problem

    def __call__(self) -> Problem:
        """Return the problem."""
        return self.problem


@dataclass(frozen=True, slots=True)
class _Hidden:
    again: _Again

    def __call__(self) -> tuple[TestCase, ...]:
        return self.again().tests.load_hidden()


@dataclass(frozen=True, slots=True)
class _References:
    again: _Again

    def __call__(self) -> tuple[Reference, ...]:
        return self.again().load_references()


def deferred(problem: Problem, line: Line, parse: Parse) -> Problem:
    """Return a problem that reads its row again for its hidden tests and references.

    Args:
        problem: problem of the row; its hidden tests and references are dropped.
        line: the row.
        parse: function that made the problem.

    Returns:
        A problem whose hidden tests and references raise DataError when the line is no longer the
        row that was loaded, or they cannot be decoded.
    """
    if line.offset is None:
        return from_again(problem, Held(line, parse), len(line.raw))
    return from_again(
        problem,
        InFile(
            line.path.absolute(),
            line.name,
            line.number,
            line.offset,
            problem.id,
            problem.content_hash,
            parse,
        ),
        len(line.raw),
    )


def from_again(problem: Problem, again: _Again, row_bytes: int | None = None) -> Problem:
    """Return the problem with hidden tests and references from `again()`, each time anew."""
    tests = TestSuite(problem.tests.public, _Hidden(again), row_bytes)
    return problem.model_copy(update={"tests": tests, "load_references": _References(again)})
