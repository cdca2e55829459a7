"""Reader of chat messages as OpenAI, Inspect and verifiers write them.

A tool call has one of three forms: `{"id", "function": {"name", "arguments"}}`,
`{"id", "function", "arguments"}`, or `{"id", "name", "arguments"}`. Arguments are JSON text or an
object. See https://platform.openai.com/docs/api-reference/chat.
"""

import json
from typing import Any, cast

from harness.errors import DataError
from harness.features.import_.fields import Object, objects_in, text
from harness.features.import_.trajectory import Conversation
from harness.models.protocol import (
    Message,
    ModelStop,
    ModelTurn,
    SystemMessage,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from harness.text import writable

ROLES = ("system", "developer", "user", "assistant", "tool", "function")


def content_text(row: Object, key: str, where: str) -> str:
    """Return the text of a message: a string, or a list of parts without its images.

    Raises:
        DataError: the field is neither.
    """
    value: Any = row.get(key)
    if not isinstance(value, list):
        return text(row, key, where)
    parts: list[str] = []
    for part in cast("list[Any]", value):
        if isinstance(part, str):
            parts.append(writable(part))
        elif isinstance(part, dict):
            named = cast("dict[str, Any]", part)
            if named.get("type") in {"text", "output_text", "input_text"}:
                parts.append(text(named, "text", where))
        else:
            raise DataError(where, key, "not a string, nor a list of parts")
    return "\n".join(parts)


def message_in(row: Object, where: str, talk: Conversation) -> Message:
    """Read a message that is not an assistant's.

    Args:
        row: the message.
        where: location of the message, for error messages.
        talk: the conversation so far, which knows the names of tools.

    Raises:
        DataError: the message is malformed.
    """
    role, said = role_in(row, where), content_text(row, "content", where)
    if role in {"system", "developer"}:
        return SystemMessage(content=said)
    if role == "user":
        return UserMessage(content=said)
    call_id = text(row, "tool_call_id", where)
    named = row.get("name") or row.get("function")
    name = writable(named) if isinstance(named, str) else talk.name_of(call_id)
    failed = bool(row.get("error")) or row.get("is_error") is True
    return ToolMessage(call_id=call_id, name=name, content=said, is_error=failed)


def role_in(row: Object, where: str) -> str:
    """Return the role of a message. Raises DataError if it is unknown."""
    role = row.get("role")
    if role not in ROLES:
        raise DataError(where, "role", f"{ascii(role)[:60]} is not one of {', '.join(ROLES)}")
    return str(role)


def answer_in(
    row: Object, where: str, *, usage: Usage | None = None, seconds: float | None = None
) -> ModelTurn:
    """Return an assistant's message as a turn.

    Args:
        row: the message.
        where: location of the message, for error messages.
        usage: tokens of the request, if the file has them.
        seconds: duration of the request, if the file has it.

    Raises:
        DataError: a part of the message is malformed.
    """
    calls = tuple(
        _call(call, f"{where}: tool call {number + 1}", number)
        for number, call in enumerate(objects_in(row, "tool_calls", where))
    )
    thought = text(row, "reasoning_content", where)
    return ModelTurn(
        text=content_text(row, "content", where),
        tool_calls=calls,
        reasoning=({"type": "thinking", "thinking": thought},) if thought else (),
        usage=usage,
        stop=ModelStop(reason="tool_use" if calls else "end_turn"),
        latency_s=seconds or 0.0,
    )


def _call(row: Object, where: str, number: int) -> ToolCall:
    inner = row.get("function")
    if isinstance(inner, dict):
        body = cast("dict[str, Any]", inner)
        name = text(body, "name", where)
    else:
        body = row
        name = text(row, "function" if isinstance(inner, str) else "name", where)
    if not name:
        raise DataError(where, "name", "missing; a call must name its tool")
    return ToolCall(
        id=text(row, "id", where) or f"call-{number + 1}",
        name=name,
        arguments=arguments_text(body.get("arguments")),
    )


def arguments_text(value: object) -> str:
    """Return a call's arguments as JSON text."""
    if isinstance(value, str):
        return writable(value)
    return writable(json.dumps({} if value is None else value, ensure_ascii=False))
