"""The texts of events, and texts cut to a length that a page shows."""

from typing import NamedTuple

from harness.agent.events import (
    AgentLeft,
    Event,
    Graded,
    RanWrittenTests,
    Request,
    Response,
    Tested,
    ToolResult,
)
from harness.models.protocol import ModelTurn
from harness.models.reasoning_text import reasoning_text
from harness.run.store.call_arguments import arguments
from harness.run.store.transcript_contents import message_text
from harness.text import printable

SHOWN = 6_000
"""Most characters of a text within a conversation; a link leads to the rest."""


PAGE = 100_000
"""Most characters of a text on its own page."""


FOLDED = 1_200
"""Characters above which an instruction or result is folded."""


FOLDED_LINES = 20


class Cut(NamedTuple):
    """The beginning of a text, or all of it.

    Attributes:
        text: the text with control and invisible characters spelled out.
        left: number of characters omitted after it.
    """

    text: str
    left: int = 0


def cut(text: str, most: int = SHOWN, start: int = 0) -> Cut:
    """Return a part of a text, from `start`, that is short enough to show."""
    return Cut(printable(text[start : start + most]), max(0, len(text) - start - most))


class Excerpt(NamedTuple):
    """A text, cut, and the name with which to request the rest."""

    text: str
    left: int
    name: str
    size: int

    @property
    def long(self) -> bool:
        """Whether the text should be folded."""
        return self.size > FOLDED or self.text.count("\n") >= FOLDED_LINES


def excerpt_of(text: str, name: str) -> Excerpt:
    """Return a text as far as it is shown; `name` is that with which to request the rest."""
    piece = cut(text.strip("\n"))
    return Excerpt(piece.text, piece.left, name, len(text))


def text_in(event: Event, name: str) -> str | None:
    """Return the text of that name in an event; None if there is none."""
    word, _, number = name.partition("-")
    part = int(number) if number.isdecimal() and len(number) < 8 else 0  # noqa: PLR2004 - an index
    match event:
        case Request():
            text = message_text(event.messages[part]) if part < len(event.messages) else None
        case Response():
            text = _of_turn(event.response, word, part)
        case ToolResult():
            text = event.result.content
        case Tested():
            text = event.report
        case Graded():
            text = _of_test(event, word, part)
        case _:
            text = told_in(event)
    return text


def _of_turn(turn: ModelTurn, word: str, part: int) -> str | None:
    if word == "call":
        return arguments(turn.tool_calls[part]) if part < len(turn.tool_calls) else None
    return reasoning_text(turn.reasoning) if word == "reasoning" else turn.text


def _of_test(event: Graded, word: str, index: int) -> str | None:
    test = next((test for test in event.grade.tests if test.index == index), None)
    if test is None or word not in {"got", "error", "stdout", "stderr"}:
        return None
    return str(getattr(test, word))


def told_in(event: Event) -> str:
    """Return the text of an event that is not part of the conversation."""
    if isinstance(event, RanWrittenTests):
        return event.text
    if not isinstance(event, AgentLeft):
        return str(getattr(event, "cause", "") or getattr(event, "error", ""))
    parts = (("stdout", event.stdout), ("stderr", event.stderr))
    return "\n\n".join(f"{name}:\n{text.rstrip()}" for name, text in parts if text.strip())
