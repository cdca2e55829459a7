"""Index of a transcript for paging: kind and position of each line.

It takes little memory. When the file grows, only new lines are read. Texts of an event are read
from their position when they are shown.

A call and its result are one entry. A conversation of 100,000 calls has as many entries, of which a
page shows a few.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from harness.agent.events import Event, Response, Resumed, ToolResult
from harness.features.viewer.result_index import Lines, Span
from harness.run.store.files import open_file
from harness.run.store.transcript import EVENT, WHOLE, ResultHead, ResultHeads, SharedParts
from harness.run.store.transcripts import FOLDER
from harness.tools.revision import Revision

UNREADABLE = "unreadable"
PER_PAGE = 100
WRITES = frozenset({"write_solution", "write_answer"})


class TranscriptLine(NamedTuple):
    """Facts on a line of a transcript.

    Attributes:
        number: number of the line, from 1.
        kind: the event's kind, or `unreadable`.
        messages: number of messages of a request.
        calls: ids and names of an answer's tool calls.
        answers: id of the call to which a tool result belongs.
        failed: whether that result is an error.
        fenced: whether an answer has a code fence, and so may hold a program.
        head: what the line leaves out.
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
    head: ResultHead = WHOLE


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
        self._lines = Lines(run / FOLDER / name)
        self.changes = 0
        self._forget()

    def _forget(self) -> None:
        self.changes += 1
        self.lines: list[TranscriptLine] = []
        self.marks: list[tuple[int, TranscriptLine]] = []
        self.void = 0
        self._count = 0
        self._heads = ResultHeads()

    def refresh(self) -> bool:
        """Read new lines and return whether there is a transcript."""
        if not (self._run / FOLDER / self._name).is_file():
            return False
        again, new = self._lines.new()
        if again:
            self._forget()
        for span, line in new:
            self._add(span, line)
        return True

    def _add(self, span: Span, line: bytes) -> None:
        self._count += 1
        self.changes += 1
        head = self._heads.next()
        try:
            event: Event | None = EVENT.validate_json(head.put_back(self._shared.put_back(line)))
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

    def event(self, line: TranscriptLine) -> Event | None:
        """Read the event of a line; None if it is unreadable."""
        try:
            stored = self._shared.put_back(self._bytes(line.span))
            return EVENT.validate_json(line.head.put_back(stored))
        except (OSError, ValidationError):
            return None

    def _bytes(self, span: Span) -> bytes:
        with open_file(self._run / FOLDER / self._name) as file:
            return os.pread(file.fileno(), span.length, span.start)

    def line(self, number: int) -> TranscriptLine | None:
        """Return the line of that number; None if it is discarded or does not exist."""
        return next((line for line in self.in_order() if line.number == number), None)

    def in_order(self) -> Iterator[TranscriptLine]:
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


def _what(number: int, span: Span, event: Event | None, head: ResultHead) -> TranscriptLine:
    if event is None:
        return TranscriptLine(number, span, UNREADABLE)
    kind, turn = event.event, getattr(event, "turn", 0)
    if isinstance(event, Response):
        calls = tuple((call.id, call.name) for call in event.response.tool_calls)
        return TranscriptLine(
            number, span, kind, turn, calls=calls, fenced="```" in event.response.text
        )
    if isinstance(event, ToolResult):
        result = event.result
        answers, failed = result.call_id, result.is_error
        return TranscriptLine(number, span, kind, turn, answers=answers, failed=failed, head=head)
    messages = getattr(event, "messages", ())
    return TranscriptLine(number, span, kind, turn, messages=len(messages))


class TranscriptItem(NamedTuple):
    """An item to show.

    Attributes:
        kind: `message`, `turn`, `call`, `result` (of an unknown call), or the event's kind.
        line: line of the transcript; `part` is the index of its message or call.
        result: line of a call's result; None if there is none yet.
        writes: whether it holds, or may hold, a revision of the solution.
        before: entry with the previous revision; None if there is none.
    """

    kind: str
    line: TranscriptLine
    part: int = 0
    result: TranscriptLine | None = None
    writes: bool = False
    before: "TranscriptItem | None" = None

    @property
    def key(self) -> str:
        """Id within the page, which stays the same while the transcript grows."""
        return f"e{self.line.number}-{self.part}-{self.kind}"

    @property
    def version(self) -> str:
        """Word that changes when the entry must be shown again."""
        return f"{self.line.span.start}:{self.result.number if self.result else ''}"


class Entries(NamedTuple):
    """All entries of a transcript; `turns` has the index of each turn's entry."""

    all: tuple[TranscriptItem, ...]
    turns: dict[int, int]

    def page_of(self, place: int) -> int:
        """Return the page, from 1, of the entry at an index."""
        return place // PER_PAGE + 1

    @property
    def pages(self) -> int:
        """Number of pages."""
        return max(1, -(-len(self.all) // PER_PAGE))

    def page(self, number: int) -> tuple[TranscriptItem, ...]:
        """Return the entries of a page; numbers out of range give the nearest page."""
        start = (min(max(number, 1), self.pages) - 1) * PER_PAGE
        return self.all[start : start + PER_PAGE]


def entries_of(tape: TranscriptIndex, steps: Iterable[Revision] = ()) -> Entries:
    """Return the entries of a transcript.

    Args:
        tape: the transcript.
        steps: revisions of the sample's result; without them, what looks like a revision is one.
    """
    made = _Making({step.turn for step in steps})
    for line in tape.in_order():
        made.add(line)
    return Entries(tuple(_chained(made.entries)), made.turns)


class _Making:
    def __init__(self, wrote: Collection[int]) -> None:
        self.entries: list[TranscriptItem] = []
        self.turns: dict[int, int] = {}
        self._wrote = wrote
        self._waiting: dict[str, list[int]] = {}
        """Indices of calls without a result, by id; ids may be reused."""

    def add(self, line: TranscriptLine) -> None:
        if line.kind == "request":
            self.entries += [TranscriptItem("message", line, part) for part in range(line.messages)]
        elif line.kind == "response":
            self._turn(line)
        elif line.kind == "tool_result":
            self._result(line)
        else:
            self.entries.append(TranscriptItem(line.kind, line))

    def _turn(self, line: TranscriptLine) -> None:
        self.turns[line.turn] = len(self.entries)
        writes = line.turn in self._wrote if self._wrote else line.fenced
        self.entries.append(TranscriptItem("turn", line, writes=writes and not line.calls))
        for part, (call_id, name) in enumerate(line.calls):
            self._waiting.setdefault(call_id, []).append(len(self.entries))
            writes = name in WRITES and (not self._wrote or line.turn in self._wrote)
            self.entries.append(TranscriptItem("call", line, part, writes=writes))

    def _result(self, line: TranscriptLine) -> None:
        waiting = self._waiting.get(line.answers)
        if not waiting:
            self.entries.append(TranscriptItem("result", line))
            return
        place = waiting.pop(0)
        call = self.entries[place]
        writes = call.writes and not line.failed
        self.entries[place] = call._replace(result=line, writes=writes)


def _chained(entries: Iterable[TranscriptItem]) -> Iterable[TranscriptItem]:
    """Yield the entries, each revision with the one before it."""
    before: TranscriptItem | None = None
    for entry in entries:
        if entry.writes:
            yield entry._replace(before=before)
            before = entry
        else:
            yield entry
