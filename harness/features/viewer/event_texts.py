"""The texts in an event, each with a name by which the rest of a long one is asked for."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from pydantic_core import from_json, to_json

from harness.agent.events import AgentLeft, Event, Graded, Request, Response, Tested, ToolResult
from harness.models.protocol import AssistantMessage, Message, ModelTurn, ToolCall
from harness.run.summary.conversation import LONGEST_ARGUMENTS, program

REASONING_KEYS = ("thinking", "text", "reasoning_content", "reasoning", "content", "summary")
DEEPEST = 6


def text_in(event: Event, name: str) -> str | None:
    """The text of that name in an event; None where there is none."""
    word, _, number = name.partition("-")
    part = int(number) if number.isdecimal() and len(number) < 8 else 0  # noqa: PLR2004 - an index
    match event:
        case Request():
            found = message_text(event.messages[part]) if part < len(event.messages) else None
        case Response():
            found = _of_turn(event.response, word, part)
        case ToolResult():
            found = event.result.content
        case Tested():
            found = event.report
        case Graded():
            found = _of_test(event, word, part)
        case _:
            found = told_in(event)
    return found


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
    """The words of an event that is no part of the conversation."""
    if not isinstance(event, AgentLeft):
        return str(getattr(event, "cause", "") or getattr(event, "error", ""))
    parts = (("stdout", event.stdout), ("stderr", event.stderr))
    return "\n\n".join(f"{name}:\n{text.rstrip()}" for name, text in parts if text.strip())


def message_text(message: Message) -> str:
    """What a message says."""
    return message.text if isinstance(message, AssistantMessage) else message.content


def arguments(call: ToolCall) -> str:
    """A call's arguments as a person reads them: a program as one, else as they came."""
    return program(call) or call.arguments


def other_arguments(call: ToolCall) -> str:
    """The arguments beside the program."""
    if len(call.arguments) > LONGEST_ARGUMENTS:
        return ""
    values = cast("dict[str, Any]", from_json(call.arguments))
    rest = {key: value for key, value in values.items() if key not in {"code", "answer"}}
    return to_json(rest, indent=2).decode() if rest else ""


def reasoning_text(blocks: Sequence[dict[str, Any]]) -> str:
    """What a provider shows of a model's reasoning; nothing where it is encrypted."""
    return "\n\n".join(part for block in blocks for part in _reasoning(block, 0) if part.strip())


def _reasoning(value: Any, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _reasoning(each, depth + 1)
    elif isinstance(value, dict):
        yield from _of_block(cast("dict[str, Any]", value), depth)


def _of_block(block: dict[str, Any], depth: int) -> Iterator[str]:
    inner = next((block[key] for key in ("block", "responses_item", "value") if key in block), None)
    if inner is not None:
        yield from _reasoning(inner, depth + 1) if _is_reasoning(block, inner) else ()
        return
    for key in REASONING_KEYS:
        if isinstance(block.get(key), str | list):
            yield from _reasoning(block[key], depth + 1)
            return


def _is_reasoning(block: dict[str, Any], inner: Any) -> bool:
    """Whether it is reasoning, and not the answer or a call, which are kept beside it."""
    if "field" in block:
        return block["field"] not in {"content", "tool_calls"}
    kind = cast("dict[str, Any]", inner).get("type") if isinstance(inner, dict) else None
    return kind in {"thinking", "reasoning", "reasoning.text", "reasoning.summary"}
