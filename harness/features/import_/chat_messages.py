"""`TurnBuilder`, and the reader of chat messages as OpenAI, Inspect and verifiers write them.

A tool call has one of three forms: `{"id", "function": {"name", "arguments"}}`,
`{"id", "function", "arguments"}`, or `{"id", "name", "arguments"}`. Arguments are JSON text or an
object. See https://platform.openai.com/docs/api-reference/chat.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from harness.errors import DataError
from harness.features.grade.solutions import Published
from harness.features.import_.fields import Fields
from harness.features.import_.trajectory import UNANSWERED, Trajectory, Turn
from harness.models.protocol import (
    AssistantMessage,
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

MOST_MESSAGES = 100_000
"""Most messages of one trajectory."""
MOST_CHARACTERS = 1 << 26
"""Most characters of all messages of a trajectory; logs may repeat a long text."""
LONGEST_INDEX = 9
ROLES = ("system", "developer", "user", "assistant", "tool", "function")


@dataclass(slots=True)
class TurnBuilder:
    """Builder of turns, message by message.

    Args:
        where: location of the trajectory, for error messages.

    `say` and `answer` raise DataError if there are too many messages, or they are too long.
    """

    where: str
    _turns: list[Turn] = field(default_factory=list[Turn])
    _before: list[Message] = field(default_factory=list[Message])
    _results: list[ToolMessage] = field(default_factory=list[ToolMessage])
    _open: Turn | None = None
    _messages: int = 0
    _characters: int = 0

    def say(self, message: Message) -> None:
        """Add a message that is not an answer of the model."""
        text = message.text if isinstance(message, AssistantMessage) else message.content
        self._count(len(text))
        if isinstance(message, ToolMessage) and self._open is not None and not self._before:
            self._results.append(message)
        else:
            self._before.append(message)

    def answer(
        self,
        answer: ModelTurn,
        *,
        cost: float | None = None,
        until: float | None = None,
        calls: int = 1,
        tested: frozenset[str] = frozenset(),
    ) -> None:
        """Add an answer of the model; the arguments are those of `Turn`."""
        self._count(len(answer.text) + sum(len(call.arguments) for call in answer.tool_calls))
        self._close()
        self._open = Turn((*self._before,), answer, (), cost, until, calls, tested)
        self._before.clear()

    def heard(self, message: Fields) -> bool:
        """Add a message, unless it is an assistant's; return whether it was added.

        Raises:
            DataError: the message is malformed.
        """
        role = message.get("role")
        if role not in ROLES:
            what = f"{ascii(role)[:60]} is not one of {', '.join(ROLES)}"
            raise DataError(message.where, "role", what)
        if role == "assistant":
            return False
        text = content_text(message, "content")
        if role in {"system", "developer"}:
            self.say(SystemMessage(content=text))
        elif role == "user":
            self.say(UserMessage(content=text))
        else:
            named = message.get("name") or message.get("function")
            name = writable(named) if isinstance(named, str) else None
            failed = bool(message.get("error")) or message.get("is_error") is True
            self.result(message.text("tool_call_id"), text, name=name, failed=failed)
        return True

    def result(self, call_id: str, content: str, *, name: str | None = None, failed: bool) -> None:
        """Add the result of a tool call; without a name, the call's of the newest answer."""
        calls = self._open.answer.tool_calls if self._open else ()
        if name is None:
            name = next((call.name for call in calls if call.id == call_id), "")
        self.say(ToolMessage(call_id=call_id, name=name, content=content, is_error=failed))

    def turns(self) -> tuple[Turn, ...]:
        """Return the turns; messages after the last answer are left out."""
        self._close()
        return tuple(self._turns)

    def _close(self) -> None:
        if self._open is not None:
            self._turns.append(self._open._replace(results=(*self._results,)))
        self._results.clear()
        self._open = None

    def _count(self, characters: int) -> None:
        self._messages += 1
        self._characters += characters
        if self._characters > MOST_CHARACTERS:
            raise DataError(self.where, None, f"more than {MOST_CHARACTERS:,} characters")
        if self._messages > MOST_MESSAGES:
            raise DataError(self.where, None, f"more than {MOST_MESSAGES:,} messages")


def content_text(row: Fields, key: str) -> str:
    """Return the text of a message: a string, or a list of parts without its images.

    Raises:
        DataError: the field is neither.
    """
    if not isinstance(row.get(key), list):
        return row.text(key)
    parts: list[str] = []
    for part in row.items(key):
        if isinstance(part, str):
            parts.append(writable(part))
        elif isinstance(part, dict):
            fields = Fields(cast("dict[str, Any]", part), row.where)
            if fields.get("type") in {"text", "output_text", "input_text"}:
                parts.append(fields.text("text"))
        else:
            raise DataError(row.where, key, "not a string, nor a list of parts")
    return "\n".join(parts)


def answer_in(
    row: Fields, *, usage: Usage | None = None, seconds: float | None = None
) -> ModelTurn:
    """Return an assistant's message as a turn.

    Args:
        row: the message.
        usage: tokens of the request, if the file has them.
        seconds: duration of the request, if the file has it.

    Raises:
        DataError: a part of the message is malformed.
    """
    calls = [_call(call, n) for n, call in enumerate(row.each("tool_calls", "tool call"), 1)]
    return turn_in(row, content_text(row, "content"), calls, usage, seconds or 0.0)


def turn_in(
    row: Fields, text: str, calls: Iterable[ToolCall], usage: Usage | None, seconds: float = 0.0
) -> ModelTurn:
    """Return a turn of its parts, with the thoughts in `reasoning_content`. Raises DataError."""
    thought, calls = row.text("reasoning_content"), tuple(calls)
    return ModelTurn(
        text=text,
        tool_calls=calls,
        reasoning=({"type": "thinking", "thinking": thought},) if thought else (),
        usage=usage,
        stop=ModelStop(reason="tool_use" if calls else "end_turn"),
        latency_s=seconds,
    )


def _call(row: Fields, number: int) -> ToolCall:
    inner = row.get("function")
    body = row.inner("function") if isinstance(inner, dict) else row
    name = body.text("function" if isinstance(inner, str) else "name")
    if not name:
        raise DataError(row.where, "name", "missing; a call must name its tool")
    arguments = arguments_text(body.get("arguments"))
    return ToolCall(id=row.text("id") or f"call-{number}", name=name, arguments=arguments)


def arguments_text(value: object) -> str:
    """Return a call's arguments as JSON text."""
    if isinstance(value, str):
        return writable(value)
    return writable(json.dumps({} if value is None else value, ensure_ascii=False))


def read_message_log(row: Fields, problem_field: str | None) -> Iterator[Trajectory]:
    """Read a row with `messages`, a conversation in OpenAI's chat format; see `RowReader`.

        {"messages": [{"role": "user", "content": "…"}, {"role": "assistant", …}],
         "problem_id": "…", "sample": 0, "model": "…", "passed": true}

    The fields beside `messages` may also be in `metadata`. An assistant's message may have `usage`,
    as in the API's response, and `seconds`, the duration of its request.
    """
    beside = row.inner("metadata")
    problem, index = _sample(row, beside, problem_field)
    turns = _turns(row)
    yield Trajectory(
        where=row.where,
        problem=problem,
        index=index,
        turns=turns,
        model=row.text("model") or beside.text("model"),
        mode=row.text("mode") or beside.text("mode"),
        published=Published.in_row(row.values, row.where) or _published(beside),
        error=row.text("error") or ("" if turns else UNANSWERED),
    )


def _turns(row: Fields) -> tuple[Turn, ...]:
    messages = row.each("messages", "message")
    if not messages:
        raise DataError(row.where, "messages", "empty; a conversation has messages")
    talk = TurnBuilder(row.where)
    passed: float | None = 0.0
    for message in messages:
        if talk.heard(message):
            continue
        seconds = message.amount("seconds")
        passed = None if passed is None or seconds is None else passed + seconds
        usage = message.inner("usage").usage()
        talk.answer(answer_in(message, usage=usage, seconds=seconds), until=passed)
    return talk.turns()


def _sample(row: Fields, beside: Fields, path: str | None) -> tuple[str, int | None]:
    """Return the problem and the index, from two fields or from `PROBLEM#INDEX`.

    This program writes the latter in `metadata.sample`; without an index all of it is the name.
    """
    named = beside.get("sample")
    if path is None and isinstance(named, str):
        problem, _, number = (name := writable(named)).rpartition("#")
        known = problem and number.isascii() and number.isdecimal() and len(number) <= LONGEST_INDEX
        return (problem, int(number)) if known else (name, None)
    index = row.whole("sample")
    return row.problem(path, beside), beside.whole("sample") if index is None else index


def _published(beside: Fields) -> Published | None:
    """Return the verdict in `metadata`; None if it is not a word of this project."""
    try:
        return Published.in_row(beside.values, beside.where)
    except DataError:
        return None
