"""The texts of an event, by name: a page shows the whole of one."""

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
