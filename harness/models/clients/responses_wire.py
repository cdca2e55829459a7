"""Translation of messages to and from the JSON of OpenAI's Responses API.

Pure functions: no network, no SDK. Decoding raises nothing but MalformedAnswerError, and the errors
that a response of status `failed` stands for.

The provider stores nothing (`store` is false), so every output item is sent back exactly as it came
and in order: reasoning, whose text is encrypted, messages with their phase, function calls, and
items of unknown types. The one exception is a call whose id is missing or already used in the
conversation: it gets a new one. `AssistantMessage.reasoning` holds them as `{"responses_item":
item}`; blocks of other providers have no such key and are not sent.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, cast

from harness.models.clients.call_ids import CallIds
from harness.models.clients.wire import (
    Json,
    as_arguments,
    is_json,
    sendable,
    token_count,
    told_cost,
    with_settings,
    word,
)
from harness.models.faults import MalformedAnswerError, Redactor, TransientError
from harness.models.history_refusals import refuses_history
from harness.models.overflow import Excess, excess
from harness.models.protocol import (
    AssistantMessage,
    ContextOverflowError,
    HistoryRefusedError,
    Message,
    ModelError,
    ModelSettings,
    ModelStop,
    ModelTurn,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolSpec,
    Usage,
    UserMessage,
)

SETTING_FIELDS = {
    "temperature": "temperature",
    "max_tokens": "max_output_tokens",
    "top_p": "top_p",
    "service_tier": "service_tier",
    "reasoning_effort": None,
}
ITEM = "responses_item"  # marks a block as an output item of this API
NO_SECRETS = Redactor()
# Error codes that may be transient, and the HTTP status of each.
TRANSIENT_CODES = {"server_error": 500, "rate_limit_exceeded": 429}
INCOMPLETE_REASONS: dict[str, Literal["max_tokens", "content_filter"]] = {
    "max_output_tokens": "max_tokens",
    "content_filter": "content_filter",
}

# Schema keywords that the vendor can enforce with every model; it supports more with some.
STRICT_KEYWORDS = frozenset(
    {
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "anyOf",
        "enum",
        "title",
        "description",
    }
)


# Sending


def request_body(
    model: str, messages: Sequence[Message], tools: Sequence[ToolSpec], settings: ModelSettings
) -> Json:
    """Return the JSON body of a request; a setting that is None is left out.

    Args:
        model: the model's name at the endpoint.
        messages: the conversation so far; the `input` of a longer one begins with that of a
            shorter.
        tools: tools that the model may call.
        settings: settings of the model.

    Raises:
        ModelError: the API does not support a setting, or `extra_body` holds a field that the
            request already has.
    """
    body: Json = {
        "model": model,
        "input": [item for message in messages for item in message_to_wire(message)],
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
    if tools:
        body["tools"] = [tool_to_wire(tool) for tool in tools]
    if settings.reasoning_effort is not None:
        body["reasoning"] = {"effort": settings.reasoning_effort}
    return with_settings("the Responses API", body, settings, SETTING_FIELDS)


def message_to_wire(message: Message) -> list[Json]:
    """Return the input items of one message.

    A system message is an item like any other, and not the request's `instructions`. These are one
    text before all items: a second system message would change it, and with it the prefix of every
    later request.
    """
    match message:
        case SystemMessage() | UserMessage():
            return [_said(message.role, message.content)]
        case ToolMessage():
            return [
                {
                    "type": "function_call_output",
                    "call_id": message.call_id,
                    "output": sendable(message.content),
                }
            ]
        case AssistantMessage():
            return _own_items(message) or _made_items(message)


def _said(role: str, text: str) -> Json:
    return {"type": "message", "role": role, "content": sendable(text)}


def _own_items(message: AssistantMessage) -> list[Json]:
    """Return the original items, if the message has them and its calls are unchanged.

    Trailing reasoning is dropped: the vendor refuses reasoning that nothing of the same turn
    follows, as in a turn cut off by the token limit.
    """
    items = [block[ITEM] for block in message.reasoning if isinstance(block.get(ITEM), dict)]
    called = [item.get("call_id") for item in items if item.get("type") == "function_call"]
    if called != [call.id for call in message.tool_calls]:
        return []  # the conversation's results belong to the message's calls
    while items and items[-1].get("type") == "reasoning":
        items.pop()
    return items


def _made_items(message: AssistantMessage) -> list[Json]:
    calls: list[Json] = [
        {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": sendable(call.arguments),
        }
        for call in message.tool_calls
    ]
    return [_said("assistant", message.text), *calls] if message.text else calls


def tool_to_wire(tool: ToolSpec) -> Json:
    """Return a tool in the protocol's format.

    `strict` is always set: without it, the vendor rewrites the schema until it can be enforced, and
    makes every argument required.
    """
    return {"type": "function", **tool.model_dump(), "strict": allows_strict(tool.parameters)}


def allows_strict(schema: Json) -> bool:
    """Return whether the vendor can enforce a schema as it stands.

    It must be an object, and every object in it must name all its properties as required and forbid
    others (the vendor's guide to structured outputs). In doubt the answer is no: the vendor refuses
    a request with a strict schema that it cannot enforce.
    """
    return schema.get("type") == "object" and _enforceable(schema)


def _enforceable(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    fields = cast("Json", schema)
    if not fields.keys() <= STRICT_KEYWORDS or not ("type" in fields or "anyOf" in fields):
        return False
    kinds = _list(fields.get("type")) or [fields.get("type")]
    properties = fields.get("properties", {})
    if not isinstance(properties, dict):
        return False
    named = cast("Json", properties)
    if ("object" in kinds or named) and not (
        fields.get("additionalProperties") is False
        and sorted(map(str, _list(fields.get("required")))) == sorted(named)
    ):
        return False
    parts = [*named.values(), *_list(fields.get("anyOf"))]
    if "array" in kinds or "items" in fields:
        parts.append(fields.get("items"))
    return all(_enforceable(part) for part in parts)


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


# Receiving


def turn_from_wire(
    data: Json, messages: Sequence[Message], redact: Callable[[str], str] = NO_SECRETS
) -> ModelTurn:
    """Return the turn of a response.

    Args:
        data: JSON object of the response.
        messages: the conversation so far, to keep tool call ids unique.
        redact: function that masks secrets in the provider's text.

    Raises:
        MalformedAnswerError: it violates the protocol, or is not an answer yet.
        TransientError: the provider failed, and retrying can help.
        ContextOverflowError: the provider failed as the conversation no longer fits.
        HistoryRefusedError: the provider refused the conversation's own reasoning or calls.
        ModelError: the provider failed, and would again.
    """
    status = data.get("status")
    if status == "failed":
        raise _failure(data.get("error"), redact)
    if status not in ("completed", "incomplete"):  # a background request, or a cancelled one
        given = redact(status) if isinstance(status, str) else "missing"
        raise MalformedAnswerError(f"the answer's status is {given}")
    items = _renamed(_items(data.get("output")), CallIds(messages))
    parts = [_parts(item) for item in items if item["type"] == "message"]
    text = "\n".join(filter(None, (_joined(of_one, "output_text", "text") for of_one in parts)))
    refusal = "\n".join(filter(None, (_joined(of_one, "refusal", "refusal") for of_one in parts)))
    calls = tuple(_call(item) for item in items if item["type"] == "function_call")
    refused = any(part["type"] == "refusal" for of_one in parts for part in of_one)
    return ModelTurn(
        text=text or refusal,
        tool_calls=calls,
        reasoning=tuple({ITEM: item} for item in items),
        usage=usage_from_wire(data.get("usage")),
        stop=_stop(data, refused=refused, called=bool(calls)),
        request_id=word(data.get("id")),
    )


def _failure(error: Any, redact: Callable[[str], str]) -> TransientError | ModelError:
    if not isinstance(error, dict):
        return MalformedAnswerError("the answer's status is failed, without an error")
    fields = cast("Json", error)
    code, message = fields.get("code"), fields.get("message")
    code, message = (text if isinstance(text, str) else "" for text in (code, message))
    cause = redact(": ".join(filter(None, ("the response failed", code, message))))
    if excess(None, message, code) is Excess.CONVERSATION:
        return ContextOverflowError(cause)
    if refuses_history(message, code):
        return HistoryRefusedError(cause)
    if code in TRANSIENT_CODES:
        return TransientError(cause, status=TRANSIENT_CODES[code])
    return ModelError(cause)


def _items(output: Any) -> Iterable[Json]:
    if not isinstance(output, list):
        raise MalformedAnswerError("the answer has no list of output items")
    if not is_json(output):
        raise MalformedAnswerError("the answer's output cannot be sent back")
    for item in cast("list[Any]", output):
        yield _typed(item, "an output item")


def _renamed(items: Iterable[Json], ids: CallIds) -> list[Json]:
    """Return the items, each call with a unique id and its arguments as text.

    So call and result match, and the item can be sent back: some servers send the arguments as an
    object, but take only text.
    """
    return [
        {
            **item,
            "call_id": ids.take(item.get("call_id")),
            "arguments": as_arguments(item.get("arguments")),
        }
        if item["type"] == "function_call"
        else item
        for item in items
    ]


def _typed(value: Any, what: str) -> Json:
    if isinstance(value, dict) and isinstance(cast("Json", value).get("type"), str):
        return cast("Json", value)
    raise MalformedAnswerError(f"{what} of the answer is not an object with a type")


def _parts(message: Json) -> list[Json]:
    content = message.get("content")
    if not isinstance(content, list):
        raise MalformedAnswerError("a message of the answer has no list of parts")
    return [_typed(part, "a part of a message") for part in cast("list[Any]", content)]


def _joined(parts: Iterable[Json], kind: str, field: str) -> str:
    return "".join(_string(part, field) for part in parts if part["type"] == kind)


def _call(item: Json) -> ToolCall:
    name = _string(item, "name")
    if not name:
        raise MalformedAnswerError("a function call of the answer has no name")
    return ToolCall(id=item["call_id"], name=name, arguments=item["arguments"])


def _string(fields: Json, name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        kind = fields["type"][:40]
        raise MalformedAnswerError(f"{name!r} is not a string in a {kind!r} of the answer")
    return value


def _stop(data: Json, *, refused: bool, called: bool) -> ModelStop:
    given: str = data["status"]
    if given == "incomplete":
        details = data.get("incomplete_details")
        why = cast("Json", details).get("reason") if isinstance(details, dict) else None
        given = word(why) or given
    if refused:
        return ModelStop(reason="refusal", provider_word=given)
    if data.get("status") == "incomplete":
        return ModelStop(reason=INCOMPLETE_REASONS.get(given) or "other", provider_word=given)
    return ModelStop(reason="tool_use" if called else "end_turn", provider_word=given)


def usage_from_wire(value: Any) -> Usage | None:
    """Return token counts; None when none were reported. Parts never exceed their whole."""
    sent, written = token_count(value, "input_tokens"), token_count(value, "output_tokens")
    if not sent or written is None:  # one count alone is not enough, and no prompt is empty
        return None
    details = cast("Json", value).get("input_tokens_details")
    cached = min(token_count(details, "cached_tokens") or 0, sent)
    cache_write = min(token_count(details, "cache_write_tokens") or 0, sent - cached)
    details = cast("Json", value).get("output_tokens_details")
    return Usage(
        input_tokens=sent,
        cached_input_tokens=cached,
        cache_write_tokens=cache_write,
        output_tokens=written,
        reasoning_tokens=min(token_count(details, "reasoning_tokens") or 0, written),
        cost_usd=told_cost(cast("Json", value)),
    )
