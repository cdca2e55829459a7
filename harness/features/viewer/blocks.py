"""Blocks of a transcript page: texts that are cut, highlighted and compared."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from markupsafe import Markup

from harness.agent import events
from harness.features.viewer.excerpts import SHOWN, Excerpt, cut, excerpt_of, told_in
from harness.features.viewer.failed_tests import Failed, failures_in
from harness.features.viewer.html import coloured
from harness.features.viewer.program_changes import DiffLine, beside, difference
from harness.features.viewer.transcript_index import TranscriptIndex, TranscriptItem, TranscriptLine
from harness.grading.verdict import TestResult
from harness.languages import PYTHON
from harness.languages.known import named
from harness.markdown import fenced_blocks
from harness.models.prices.price import cost
from harness.models.prices.price_lists import ListedPrice
from harness.models.protocol import ModelTurn, ToolCall
from harness.models.reasoning_text import reasoning_text
from harness.run.store.call_arguments import arguments, other_arguments, program
from harness.run.store.revision_programs import revision_in
from harness.run.store.transcript_contents import message_text
from harness.text import printable_line
from harness.tools.revision import Revision

NO_RESULT: dict[str, Any] = {"result": None, "error": False, "malformed": False, "tests": None}
LONGEST_TITLE = 300
MOST_TESTS = 400
MOST_SHOWN = 5


class Piece(NamedTuple):
    """A part of a model's answer: text, or a program."""

    text: str
    code: Markup | None = None


@dataclass(frozen=True, slots=True)
class PageBlock:
    """An item of a page; `data` has the values for its kind.

    Attributes:
        kind: name of its macro in the templates.
        line: number of its line in the transcript.
    """

    kind: str
    key: str
    version: str
    line: int
    title: str = ""
    excerpt: Excerpt | None = None
    data: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(slots=True)
class Blocks:
    """Maker of a page's blocks, which reads every event once.

    Args:
        tape: the transcript.
        price: price of tokens; None if unknown.
        running: whether the run may still produce missing results.
        language: language of solutions.
        steps: revisions of the sample's result; empty if it has none yet.
    """

    tape: TranscriptIndex
    price: ListedPrice | None
    running: bool
    language: str = PYTHON
    steps: Sequence[Revision] = ()
    _events: dict[int, events.Event | None] = field(
        default_factory=dict[int, "events.Event | None"]
    )

    def of(self, entry: TranscriptItem) -> PageBlock:
        """Return the block of an entry."""
        event = self._event(entry.line)
        match event:
            case events.Request() if entry.part < len(event.messages):
                message = event.messages[entry.part]
                excerpt = excerpt_of(message_text(message), f"message-{entry.part}")
                made = self._block(entry, "message", message.role, excerpt)
            case events.Response() if entry.kind == "turn":
                made = self._turn(entry, event.turn, event.response)
            case events.Response() if entry.part < len(event.response.tool_calls):
                made = self._call(entry, event.response.tool_calls[entry.part])
            case events.ToolResult():
                excerpt = excerpt_of(event.result.content, "result")
                made = self._block(entry, "note", f"result of {event.result.name}", excerpt)
            case events.Tested():
                excerpt, failures = excerpt_of(event.report, "report"), failures_in(event.report)
                data = {"tests": event.tests, "seconds": event.seconds, "failures": failures}
                made = self._block(entry, "tested", "public tests", excerpt, data)
            case events.Graded():
                made = self._block(entry, "grade", data=_graded(event))
            case events.SampleStart():
                made = self._block(entry, "start", data={"start": event})
            case events.SampleEnd():
                excerpt = excerpt_of(event.error, "error") if event.error else None
                made = self._block(entry, "end", excerpt=excerpt, data={"end": event})
            case None:
                made = self._block(entry, "broken", f"line {entry.line.number} cannot be read")
            case _:
                excerpt = excerpt_of(told_in(event), "cause")
                made = self._block(entry, "note", _note(event), excerpt)
        return made

    def _block(
        self,
        entry: TranscriptItem,
        kind: str,
        title: str = "",
        excerpt: Excerpt | None = None,
        data: dict[str, Any] | None = None,
    ) -> PageBlock:
        waiting = "w" if kind == "call" and entry.result is None and self.running else ""
        version = entry.version + waiting
        shown = printable_line(title[:LONGEST_TITLE])
        return PageBlock(kind, entry.key, version, entry.line.number, shown, excerpt, data or {})

    def _event(self, line: TranscriptLine) -> events.Event | None:
        if line.number not in self._events:
            self._events[line.number] = self.tape.event(line)
        return self._events[line.number]

    def _turn(self, entry: TranscriptItem, number: int, turn: ModelTurn) -> PageBlock:
        thought = reasoning_text(turn.reasoning)
        excerpt = excerpt_of(turn.text, "text")
        data = {
            "number": number,
            "usage": turn.usage,
            "cost": cost(turn.usage, self.price),
            "seconds": turn.latency_s,
            "stop": turn.stop,
            "calls": len(turn.tool_calls),
            "hidden_reasoning": bool(turn.reasoning) and not thought.strip(),
            "reasoning": excerpt_of(thought, "reasoning") if thought.strip() else None,
            "pieces": list(_pieces(turn.text[:SHOWN], self.language)),
            "diff": self._difference(entry) if entry.writes else None,
        }
        return self._block(entry, "turn", excerpt=excerpt, data=data)

    def _call(self, entry: TranscriptItem, call: ToolCall) -> PageBlock:
        code = program(call)
        excerpt = excerpt_of(arguments(call), f"call-{entry.part}")
        result = self._event(entry.result) if entry.result else None
        data: dict[str, Any] = {
            "name": call.name[:200],
            "turn": entry.line.turn,
            "code": None if code is None or excerpt.left else coloured(code, self.language),
            "others": excerpt_of(other_arguments(call), "others") if code is not None else None,
            "empty": call.arguments.strip() in {"", "{}"},
            "waiting": entry.result is None and self.running,
            **NO_RESULT,
            "diff": self._difference(entry) if entry.writes else None,
            "writes": entry.writes,
        }
        if isinstance(result, events.ToolResult) and entry.result is not None:
            data |= _resulting(result, entry.result)
        return self._block(entry, "call", excerpt=excerpt, data=data)

    def _difference(self, entry: TranscriptItem) -> tuple[DiffLine, ...] | None:
        """Return changes from the revision before; None for the first or very long ones."""
        if entry.before is None:
            return None
        old, new = self._program(entry.before), self._program(entry)
        return difference(old, new) if old and new else None

    def _program(self, entry: TranscriptItem) -> str:
        event = self._event(entry.line)
        if not isinstance(event, events.Response):
            return ""
        if entry.kind != "call":
            return revision_in(event, self.steps, self.language)
        call = event.response.tool_calls[entry.part]
        alone = event.response.model_copy(update={"text": "", "tool_calls": (call,)})
        alone = event.model_copy(update={"response": alone})
        return revision_in(alone, self.steps, self.language) or program(call) or ""


def _pieces(text: str, usual: str) -> Iterator[Piece]:
    """Split an answer into text and programs, in order.

    Args:
        text: the answer.
        usual: name of the language of blocks that do not say it.
    """
    rest = text.replace("\r\n", "\n")
    for block in fenced_blocks(text):
        before, match, after = rest.partition(block.text)
        if match:
            yield Piece(_unfenced(before))
            own = named(block.tag or usual)
            shown = coloured(block.text, own.name) if own else Markup.escape(cut(match).text)
            yield Piece("", shown)
            rest = after
    yield Piece(_unfenced(rest))


def _unfenced(text: str) -> str:
    """Return text between two programs, without their fences."""
    lines = text.strip("\n").split("\n")
    if not lines[0].strip(" >`~"):
        lines = lines[1:]
    if lines and lines[-1].lstrip(" >").startswith(("```", "~~~")):
        lines.pop()
    return cut("\n".join(lines)).text


def _resulting(event: events.ToolResult, line: TranscriptLine) -> dict[str, Any]:
    content = event.result.content
    start, end = event.report or (0, len(content))
    report = content[start:end]
    return {
        "result": excerpt_of(content, "result"),
        "result_line": line.number,
        "error": event.result.is_error,
        "malformed": event.result.malformed,
        "seconds": event.seconds,
        "tests": event.tests,
        "failures": failures_in(report) if event.tests and not event.tests.solved else (),
    }


def _graded(event: events.Graded) -> dict[str, Any]:
    grade = event.grade
    failed = [test for test in grade.tests if not test.passed]
    return {
        "grade": grade,
        "failures": tuple(map(_failed, failed[:MOST_SHOWN])),
        "more": max(0, len(failed) - MOST_SHOWN),
        "tests": grade.tests[:MOST_TESTS],
        "not_listed": max(0, len(grade.tests) - MOST_TESTS),
        "not_run": grade.public_total + grade.hidden_total - len(grade.tests),
    }


def _failed(test: TestResult) -> Failed:
    where, gap = "Public" if test.public else "Hidden", test.difference
    names = {"got": "output", "error": "error", "stdout": "stdout", "stderr": "stderr"}
    texts = ((name, str(getattr(test, name))) for name in names)
    return Failed(
        title=f"{where} test {test.index + 1}: "
        f"{test.verdict.replace('_', ' ')} after {test.cpu_s:.2f} s of CPU time",
        sides=beside(gap.expected, gap.got, numbered=False) if gap else None,
        where=cut(gap.where.lstrip(": ")).text if gap else "",
        boxes=tuple(
            (names[name], excerpt_of(text, f"{name}-{test.index}"))
            for name, text in texts
            if text.strip()
        ),
    )


def _note(event: events.Event) -> str:
    """Return the title of an event other than messages, tests and grades."""
    match event:
        case events.Retried():
            status = f", status {event.status}" if event.status else ""
            title = f"retry {event.attempt} of turn {event.turn} after {event.wait_s:.1f} s{status}"
        case events.Unusable():
            title = f"turn {event.turn}: an answer of no use"
        case events.AgentLeft():
            how = "" if event.exit_code is None else f", exit code {event.exit_code}"
            kept = "" if event.confined else "; it was not isolated from hidden tests"
            title = f"{event.client or 'an agent'} left after {event.seconds:.1f} s{how}{kept}"
        case events.NewConversation() if event.cause:
            title = f"{events.title_of(event)}: {event.cause}"
        case _:
            title = events.title_of(event)
    return title
