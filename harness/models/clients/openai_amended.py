"""Requests in the JSON of OpenAI chat completions, changed after a refusal."""

import json

from harness.models.clients.openai_answer import REASONING_FIELDS
from harness.models.clients.wire import (
    Json,
)


def mended(body: Json) -> Json | None:
    """Return the request with JSON objects as call arguments, or None if unchanged.

    Many servers parse the arguments of past calls to fill their chat template. Once a model has
    written broken ones, they refuse every later request of the conversation.
    """
    broken = False
    messages: list[Json] = []
    for message in body["messages"]:
        calls: list[Json] = []
        for call in message.get("tool_calls", ()):
            text = call["function"]["arguments"]
            whole = _is_json_object(text)
            broken = broken or not whole
            arguments = text if whole else json.dumps({"unparsed": text})
            calls.append({**call, "function": {**call["function"], "arguments": arguments}})
        messages.append({**message, "tool_calls": calls} if calls else message)
    return {**body, "messages": messages} if broken else None


def renamed_max_tokens(body: Json) -> Json | None:
    """Return the request with the token limit in the newer field, or None if it has no limit."""
    if "max_tokens" not in body or "max_completion_tokens" in body:
        return None
    rest = {name: value for name, value in body.items() if name != "max_tokens"}
    return {**rest, "max_completion_tokens": body["max_tokens"]}


def without_reasoning(body: Json) -> Json | None:
    """Return the request without the reasoning of earlier turns, or None if it has none."""
    messages: list[Json] = [
        {name: value for name, value in message.items() if name not in REASONING_FIELDS}
        for message in body["messages"]
    ]
    return {**body, "messages": messages} if messages != body["messages"] else None


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
