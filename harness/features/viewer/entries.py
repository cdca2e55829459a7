"""A transcript as a list of what is shown of it, one thing after the other, so that it has pages.

A call stands with its result. A conversation of 100,000 calls has as many entries, and a page shows
a few of them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from harness.features.viewer.transcript_index import Line, TranscriptIndex

PER_PAGE = 100
WRITES = frozenset({"write_solution", "write_answer"})


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that is shown.

    Attributes:
        kind: `message`, `turn`, `call`, `result` (of a call that nobody made), or the event's word.
        line: of the transcript; `part` says which message or call of it.
        result: the line of a call's result; None while there is none.
        writes: whether it holds a revision of the solution, or may hold one.
        before: the entry with the revision before, where there is one.
    """

    kind: str
    line: Line
    part: int = 0
    result: Line | None = None
    writes: bool = False
    before: "Entry | None" = None

    @property
    def key(self) -> str:
        """Its place in the page: the same as long as the transcript only grows."""
        return f"e{self.line.number}-{self.part}-{self.kind}"

    @property
    def version(self) -> str:
        """Another word when it is no longer shown as it was."""
        return f"{self.line.span.start}:{self.result.number if self.result else ''}"


@dataclass(frozen=True, slots=True)
class Entries:
    """All entries of a transcript; `turns` has the place of each turn among them."""

    all: tuple[Entry, ...]
    turns: dict[int, int]

    def page_of(self, place: int) -> int:
        """The page that an entry is on, from 1."""
        return place // PER_PAGE + 1

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return max(1, -(-len(self.all) // PER_PAGE))

    def page(self, number: int) -> tuple[Entry, ...]:
        """The entries of a page; of one that there is not, those of the last."""
        start = (min(max(number, 1), self.pages) - 1) * PER_PAGE
        return self.all[start : start + PER_PAGE]


def entries_of(tape: TranscriptIndex) -> Entries:
    """The entries of a transcript."""
    made = _Making()
    for line in tape.in_order():
        made.add(line)
    return Entries(tuple(_chained(made.entries)), made.turns)


class _Making:
    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.turns: dict[int, int] = {}
        self._waiting: dict[str, list[int]] = {}
        """The places of calls without a result, by their ids; an id may be used again."""

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
    """Each revision with the one before it."""
    before: Entry | None = None
    for entry in entries:
        if entry.writes:
            yield replace(entry, before=before)
            before = entry
        else:
            yield entry
