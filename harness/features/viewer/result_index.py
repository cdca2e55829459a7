"""Index of `results.jsonl` for paging: short rows of samples, with positions.

Parsing a row takes a tenth of the time of parsing the whole result. When the file grows, only new
lines are read. The whole result of a sample is read from its position on request.
"""

import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pydantic import ValidationError

from harness.agent.attempt import StopReason
from harness.errors import RunDirectoryError
from harness.features.efficiency.scale import Efficiency
from harness.features.impossible.impossible_result import ImpossibleResult
from harness.frozen import Frozen
from harness.grading.verdict import Score, Verdict
from harness.models.prices.price import cost
from harness.models.prices.price_lists import ListedPrice
from harness.models.protocol import Usage
from harness.run.store.files import LONGEST_LINE, open_file
from harness.run.store.results import SampleResult

REMEMBERED = 64
"""Bytes before the last position, compared to detect that the file was replaced."""


class ResultRow(Frozen):
    """Fields of a `SampleResult` for a list of samples."""

    sample: str
    problem_id: str
    index: int
    title: str
    platform: str
    difficulty: str | None
    tags: tuple[str, ...]
    release_date: date | None = None
    known_issues: tuple[str, ...] = ()
    verdict: Verdict
    public_passed: int
    public_total: int
    hidden_passed: int
    hidden_total: int
    stop_reason: str
    model_calls: int
    cut_off: int = 0
    usage: Usage | None
    cost: float | None
    seconds: float
    efficiency: Efficiency | None = None
    impossible: ImpossibleResult | None = None
    score: Score | None = None

    @property
    def solved(self) -> bool:
        """Whether every test passed, or the score is full."""
        return self.verdict is Verdict.ACCEPTED

    @property
    def graded(self) -> bool:
        """Whether the sample counts in rates."""
        return self.verdict is not Verdict.UNGRADED

    @property
    def tokens(self) -> int | None:
        """Total of tokens; None if unknown."""
        return self.usage.total_tokens if self.usage else None


class Span(NamedTuple):
    """Position of a line in a file, in bytes."""

    start: int
    length: int


class Lines:
    """Reader of a growing file, which returns each complete line once.

    Attributes:
        read_to: position after the last line returned.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._forget()

    def _forget(self) -> None:
        self.read_to = 0
        self._file: tuple[int, int] | None = None
        self._before = b""

    def new(self) -> tuple[bool, list[tuple[Span, bytes]]]:
        """Return the lines added since the last call, and whether the file was replaced.

        After a replacement all lines are returned. Lines longer than `LONGEST_LINE` are returned
        empty.
        """
        try:
            with open_file(self.path) as file:
                return self._new(file)
        except OSError:
            again = self._file is not None
            self._forget()
            return again, []

    def _new(self, file: BinaryIO) -> tuple[bool, list[tuple[Span, bytes]]]:
        stat = os.fstat(file.fileno())
        here = (stat.st_dev, stat.st_ino)
        again = self._file is not None and (self._file != here or not self._continues(file))
        if again:
            self._forget()
        self._file = here
        file.seek(self.read_to)
        lines = list(self._lines(file))
        if lines:
            start = max(0, self.read_to - REMEMBERED)
            self._before = os.pread(file.fileno(), self.read_to - start, start)
        return again, lines

    def _continues(self, file: BinaryIO) -> bool:
        start = self.read_to - len(self._before)
        return os.pread(file.fileno(), len(self._before), start) == self._before

    def _lines(self, file: BinaryIO) -> Iterator[tuple[Span, bytes]]:
        while line := file.readline(LONGEST_LINE):
            length = len(line)
            if not line.endswith(b"\n"):
                if length < LONGEST_LINE:
                    return  # incomplete, or still being written
                while rest := file.readline(LONGEST_LINE):
                    length += len(rest)
                    if rest.endswith(b"\n"):
                        break
                else:
                    return
                line = b""
            yield Span(self.read_to, length), line
            self.read_to += length


class Rows:
    """The rows of a run.

    Attributes:
        of: rows by sample, in the order they ended; the last line of a sample counts.
        unreadable: numbers of lines that are not a result.
    """

    def __init__(self, path: Path) -> None:
        self._lines = Lines(path)
        self._price: ListedPrice | None = None
        self._limits: frozenset[StopReason] = frozenset()
        self._forget()

    def _forget(self) -> None:
        self.of: dict[str, ResultRow] = {}
        self._spans: dict[str, Span] = {}
        self.unreadable: list[int] = []
        self._count = 0

    def refresh(
        self, price: ListedPrice | None, limits: frozenset[StopReason] = frozenset()
    ) -> bool:
        """Read new lines and return whether there were any.

        Args:
            price: price with which missing costs are computed.
            limits: limits of the run; a sample ended by one of them has no result, as in
                `harness.run.store.results.load_results`.
        """
        if (price, limits) != (self._price, self._limits):
            self._price, self._limits = price, limits
            self._lines = Lines(self._lines.path)
            self._forget()
        again, lines = self._lines.new()
        if again:
            self._forget()
        for span, line in lines:
            self._count += 1
            self._add(span, line)
        return again or bool(lines)

    def _add(self, span: Span, line: bytes) -> None:
        try:
            row = ResultRow.model_validate_json(line)
        except ValidationError:
            self.unreadable.append(self._count)
            return
        if row.stop_reason in self._limits:
            return
        if row.cost is None and self._price is not None and row.usage is not None:
            row = row.model_copy(update={"cost": cost(row.usage, self._price)})
        self.of[row.sample] = row
        self._spans[row.sample] = span

    def whole(self, sample: str) -> SampleResult:
        """Return the whole result of a sample.

        Raises:
            KeyError: there is no sample of that name.
            RunDirectoryError: the file was changed meanwhile, or the line is not a result.
        """
        span, path = self._spans[sample], self._lines.path
        try:
            with open_file(path) as file:
                line = os.pread(file.fileno(), span.length, span.start)
            return SampleResult.model_validate_json(line)
        except OSError as error:
            raise RunDirectoryError(f"{path}: {error.strerror}") from error
        except ValidationError as error:
            raise RunDirectoryError(f"{path}: the line of {sample} is not a result") from error
