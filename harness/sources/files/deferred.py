"""What a problem leaves in its file until somebody asks: hidden tests and references.

They are most of a data set, so a problem only remembers the row that its own are in. A row of a
compressed file has no cheap way back and is held.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.errors import DataError
from harness.problem import Problem, Reference, TestCase, TestSuite
from harness.sources.files.lines import Line, read_line_again

Parse = Callable[[Line], Problem]
"""Makes a row's problem, hidden tests and references at hand; raises DataError when it cannot."""


class _Again(Protocol):
    def __call__(self) -> Problem: ...


@dataclass(frozen=True, slots=True)
class Held:
    """A row that is kept.

    Attributes:
        line: the row.
        parse: reads it.
    """

    line: Line
    parse: Parse

    def __call__(self) -> Problem:
        """The problem, read anew."""
        return self.parse(self.line)


@dataclass(frozen=True, slots=True)
class Carried:
    """A row that was sent to another process, which may not have its file.

    Attributes:
        line: the row.
        problem_id: of the problem that was made of it.
        content_hash: of the same.
        parse: reads it.
    """

    line: Line
    problem_id: str
    content_hash: str
    parse: Parse

    def __call__(self) -> Problem:
        """The problem, read anew.

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
    """A row that can be found again. Pickled, it becomes `Carried`.

    Attributes:
        path: the file.
        offset: where the row begins, in bytes.
        where: the file and line, as messages name them.
        number: of the line, from 1.
        problem_id: of the problem that was made of it.
        content_hash: of the same.
        parse: reads such a row.
    """

    path: Path
    name: str
    number: int
    offset: int
    problem_id: str
    content_hash: str
    parse: Parse

    def __call__(self) -> Problem:
        """The problem, read anew.

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
    """A problem with all its data, which was sent to another process."""

    problem: Problem

    def __call__(self) -> Problem:
        """The problem."""
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
    """A problem that reads its row again for its hidden tests and references.

    Args:
        problem: made of the row; what it has at hand of these is let go.
        line: the row.
        parse: what made the problem of it.

    Returns:
        One whose hidden tests and references raise DataError when the line is no longer the row
        that was loaded, or they cannot be decoded.
    """
    if line.offset is None:
        return from_again(problem, Held(line, parse))
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
    )


def from_again(problem: Problem, again: _Again) -> Problem:
    """The problem with its hidden tests and references from `again()`, each time anew."""
    tests = TestSuite(problem.tests.public, _Hidden(again))
    return problem.model_copy(update={"tests": tests, "load_references": _References(again)})
