"""Hidden tests and references that stay in their file until they are needed.

They are most of a data set, so a problem stores only the place of its row. A row of a compressed
file cannot be read again cheaply, and is kept in memory.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from harness.errors import DataError
from harness.problem import Problem, Reference, TestCase, TestSuite
from harness.sources.files.lines import Line, read_line_again

Parse = Callable[[Line], Problem]
"""Makes a row's problem, with hidden tests and references; raises DataError on failure."""

Again = Callable[[], Problem]
"""Makes a problem anew, with hidden tests and references; raises DataError on failure."""


class Row(NamedTuple):
    """Row of a problem; in another process, which may not have its file, as it was sent there.

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
    """Row that can be read again from its file. Pickled, it becomes a `Row`.

    Attributes:
        row: the row without its bytes.
    """

    row: Row

    def __call__(self) -> Problem:
        """Return the problem, read again.

        Raises:
            DataError: the line is no longer the row that was loaded.
        """
        return self._read()()

    def _read(self) -> Row:
        line = self.row.line
        raw = read_line_again(line.path, line.offset or 0, line.where)
        return self.row._replace(line=line._replace(raw=raw))

    def __reduce__(self) -> tuple[type[Row], tuple[Line, str, str, Parse]]:
        row = self._read()
        return Row, (row.line, row.problem_id, row.content_hash, row.parse)


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
        return from_again(problem, partial(parse, line), len(line.raw))
    place = line._replace(path=line.path.absolute(), raw=b"")
    row = Row(place, problem.id, problem.content_hash, parse)
    return from_again(problem, InFile(row), len(line.raw))


def from_again(problem: Problem, again: Again, row_bytes: int | None = None) -> Problem:
    """Return the problem with hidden tests and references from `again()`, each time anew."""
    tests = TestSuite(problem.tests.public, partial(_hidden, again), row_bytes)
    return problem.model_copy(
        update={"tests": tests, "load_references": partial(_references, again)}
    )


def _hidden(again: Again) -> tuple[TestCase, ...]:
    return again().tests.load_hidden()


def _references(again: Again) -> tuple[Reference, ...]:
    return again().load_references()
