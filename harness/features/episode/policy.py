"""The trained model as the agent loop sees it, and its answers as turns."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from harness.errors import UsageError
from harness.models.clients.openai_wire import turn_from_wire
from harness.models.clients.wire import read_json
from harness.models.faults import MalformedAnswerError
from harness.models.protocol import (
    Message,
    ModelSettings,
    ModelStop,
    ModelTurn,
    RetryObserver,
    ToolSpec,
    UnaskedModel,
)

Answer = str | Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""A model's answer: text, a message of the chat completions API, or tool calls."""

_EMPTY = ModelTurn(stop=ModelStop(reason="end_turn"))


class Policy(UnaskedModel):
    """Placeholder for a model run by the caller; stores each request.

    Attributes:
        answer: the answer to the next request.
        sent: messages of the newest request, as an evaluation would send them.
        tools: tools of the newest request.
    """

    def __init__(self) -> None:
        super().__init__("policy")
        self.answer = _EMPTY
        self.sent: tuple[Message, ...] = ()
        self.tools: tuple[ToolSpec, ...] = ()

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,  # noqa: ARG002 - protocol
        on_retry: RetryObserver | None = None,  # noqa: ARG002
    ) -> ModelTurn:
        """Store the request and return `answer`."""
        self.sent, self.tools = tuple(messages), tuple(tools)
        return self.answer


def turn_of(answer: Answer, messages: Sequence[Message], *, cut_off: bool) -> ModelTurn:
    """Convert a model's answer to a turn of the agent loop.

    Args:
        answer: see `Answer`. A tool call is `{"id", "type", "function": {"name", "arguments"}}` or
            `{"name", "arguments"}`; arguments are JSON text or an object.
        messages: the conversation so far, needed for unique call ids.
        cut_off: whether the answer was cut off by the token limit.

    Raises:
        UsageError: the answer has none of these forms.
    """
    message: dict[str, Any]
    if isinstance(answer, str):
        message = {"content": answer}
    elif isinstance(answer, Mapping):
        message = dict(answer)
        calls = message.get("tool_calls") or ()
        message["tool_calls"] = [_call(each) for each in _listed(calls)]
    else:
        message = {"content": "", "tool_calls": [_call(each) for each in _listed(answer)]}
    finish = "length" if cut_off else "stop"
    wire = {"choices": [{"message": message, "finish_reason": finish}]}
    try:  # read as an evaluation reads a server's answer
        return turn_from_wire(read_json(json.dumps(wire, default=str).encode()), messages)
    except MalformedAnswerError as error:
        raise UsageError(f"Episode.step(): {error}") from error


def _listed(calls: object) -> list[Any]:
    if isinstance(calls, Sequence) and not isinstance(calls, str):
        return list(cast("Sequence[Any]", calls))
    raise UsageError(
        f"Episode.step(): a {type(calls).__name__} is no answer; give text, a message, or a list "
        "of tool calls"
    )


def _call(call: object) -> dict[str, Any]:
    """Convert a tool call to the format of the chat completions API."""
    if not isinstance(call, Mapping):
        raise UsageError(f"Episode.step(): a {type(call).__name__} is no tool call; give a mapping")
    fields = dict(cast("Mapping[str, Any]", call))
    if "function" not in fields:
        fields = {
            "id": fields.get("id"),
            "function": {"name": fields.get("name"), "arguments": fields.get("arguments")},
        }
    return fields
