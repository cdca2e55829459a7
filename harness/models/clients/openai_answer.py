"""Translation of answers from the JSON of OpenAI chat completions.

Pure functions: no network, no SDK. Servers of this protocol omit and add different fields, so
decoding uses what it can and reports the rest; it raises nothing but MalformedAnswerError.
"""

from collections.abc import Sequence
from typing import Any, Literal, cast

from harness.models.clients.call_ids import UNNAMED_CALL, CallIds
from harness.models.clients.wire import (
    Json,
    as_arguments,
    is_json,
    most_tokens,
    stop_word,
    token_count,
    told_cost,
    word,
)
from harness.models.faults import MalformedAnswerError
from harness.models.protocol import (
    Message,
    ModelStop,
    ModelTurn,
    ToolCall,
    Usage,
)

REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")
# Gemini puts the signature of a thought into `extra_content`: of a tool call, or of the message.
KEPT_FIELDS = (*REASONING_FIELDS, "extra_content")
STANDARD_CALL_FIELDS = frozenset({"id", "type", "function", "index"})
STOP_REASONS: dict[str, Literal["end_turn", "max_tokens", "content_filter"]] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "model_length": "max_tokens",
    "content_filter": "content_filter",
}
# The counts of a usage by their names at OpenAI, DeepSeek, Moonshot, and gateways to Anthropic.
CACHED = (
    *("prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens", "cached_tokens"),
    "cache_read_input_tokens",
)
CACHE_WRITES = (
    *("prompt_tokens_details.cache_write_tokens", "prompt_tokens_details.cache_creation_tokens"),
    "cache_creation_input_tokens",
)
REASONING = ("completion_tokens_details.reasoning_tokens", "reasoning_tokens")
# Values by which servers and gateways report that they, and not the model, ended an answer.
BROKEN_OFF = ("error", "abort", "insufficient_system_resource")


def usage_from_wire(value: Any) -> Usage | None:
    """Return token counts; None when none were reported. Parts never exceed their whole."""
    if not isinstance(value, dict):
        return None
    fields = cast("Json", value)
    prompt, completion = (
        token_count(fields, "prompt_tokens"),
        token_count(fields, "completion_tokens"),
    )
    if not prompt or completion is None:  # one count alone is not enough, and no prompt is empty
        return None
    total = token_count(fields, "total_tokens")
    if total is not None:  # Gemini and xAI leave reasoning out of the completion's tokens
        completion = max(completion, total - prompt)
    cached = min(most_tokens(fields, *CACHED), prompt)
    return Usage(
        input_tokens=prompt,
        cached_input_tokens=cached,
        cache_write_tokens=min(most_tokens(fields, *CACHE_WRITES), prompt - cached),
        output_tokens=completion,
        reasoning_tokens=min(most_tokens(fields, *REASONING), completion),
        cost_usd=told_cost(fields),
    )


# Sending


# Receiving


def turn_from_wire(data: Json, messages: Sequence[Message]) -> ModelTurn:
    """Return the turn of a response.

    Args:
        data: JSON object of the response.
        messages: the conversation so far, to keep tool call ids unique.

    Raises:
        MalformedAnswerError: there is no message in it, or one that cannot be sent back.
    """
    choice = _first_choice(data)
    message = choice.get("message")
    ended = stop_word(choice.get("finish_reason"))
    if message is None and STOP_REASONS.get(ended or "") == "content_filter":
        message = {}  # Azure withholds it
    if not isinstance(message, dict):
        raise MalformedAnswerError("the answer's first choice has no message")
    message = cast("Json", message)
    refusal = message.get("refusal")
    text, content_blocks = _content(message.get("content"))
    if isinstance(refusal, str) and refusal:
        text = text or refusal
    calls, call_blocks = _tool_calls(message.get("tool_calls"), messages)
    reasoning = [
        {"field": name, "value": message[name]}
        for name in KEPT_FIELDS
        if message.get(name) is not None
    ]
    blocks = (*reasoning, *content_blocks, *call_blocks)
    if not is_json(blocks):
        raise MalformedAnswerError("the answer holds a number that cannot be sent back")
    return ModelTurn(
        text=text,
        tool_calls=calls,
        reasoning=blocks,
        usage=usage_from_wire(data.get("usage")),
        stop=_stop(ended, refused=bool(refusal), called=bool(calls)),
        request_id=word(data.get("id")),
    )


def _first_choice(data: Json) -> Json:
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices:
        raise MalformedAnswerError("the answer has no choices")
    first = cast("list[Any]", choices)[0]
    if not isinstance(first, dict):
        raise MalformedAnswerError("the answer's first choice is not an object")
    first = cast("Json", first)
    if first.get("finish_reason") in BROKEN_OFF:
        raise MalformedAnswerError(
            f"the answer broke off with finish_reason {first['finish_reason']!r}"
        )
    failed = data.get("error") or first.get("error")
    if failed and stop_word(first.get("finish_reason")) is None:
        raise MalformedAnswerError("the answer broke off with an error")
    return first


def _content(content: Any) -> tuple[str, list[Json]]:
    if isinstance(content, str):
        return content, []
    if not isinstance(content, list):
        return "", []
    parts = cast("list[Any]", content)
    texts = [_text_of_part(part) for part in parts]
    blocks = [{"field": "content", "value": parts}] if None in texts else []
    return "".join(text for text in texts if text), blocks


def _text_of_part(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        fields = cast("Json", part)
        text = fields.get("text")
        if fields.get("type") in ("text", "output_text") and isinstance(text, str):
            return text
    return None


def _tool_calls(
    wire_calls: Any, messages: Sequence[Message]
) -> tuple[tuple[ToolCall, ...], list[Json]]:
    if not isinstance(wire_calls, list) or not wire_calls:
        return (), []
    ids = CallIds(messages)
    calls: list[ToolCall] = []
    blocks: list[Json] = []
    for wire_call in cast("list[Any]", wire_calls):
        fields = cast("Json", wire_call) if isinstance(wire_call, dict) else {}
        call = ToolCall(
            id=ids.take(fields.get("id")),
            name=_function(fields).get("name") or UNNAMED_CALL,
            arguments=as_arguments(_function(fields).get("arguments")),
        )
        calls.append(call)
        extra = {name: value for name, value in fields.items() if name not in STANDARD_CALL_FIELDS}
        if any(value is not None for value in extra.values()):
            blocks.append({"field": "tool_calls", "call_id": call.id, "value": extra})
    return tuple(calls), blocks


def _function(call: Json) -> Json:
    function = call.get("function")
    if not isinstance(function, dict):
        return {}
    fields = cast("Json", function)
    return fields if isinstance(fields.get("name"), str) else {**fields, "name": None}


def _stop(given: str | None, *, refused: bool, called: bool) -> ModelStop:
    reason = STOP_REASONS.get(given or "")
    if refused:
        return ModelStop(reason="refusal", provider_word=given)
    if called and reason in (None, "end_turn"):  # many servers say "stop" with tool calls
        return ModelStop(reason="tool_use", provider_word=given)
    return ModelStop(reason=reason or "other", provider_word=given)
