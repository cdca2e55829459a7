"""A transcript as a list of entries, which are shown in pages.

A call and its result are one entry. A conversation of 100,000 calls has as many entries, of which a
page shows a few.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from harness.features.viewer.transcript_index import Line, TranscriptIndex

PER_PAGE = 100
WRITES = frozenset({"write_solution", "write_answer"})


@dataclass(frozen=True, slots=True)
class Entry:
    """An item to show.

    Attributes:
        kind: `message`, `turn`, `call`, `result` (of an unknown call), or the event's kind.
        line: line of the transcript; `part` is the index of its message or call.
        result: line of a call's result; None if there is none yet.
        writes: whether it holds, or may hold, a revision of the solution.
        before: entry with the previous revision; None if there is none.
    """

    kind: str
    line: Line
    part: int = 0
    result: Line | None = None
    writes: bool = False
    before: "Entry | None" = None

    @property
    def key(self) -> str:
        """Id within the page, which stays the same while the transcript grows."""
        return f"e{self.line.number}-{self.part}-{self.kind}"

    @property
    def version(self) -> str:
        """Word that changes when the entry must be shown again."""
        return f"{self.line.span.start}:{self.result.number if self.result else ''}"


@dataclass(frozen=True, slots=True)
class Entries:
    """All entries of a transcript; `turns` has the index of each turn's entry."""

    all: tuple[Entry, ...]
    turns: dict[int, int]

    def page_of(self, place: int) -> int:
        """Return the page, from 1, of the entry at an index."""
        return place // PER_PAGE + 1

    @property
    def pages(self) -> int:
        """Number of pages."""
        return max(1, -(-len(self.all) // PER_PAGE))

    def page(self, number: int) -> tuple[Entry, ...]:
        """Return the entries of a page; numbers out of range give the nearest page."""
        start = (min(max(number, 1), self.pages) - 1) * PER_PAGE
        return self.all[start : start + PER_PAGE]


def entries_of(tape: TranscriptIndex) -> Entries:
    """Return the entries of a transcript."""
    made = _Making()
    for line in tape.in_order():
        made.add(line)
    return Entries(tuple(_chained(made.entries)), made.turns)


class _Making:
    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.turns: dict[int, int] = {}
        self._waiting: dict[str, list[int]] = {}
        """Indices of calls without a result, by id; ids may be reused."""

    def add(self, line: Line) -> None:
        if line.kind == "request":
            self.entries += [Entry("message", line, part) for part in range(line.messages)]
        elif line.kind == "response":
            self._turn(line)
        elif line.kind == "tool_result":
            self._result(line)
        else:
            self.entries.append(Entry(line.kind, line))

    def _turn(self, line: Line) -> None:
        self.turns[line.turn] = len(self.entries)
        self.entries.append(Entry("turn", line, writes=line.fenced and not line.calls))
        for part, (call_id, name) in enumerate(line.calls):
            self._waiting.setdefault(call_id, []).append(len(self.entries))
            self.entries.append(Entry("call", line, part, writes=name in WRITES))

    def _result(self, line: Line) -> None:
        waiting = self._waiting.get(line.answers)
        if not waiting:
            self.entries.append(Entry("result", line))
            return
        place = waiting.pop(0)
        call = self.entries[place]
        writes = call.writes and not line.failed
        self.entries[place] = replace(call, result=line, writes=writes)


def _chained(entries: Iterable[Entry]) -> Iterable[Entry]:
    """Yield the entries, each revision with the one before it."""
    before: Entry | None = None
    for entry in entries:
        if entry.writes:
            yield replace(entry, before=before)
            before = entry
        else:
            yield entry
