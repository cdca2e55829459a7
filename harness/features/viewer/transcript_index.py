"""Index of a transcript for paging: kind and position of each line.

It takes little memory. When the file grows, only new lines are read. Texts of an event are read
from their position when they are shown.
"""

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from harness.agent.events import Event, Response, Resumed, ToolResult
from harness.features.viewer.result_index import Lines, Span
from harness.run.store.files import open_file
from harness.run.store.transcript import EVENT, ResultHeads, SharedParts, with_head
from harness.run.store.transcripts import FOLDER, open_pack

UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Line:
    """Facts on a line of a transcript.

    Attributes:
        number: number of the line, from 1.
        kind: the event's kind, or `unreadable`.
        messages: number of messages of a request.
        calls: ids and names of an answer's tool calls.
        answers: id of the call to which a tool result belongs.
        failed: whether that result is an error.
        fenced: whether an answer has a code fence, and so may hold a program.
        head: beginning of the line that it leaves out, see `ResultHeads`.
    """

    number: int
    span: Span
    kind: str
    turn: int = 0
    messages: int = 0
    calls: tuple[tuple[str, str], ...] = ()
    answers: str = ""
    failed: bool = False
    fenced: bool = False
    head: bytes = b""


class TranscriptIndex:
    """Valid lines of a transcript, and marks where the sample was resumed.

    Attributes:
        lines: valid lines; lines that a resumption discarded are left out.
        marks: line of each resumption, with the number of valid lines before it.
        void: number of discarded lines.
        changes: counter that changes with every change.
    """

    def __init__(self, run: Path, name: str) -> None:
        self._run, self._name = run, name
        self._shared = SharedParts.of(run)
        self._loose = Lines(run / FOLDER / name)
        self._packed: bytes | None = None
        self.changes = 0
        self._forget()

    def _forget(self) -> None:
        self.changes += 1
        self.lines: list[Line] = []
        self.marks: list[tuple[int, Line]] = []
        self.void = 0
        self._count = 0
        self._heads = ResultHeads()

    def refresh(self) -> bool:
        """Read new lines and return whether there is a transcript.

        Raises:
            RunDirectoryError: it is in a damaged pack.
        """
        if (self._run / FOLDER / self._name).is_file():
            if self._packed is not None:
                self._packed = None
                self._forget()
            again, new = self._loose.new()
            if again:
                self._forget()
            for span, line in new:
                self._add(span, line)
            return True
        return self._packed is not None or self._unpack()

    def _unpack(self) -> bool:
        pack = open_pack(self._run) if self._name else None
        if pack is None:
            return False
        with pack:
            if self._name not in pack.places:
                return False
            self._packed = pack.read(self._name)
        self._forget()
        start = 0
        for line in io.BytesIO(self._packed):
            self._add(Span(start, len(line)), line)
            start += len(line)
        return True

    def _add(self, span: Span, line: bytes) -> None:
        self._count += 1
        self.changes += 1
        head = self._heads.next()
        try:
            event: Event | None = EVENT.validate_json(with_head(self._shared.put_back(line), head))
        except ValidationError:
            event = None
        self._heads.note(event)
        what = _what(self._count, span, event, head)
        if isinstance(event, Resumed):
            kept = min(max(event.kept, 0), len(self.lines))
            self.void += len(self.lines) - kept
            del self.lines[kept:]
            self.marks = [mark for mark in self.marks if mark[0] <= kept]
            self.marks.append((kept, what))
        else:
            self.lines.append(what)

    def event(self, line: Line) -> Event | None:
        """Read the event of a line; None if it is unreadable."""
        try:
            stored = self._shared.put_back(self._bytes(line.span))
            return EVENT.validate_json(with_head(stored, line.head))
        except (OSError, ValidationError):
            return None

    def _bytes(self, span: Span) -> bytes:
        if self._packed is not None:
            return self._packed[span.start : span.start + span.length]
        with open_file(self._run / FOLDER / self._name) as file:
            return os.pread(file.fileno(), span.length, span.start)

    def line(self, number: int) -> Line | None:
        """Return the line of that number; None if it is discarded or does not exist."""
        return next((line for line in self.in_order() if line.number == number), None)

    def in_order(self) -> Iterator[Line]:
        """Yield the valid lines, with the marks in their places."""
        marks = iter([*self.marks, (len(self.lines) + 1, None)])
        place, mark = next(marks)
        for at, line in enumerate(self.lines):
            while mark is not None and place <= at:
                yield mark
                place, mark = next(marks)
            yield line
        while mark is not None:
            yield mark
            place, mark = next(marks)


def _what(number: int, span: Span, event: Event | None, head: bytes) -> Line:
    if event is None:
        return Line(number, span, UNREADABLE)
    kind, turn = event.event, getattr(event, "turn", 0)
    if isinstance(event, Response):
        calls = tuple((call.id, call.name) for call in event.response.tool_calls)
        return Line(number, span, kind, turn, calls=calls, fenced="```" in event.response.text)
    if isinstance(event, ToolResult):
        result = event.result
        answers, failed = result.call_id, result.is_error
        return Line(number, span, kind, turn, answers=answers, failed=failed, head=head)
    messages = getattr(event, "messages", ())
    return Line(number, span, kind, turn, messages=len(messages))
