"""A sample's conversation, assembled from its transcript, and the texts of its messages.

The conversation in each event is described in `harness.agent.events`. All code that outputs
conversations in other formats uses this module.

All code that displays a transcript uses these texts.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from pydantic_core import from_json, to_json

from harness.agent.events import (
    Cleared,
    Event,
    NewConversation,
    Request,
    Response,
    Retried,
    Tested,
    ToolResult,
    standing,
)
from harness.models.protocol import AssistantMessage, Message, ToolCall


class Entry(NamedTuple):
    """One entry of a conversation.

    Attributes:
        item: a message to the model, its answer, a tool's result, tests not run by a tool call,
            results cleared from then on, or the end of a conversation.
        began, ended: seconds since the start of the sample, as the sum of answers, calls, tests
            and waits.
        retries: number of earlier failures of the request, for an answer.
    """

    item: Message | Response | ToolResult | Tested | Cleared | NewConversation
    began: float
    ended: float
    retries: int = 0


def entries(events: Iterable[Event]) -> Iterator[Entry]:
    """Yield the conversation in the valid events of a transcript, in order."""
    now, retries = 0.0, 0
    for event in standing(events):
        began = now
        match event:
            case Request():
                retries = 0
                for message in event.messages:
                    yield Entry(message, now, now)
            case Retried():
                retries += 1
                now += event.wait_s
            case Response():
                now += event.response.latency_s
                yield Entry(event, began, now, retries)
            case ToolResult() | Tested():
                now += event.seconds
                yield Entry(event, began, now)
            case Cleared() | NewConversation():
                yield Entry(event, now, now)
            case _:
                pass


REASONING_KEYS = ("thinking", "text", "reasoning_content", "reasoning", "content", "summary")
DEEPEST = 6
LONGEST_ARGUMENTS = 4 * 1024 * 1024
"""Characters; longer arguments are not parsed."""


def message_text(message: Message) -> str:
    """Return a message's text."""
    return message.text if isinstance(message, AssistantMessage) else message.content


def arguments(call: ToolCall) -> str:
    """Return a call's arguments in readable form: just the program, if there is one."""
    return program(call) or call.arguments


def program(call: ToolCall) -> str | None:
    """Return the program or answer in a call's arguments; None if there is none."""
    if len(call.arguments) > LONGEST_ARGUMENTS:
        return None
    try:
        values: Any = from_json(call.arguments) if call.arguments.strip() else {}
    except ValueError:
        return None
    if not isinstance(values, dict):
        return None
    named = cast("dict[str, Any]", values)
    code = named.get("code", named.get("answer"))
    return code if isinstance(code, str) else None


def other_arguments(call: ToolCall) -> str:
    """Return the arguments other than the program or answer."""
    if len(call.arguments) > LONGEST_ARGUMENTS:
        return ""
    values = cast("dict[str, Any]", from_json(call.arguments))
    rest = {key: value for key, value in values.items() if key not in {"code", "answer"}}
    return to_json(rest, indent=2).decode() if rest else ""


def reasoning_text(blocks: Sequence[dict[str, Any]]) -> str:
    """Return the visible text of a model's reasoning; empty if it is encrypted."""
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
    """Whether a part is reasoning, and not the answer or a call stored with it."""
    if "field" in block:
        return block["field"] not in {"content", "tool_calls"}
    kind = cast("dict[str, Any]", inner).get("type") if isinstance(inner, dict) else None
    return kind in {"thinking", "reasoning", "reasoning.text", "reasoning.summary"}
