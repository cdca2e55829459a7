"""Requests in the JSON of OpenAI chat completions.

Reasoning is kept as `{"field": name, "value": …}` and sent back under the same field of the same
message. Two more places hold provider state that must be sent back: fields of a tool call beyond
the standard ones (`{"field": "tool_calls", "call_id": …, "value": {…}}`), and a `content` that is a
list with parts other than text (`{"field": "content", "value": […]}`).
"""

from collections.abc import Sequence

from harness.models.clients.wire import (
    Json,
    sendable,
    with_settings,
)
from harness.models.environment import OPENAI_HOST
from harness.models.protocol import (
    AssistantMessage,
    Message,
    ModelSettings,
    SystemMessage,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from harness.models.providers import is_at

# The field of each setting; that of `max_tokens` depends on the endpoint. `top_k` and `min_p` are
# fields of vLLM, SGLang, llama.cpp and others, not of the vendor.
SETTING_FIELDS = {
    "temperature": "temperature",
    "reasoning_effort": "reasoning_effort",
    "top_p": "top_p",
    "top_k": "top_k",
    "min_p": "min_p",
    "model_seed": "seed",
    "stop": "stop",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
    "service_tier": "service_tier",
}


def max_tokens_field(base_url: str) -> str:
    """Return an endpoint's field for the token limit: the vendor has renamed it."""
    return "max_completion_tokens" if is_at(base_url, OPENAI_HOST) else "max_tokens"


def request_body(
    model: str,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    settings: ModelSettings,
    *,
    max_tokens_field: str,
) -> Json:
    """Return the JSON body of a request; a setting that is None is left out.

    Args:
        model: the model's name at the endpoint.
        messages: the conversation so far.
        tools: tools that the model may call.
        settings: settings of the model.
        max_tokens_field: `max_completion_tokens` or `max_tokens`.

    Raises:
        ModelError: `extra_body` holds a field that the request already has.
    """
    body: Json = {"model": model, "messages": [message_to_wire(m) for m in messages]}
    if tools:
        body["tools"] = [{"type": "function", "function": tool.model_dump()} for tool in tools]
    fields = {**SETTING_FIELDS, "max_tokens": max_tokens_field}
    return with_settings("the chat completions API", body, settings, fields)


def message_to_wire(message: Message) -> Json:
    """Return one message in the protocol's format."""
    match message:
        case SystemMessage() | UserMessage():
            return {"role": message.role, "content": sendable(message.content)}
        case ToolMessage():
            return {
                "role": "tool",
                "tool_call_id": message.call_id,
                "content": sendable(message.content),
            }
        case AssistantMessage():
            return _assistant_to_wire(message)


def _assistant_to_wire(message: AssistantMessage) -> Json:
    wire: Json = {"role": "assistant", "content": sendable(message.text)}
    extras: dict[str, Json] = {}
    for block in message.reasoning:
        if block.get("field") == "tool_calls":
            extras[block["call_id"]] = block["value"]
        elif "field" in block:  # another provider's block has none, and is ignored here
            wire[block["field"]] = block["value"]
    if message.tool_calls:
        wire["content"] = wire["content"] or None
        wire["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": sendable(call.arguments)},
                **extras.get(call.id, {}),
            }
            for call in message.tool_calls
        ]
    return wire
