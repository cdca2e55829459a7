"""Reader of chat messages as OpenAI, Inspect and verifiers write them.

A tool call has one of three forms: `{"id", "function": {"name", "arguments"}}`,
`{"id", "function", "arguments"}`, or `{"id", "name", "arguments"}`. Arguments are JSON text or an
object. See https://platform.openai.com/docs/api-reference/chat.
"""

import json
from typing import Any, cast

from harness.errors import DataError
from harness.features.grade.solutions import Published
from harness.features.import_ import fields
from harness.features.import_.trajectory import Conversation, Trajectory, Turn
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


def content_text(row: fields.Object, key: str, where: str) -> str:
    """Return the text of a message: a string, or a list of parts without its images.

    Raises:
        DataError: the field is neither.
    """
    value: Any = row.get(key)
    if not isinstance(value, list):
        return fields.text(row, key, where)
    parts: list[str] = []
    for part in cast("list[Any]", value):
        if isinstance(part, str):
            parts.append(writable(part))
        elif isinstance(part, dict):
            named = cast("dict[str, Any]", part)
            if named.get("type") in {"text", "output_text", "input_text"}:
                parts.append(fields.text(named, "text", where))
        else:
            raise DataError(where, key, "not a string, nor a list of parts")
    return "\n".join(parts)


def message_in(row: fields.Object, where: str, talk: Conversation) -> Message:
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
    call_id = fields.text(row, "tool_call_id", where)
    named = row.get("name") or row.get("function")
    name = writable(named) if isinstance(named, str) else talk.name_of(call_id)
    failed = bool(row.get("error")) or row.get("is_error") is True
    return ToolMessage(call_id=call_id, name=name, content=said, is_error=failed)


def role_in(row: fields.Object, where: str) -> str:
    """Return the role of a message. Raises DataError if it is unknown."""
    role = row.get("role")
    if role not in ROLES:
        raise DataError(where, "role", f"{ascii(role)[:60]} is not one of {', '.join(ROLES)}")
    return str(role)


def answer_in(
    row: fields.Object, where: str, *, usage: Usage | None = None, seconds: float | None = None
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
        for number, call in enumerate(fields.objects_in(row, "tool_calls", where))
    )
    thought = fields.text(row, "reasoning_content", where)
    return ModelTurn(
        text=content_text(row, "content", where),
        tool_calls=calls,
        reasoning=({"type": "thinking", "thinking": thought},) if thought else (),
        usage=usage,
        stop=ModelStop(reason="tool_use" if calls else "end_turn"),
        latency_s=seconds or 0.0,
    )


def _call(row: fields.Object, where: str, number: int) -> ToolCall:
    inner = row.get("function")
    if isinstance(inner, dict):
        body = cast("dict[str, Any]", inner)
        name = fields.text(body, "name", where)
    else:
        body = row
        name = fields.text(row, "function" if isinstance(inner, str) else "name", where)
    if not name:
        raise DataError(where, "name", "missing; a call must name its tool")
    return ToolCall(
        id=fields.text(row, "id", where) or f"call-{number + 1}",
        name=name,
        arguments=arguments_text(body.get("arguments")),
    )


def arguments_text(value: object) -> str:
    """Return a call's arguments as JSON text."""
    if isinstance(value, str):
        return writable(value)
    return writable(json.dumps({} if value is None else value, ensure_ascii=False))


def read_message_log(row: fields.Object, where: str, problem_field: str | None) -> Trajectory:
    """Read a row with `messages`, a conversation in OpenAI's chat format.

        {"messages": [{"role": "user", "content": "…"}, {"role": "assistant", …}],
         "problem_id": "…", "sample": 0, "model": "…", "passed": true}

    The fields beside `messages` may also be in `metadata`. An assistant's message may have `usage`,
    as in the API's response, and `seconds`, the duration of its request.

    Args:
        row: the JSON object.
        where: location of the object, for error messages.
        problem_field: path of the field that names the problem, if the user gave it.

    Raises:
        DataError: a field is malformed.
    """
    beside = fields.object_in(row, "metadata", where)
    problem, index = _sample(row, beside, where, problem_field)
    return Trajectory(
        where=where,
        problem=problem,
        index=index,
        turns=turns_of(row, where),
        model=fields.text(row, "model", where) or fields.text(beside, "model", where),
        mode=fields.text(row, "mode", where) or fields.text(beside, "mode", where),
        published=Published.in_row(row, where) or _published(beside, where),
        error=fields.text(row, "error", where),
    )


def turns_of(row: fields.Object, where: str, key: str = "messages") -> tuple[Turn, ...]:
    """Return the turns of a list of messages. Raises DataError."""
    messages = fields.objects_in(row, key, where)
    if not messages:
        raise DataError(where, key, "empty; a conversation has messages")
    talk = Conversation(where)
    passed: float | None = 0.0
    for number, message in enumerate(messages):
        place = f"{where}: message {number + 1}"
        if role_in(message, place) != "assistant":
            talk.say(message_in(message, place, talk))
            continue
        seconds = fields.amount(message, "seconds", place)
        passed = None if passed is None or seconds is None else passed + seconds
        usage = fields.usage_in(message, "usage", place)
        talk.answer(answer_in(message, place, usage=usage, seconds=seconds), until=passed)
    return talk.turns()


def _sample(
    row: fields.Object, beside: fields.Object, where: str, path: str | None
) -> tuple[str, int | None]:
    """Return the problem and the index, from two fields or from `PROBLEM#INDEX`.

    This program writes the latter in `metadata.sample`.
    """
    named = beside.get("sample")
    if path is None and isinstance(named, str):
        return fields.sample_name_in(fields.text(beside, "sample", where))
    index = fields.whole(row, "sample", where)
    index = fields.whole(beside, "sample", where) if index is None else index
    return fields.problem_in((row, beside), where, path), index


def _published(beside: fields.Object, where: str) -> Published | None:
    """Return the verdict in `metadata`; None if it is no word of this project."""
    try:
        return Published.in_row(beside, where)
    except DataError:
        return None
