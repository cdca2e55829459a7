"""`results.jsonl` for one who pages through it: a light row of each sample, and where its line is.

A row takes a tenth of the time that the whole result takes. Of a file that has grown only what is
new is read; the whole result of a sample is read from its place when it is asked for.
"""

import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pydantic import ValidationError

from harness.agent.attempt import StopReason
from harness.errors import RunDirectoryError
from harness.grading.verdict import Verdict
from harness.models.prices import ListedPrice, cost
from harness.models.protocol import Frozen, Usage
from harness.run.store.files import LONGEST_LINE, open_file
from harness.run.store.results import SampleResult

REMEMBERED = 64
"""Bytes before the place that was read to, which tell whether it is still the same file."""


class ResultRow(Frozen):
    """What a list says of a graded sample; the keys are those of `SampleResult`."""

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

    @property
    def solved(self) -> bool:
        """Whether every test passed."""
        return self.verdict is Verdict.ACCEPTED

    @property
    def graded(self) -> bool:
        """Whether it counts in a rate."""
        return self.verdict is not Verdict.UNGRADED

    @property
    def tokens(self) -> int | None:
        """Tokens in all."""
        return self.usage.total_tokens if self.usage else None


class Span(NamedTuple):
    """Where a line is in a file, in bytes."""

    start: int
    length: int


class Lines:
    """The whole lines of a file that grows, each once.

    Attributes:
        read_to: the place after the last whole line that was given.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._forget()

    def _forget(self) -> None:
        self.read_to = 0
        self._file: tuple[int, int] | None = None
        self._before = b""

    def new(self) -> tuple[bool, list[tuple[Span, bytes]]]:
        """The lines since the last time; and whether they are of another file, or one rewritten.

        A line that is longer than `LONGEST_LINE` is given as no bytes.
        """
        try:
            with open_file(self.path) as file:
                return self._new(file)
        except OSError:
            again = self._file is not None
            self._forget()
            return again, []

    def _new(self, file: BinaryIO) -> tuple[bool, list[tuple[Span, bytes]]]:
        found = os.fstat(file.fileno())
        here = (found.st_dev, found.st_ino)
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
                    return  # torn, or still being written
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
        of: by the sample's name, in the order they ended; the last line of a sample counts.
        unreadable: the numbers of lines that are no result.
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
        """Read what is new, and return whether there was anything.

        Args:
            price: gives samples without a cost theirs.
            limits: of the run; a sample that one of them ended has no result, as in
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
        """All that the results say of a sample.

        Raises:
            KeyError: there is none of that name.
            RunDirectoryError: the file has changed under our hands, or the line is no result.
        """
        span, path = self._spans[sample], self._lines.path
        try:
            with open_file(path) as file:
                line = os.pread(file.fileno(), span.length, span.start)
            return SampleResult.model_validate_json(line)
        except OSError as error:
            raise RunDirectoryError(f"{path}: {error.strerror}") from error
        except ValidationError as error:
            raise RunDirectoryError(f"{path}: the line of {sample} is no result") from error
