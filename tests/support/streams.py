"""Streamed answers of each protocol: the events that make up an answer.

Texts are split into pieces of a few characters, like tokens.
"""

import json
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
PIECE = 5


def pieces(text: str) -> Iterator[str]:
    """Split a text into pieces; an empty one is one piece."""
    yield from (text[at : at + PIECE] for at in range(0, max(len(text), 1), PIECE))


def sent(events: Iterator[Json], *, named: bool = False) -> Iterator[bytes]:
    """Yield events in the wire format."""
    for event in events:
        name = f"event: {event['type']}\n" if named else ""
        yield f"{name}data: {json.dumps(event)}\n\n".encode()


# Chat completions


def chat_events(body: Json, *, usage: bool) -> Iterator[Json]:
    """Yield the chunks of a completion; the last has the tokens, if requested."""
    head = {"id": body.get("id"), "object": "chat.completion.chunk", "model": body.get("model")}
    (choice,) = body["choices"]
    for delta in _deltas(choice["message"]):
        yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    finish = {"index": 0, "delta": {}, "finish_reason": choice.get("finish_reason")}
    yield {**head, "choices": [finish]}
    if usage and body.get("usage") is not None:
        yield {**head, "choices": [], "usage": body["usage"]}


def _deltas(message: Json) -> Iterator[Json]:
    yield {"role": message.get("role", "assistant"), "content": None}
    for name, value in message.items():
        if name in {"role", "tool_calls"}:
            continue
        if isinstance(value, str):
            yield from ({name: piece} for piece in pieces(value))
        elif value is not None:
            yield {name: value}
    for place, call in enumerate(message.get("tool_calls") or ()):
        yield from ({"tool_calls": [each]} for each in _call_pieces(place, call))


def _call_pieces(place: int, call: Json) -> Iterator[Json]:
    function = call.get("function")
    text = function.get("arguments") if isinstance(function, dict) else None
    if not isinstance(text, str):
        yield {"index": place, **call}
        return
    yield {"index": place, **call, "function": {**function, "arguments": ""}}
    yield from ({"index": place, "function": {"arguments": piece}} for piece in pieces(text))


# Responses


def responses_events(body: Json) -> Iterator[Json]:
    """Yield the events of a response; the last contains all of it."""
    begun = {**body, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    for place, item in enumerate(body.get("output") or ()):
        yield {"type": "response.output_item.added", "output_index": place, "item": item}
        yield {"type": "response.output_item.done", "output_index": place, "item": item}
    yield {"type": f"response.{body['status']}", "response": body}


# Messages


def messages_events(body: Json) -> Iterator[Json]:
    """Yield the events of a message."""
    usage = body.get("usage") or {}
    begun = {**body, "content": [], "stop_reason": None, "stop_sequence": None}
    yield {"type": "message_start", "message": {**begun, "usage": {**usage, "output_tokens": 1}}}
    yield {"type": "ping"}
    for place, block in enumerate(body["content"]):
        yield from _block_events(place, block)
    ends = {"stop_reason", "stop_sequence", "stop_details"} & body.keys()
    final_usage = {"output_tokens": usage["output_tokens"]} if "output_tokens" in usage else {}
    yield {
        "type": "message_delta",
        "delta": {name: body[name] for name in ends},
        "usage": final_usage,
    }
    yield {"type": "message_stop"}


GROWS = {
    "text": {"text": "text_delta"},
    "thinking": {"thinking": "thinking_delta", "signature": "signature_delta"},
}


def _block_events(place: int, block: Json) -> Iterator[Json]:
    grows = GROWS.get(block["type"], {})
    empty = {**block, **dict.fromkeys(grows.keys() & block.keys(), "")}
    if block["type"] == "tool_use":
        empty = {**block, "input": {}}
    yield {"type": "content_block_start", "index": place, "content_block": empty}
    deltas = [
        {"type": kind, name: piece}
        for name, kind in grows.items()
        if name in block
        for piece in (pieces(block[name]) if name != "signature" else [block[name]])
    ]
    if block["type"] == "tool_use":
        text = json.dumps(block["input"])
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(text)]
    for delta in deltas:
        yield {"type": "content_block_delta", "index": place, "delta": delta}
    yield {"type": "content_block_stop", "index": place}
