"""Translation of messages to and from the JSON of Anthropic's Messages API.

Pure functions: no network, no SDK. Decoding raises nothing but MalformedAnswerError.

Any content besides one text and the tool calls after it (mainly thinking, with its signature) is
kept in `reasoning`, one entry `{"wire": WIRE, "at": position, "block": …}` for every block that is
no tool call. It is sent back unchanged and in its place: the API refuses a conversation whose
thinking was altered, or one that was altered before its thinking.

Caching: the API reads from its cache what an earlier request wrote, up to a block that carries a
breakpoint. A breakpoint is not content, so moving it changes no prefix. Three of the four allowed
are used. One stands at the end of tools and system prompt, which all samples share. One stands at
the end of the newest user turn, and writes what the next request is going to read. One stands at
the end of the user turn before, where the previous request wrote: the API looks for earlier writes
at most 20 blocks back from a breakpoint, and ten parallel calls with their results are as many. The
API's own top-level `cache_control` sets only the newest of the three, so it is not used. A request
without a possible successor (no tools, no answer yet) gets only the first, since a write costs more
than plain input.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, cast

from pydantic_core import from_json

from harness.models.clients.call_ids import UNNAMED_CALL, CallIds
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
from harness.models.faults import MalformedAnswerError
from harness.models.protocol import (
    AssistantMessage,
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

WIRE = "anthropic_messages"

# The API requires a limit. All its models can write this many tokens. At 128,000 tokens per hour,
# the rate that the vendor's SDK assumes, that takes 15 minutes: the longest silence that the
# timeouts here allow.
DEFAULT_MAX_TOKENS = 32_000

EFFORTS = ("low", "medium", "high", "xhigh", "max")
SETTING_FIELDS = {
    "stop": "stop_sequences",
    "service_tier": "service_tier",
    "max_tokens": None,
    "reasoning_effort": None,
}
BREAKPOINT = {"type": "ephemeral"}
EMPTY = "(empty)"  # replaces a text without content, which the API refuses
NOT_ANSWERED = "This call was not run."
THINKING = frozenset({"thinking", "redacted_thinking"})

# Characters allowed in ids and names of calls, by the API's own checks.
CALL_ID = re.compile(r"[a-zA-Z0-9_-]{1,200}")
NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
LONGEST_NAME = 64

# HTTP status of each type of error; under HTTP 200 it decides whether to retry.
ERROR_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}

# A full context window cuts the answer off like a token limit, and the text so far is kept. The
# next request does not fit any more, which is a ContextOverflowError.
STOP_REASONS: dict[str, Literal["end_turn", "max_tokens", "refusal"]] = {
    "end_turn": "end_turn",
    "stop_sequence": "end_turn",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
}


# Sending


def request_body(
    model: str, messages: Sequence[Message], tools: Sequence[ToolSpec], settings: ModelSettings
) -> Json:
    """Return the JSON body of a request; a setting that is None is left out.

    Args:
        model: the model's name at the endpoint.
        messages: the conversation so far.
        tools: tools that the model may call.
        settings: settings of the model.

    Raises:
        ModelError: the API does not support a setting or its value, or `extra_body` holds a field
            that the request already has.
    """
    effort = settings.reasoning_effort
    if effort is not None and effort not in EFFORTS:
        raise ModelError(
            f"the Messages API knows no reasoning effort {effort!r}; it has {', '.join(EFFORTS)}"
        )
    wire_tools: list[Json] = [
        {"name": t.name, "description": t.description, "input_schema": t.parameters} for t in tools
    ]
    system = [_text(m.content) for m in messages if isinstance(m, SystemMessage)]
    turns = _turns(messages)
    _set_breakpoint(system or wire_tools)
    if tools or any(turn["role"] == "assistant" for turn in turns):
        for turn in [turn for turn in turns if turn["role"] == "user"][-2:]:
            _set_breakpoint(turn["content"])
    body: Json = {
        "model": model,
        "max_tokens": settings.max_tokens or DEFAULT_MAX_TOKENS,
        "messages": turns,
    }
    if system:
        body["system"] = system
    if tools:
        body["tools"] = wire_tools
    if effort is not None:
        body["thinking"] = {"type": "adaptive"}
        body["output_config"] = {"effort": effort}
    return with_settings("the Messages API", body, settings, SETTING_FIELDS)


def _set_breakpoint(blocks: list[Json]) -> None:
    if blocks:
        blocks[-1] = {**blocks[-1], "cache_control": BREAKPOINT}


def _text(text: str) -> Json:
    return {"type": "text", "text": sendable(text) if text.strip() else EMPTY}


def _turns(messages: Sequence[Message]) -> list[Json]:
    """Return the conversation in turns of alternating roles, every tool call answered."""
    turns: list[Json] = []
    for message in messages:
        match message:
            case SystemMessage():
                pass
            case UserMessage():
                _add(turns, "user", [_text(message.content)])
            case ToolMessage():
                _add(turns, "user", [_result(message.call_id, message.content, message.is_error)])
            case AssistantMessage():
                _add(turns, "assistant", _assistant_blocks(message))
    return _answered(turns)


def _add(turns: list[Json], role: str, blocks: list[Json]) -> None:
    if not blocks:
        return
    if not turns or turns[-1]["role"] != role:
        turns.append({"role": role, "content": []})
    turns[-1]["content"] += blocks


def _result(call_id: str, content: str, is_error: bool) -> Json:
    text = sendable(content) if content.strip() else EMPTY
    block: Json = {"type": "tool_result", "tool_use_id": call_id, "content": text}
    return {**block, "is_error": True} if is_error else block


def _answered(turns: list[Json]) -> list[Json]:
    """Return the turns with the results of tool calls first, and one for each call."""
    whole: list[Json] = []
    asked: list[str] = []
    end: Json = {"role": "user", "content": []}
    for turn in (*turns, end):
        blocks: list[Json] = turn["content"]
        if turn["role"] == "user":
            results = [block for block in blocks if block["type"] == "tool_result"]
            rest = [block for block in blocks if block["type"] != "tool_result"]
            known = {block["tool_use_id"] for block in results}
            missing = [_result(call, NOT_ANSWERED, True) for call in asked if call not in known]
            blocks = [*results, *missing, *rest]
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
        _add(whole, turn["role"], blocks)
    return whole


def _assistant_blocks(message: AssistantMessage) -> list[Json]:
    blocks = [_call_to_wire(call) for call in message.tool_calls]
    kept = [entry for entry in message.reasoning if entry.get("wire") == WIRE]
    if kept:
        for entry in kept:  # in ascending order, so each gets its old position
            blocks.insert(entry["at"], entry["block"])
    elif message.text:
        blocks.insert(0, {"type": "text", "text": sendable(message.text)})
    return _without_last_thoughts(blocks)


def _without_last_thoughts(blocks: list[Json]) -> list[Json]:
    """Return the blocks without thinking at the end, which the API refuses."""
    end = len(blocks)
    while end and blocks[end - 1]["type"] in THINKING:
        end -= 1
    return blocks[:end]


def without_blank_texts(body: Json) -> Json | None:
    """Return the request without the blank texts of earlier answers, or None if it has none."""
    turns: list[Json] = []
    for turn in body["messages"]:
        blocks: list[Json] = turn["content"]
        if turn["role"] == "assistant":
            said = [each for each in blocks if each["type"] != "text" or each["text"].strip()]
            blocks = _without_last_thoughts(said)
        _add(turns, turn["role"], blocks)
    return {**body, "messages": turns} if turns != body["messages"] else None


def _call_to_wire(call: ToolCall) -> Json:
    name = NOT_IN_NAMES.sub("_", call.name)[:LONGEST_NAME] or UNNAMED_CALL
    return {"type": "tool_use", "id": call.id, "name": name, "input": _input(call.arguments)}


def _input(arguments: str) -> Json:
    """Return the arguments as the object that the API requires; broken ones are wrapped."""
    try:
        value = from_json(arguments)
    except ValueError:
        value = None
    if isinstance(value, dict) and is_json(cast("Json", value)):
        return cast("Json", value)
    return {"unparsed": sendable(arguments)}


# Receiving


def turn_from_wire(data: Json, messages: Sequence[Message]) -> ModelTurn:
    """Return the turn of a response.

    Args:
        data: JSON object of the response.
        messages: the conversation so far, to keep tool call ids unique.

    Raises:
        MalformedAnswerError: its content violates the protocol.
    """
    blocks = list(_blocks(data.get("content")))
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    calls = _tool_calls([block for block in blocks if block["type"] == "tool_use"], messages)
    stop = _stop(data.get("stop_reason"), called=bool(calls))
    if stop.reason == "refusal":
        text = text or _explanation(data.get("stop_details"))
    return ModelTurn(
        text=text,
        tool_calls=calls,
        reasoning=_kept(blocks),
        usage=usage_from_wire(data.get("usage")),
        stop=stop,
        request_id=word(data.get("id")),
    )


def _blocks(content: Any) -> Iterator[Json]:
    if not isinstance(content, list):
        raise MalformedAnswerError("the answer has no content")
    for position, block in enumerate(cast("list[Any]", content)):
        where = f"the answer's content block {position}"
        if not isinstance(block, dict) or not isinstance(cast("Json", block).get("type"), str):
            raise MalformedAnswerError(f"{where} has no type")
        fields = cast("Json", block)
        if fields["type"] == "text" and not isinstance(fields.get("text"), str):
            raise MalformedAnswerError(f"{where} has no text")
        if fields["type"] != "tool_use" and not is_json(fields):
            raise MalformedAnswerError(f"{where} holds a number that cannot be sent back")
        yield fields


def _kept(blocks: Sequence[Json]) -> tuple[Json, ...]:
    """Return the blocks to send back unchanged; none if text and tool calls suffice."""
    first, *rest = [block["type"] for block in blocks] or ["text"]
    if first in ("text", "tool_use") and set(rest) <= {"tool_use"}:
        return ()
    return tuple(
        {"wire": WIRE, "at": position, "block": block}
        for position, block in enumerate(blocks)
        if block["type"] != "tool_use"
    )


def _tool_calls(blocks: Sequence[Json], messages: Sequence[Message]) -> tuple[ToolCall, ...]:
    ids = CallIds(messages)
    calls: list[ToolCall] = []
    for block in blocks:
        name, given = block.get("name"), block.get("id")
        usable = isinstance(given, str) and CALL_ID.fullmatch(given) is not None
        name = name if isinstance(name, str) and name else UNNAMED_CALL
        arguments = as_arguments(block.get("input"))
        calls.append(
            ToolCall(id=ids.take(given if usable else None), name=name, arguments=arguments)
        )
    return tuple(calls)


def _explanation(details: Any) -> str:
    explanation = cast("Json", details).get("explanation") if isinstance(details, dict) else None
    return explanation if isinstance(explanation, str) else ""


def _stop(word_given: Any, *, called: bool) -> ModelStop:
    given = word(word_given)
    reason = STOP_REASONS.get(given or "")
    if called and reason in (None, "end_turn"):
        return ModelStop(reason="tool_use", provider_word=given)
    return ModelStop(reason=reason or "other", provider_word=given)


def usage_from_wire(value: Any) -> Usage | None:
    """Return token counts; None when the provider reported none.

    The API's `input_tokens` are those after the last breakpoint; those returned here are all.
    """
    fields = cast("Json", value) if isinstance(value, dict) else {}
    plain, output = token_count(fields, "input_tokens"), token_count(fields, "output_tokens")
    if plain is None or output is None:  # one count alone is not enough
        return None
    read = token_count(fields, "cache_read_input_tokens") or 0
    written = token_count(fields, "cache_creation_input_tokens") or 0
    reasoning = token_count(fields.get("output_tokens_details"), "thinking_tokens") or 0
    if not plain + read + written:  # no prompt is empty
        return None
    return Usage(
        input_tokens=plain + read + written,
        cached_input_tokens=read,
        cache_write_tokens=written,
        output_tokens=output,
        reasoning_tokens=min(reasoning, output),
        cost_usd=told_cost(fields),
    )
