"""Messages, calls and tokens in Inspect's own types."""

# The type checker may run without the extra `inspect`.
# pyright: reportMissingImports=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from datetime import UTC, datetime
from typing import Any

from harness.features.export.messages import arguments_of
from harness.models.protocol import (
    AssistantMessage,
    Message,
    ModelTurn,
    SystemMessage,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)

STOPS = {
    "end_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "max_tokens",
    "refusal": "content_filter",
    "content_filter": "content_filter",
}


def message_of(message: Message, model: str) -> Any:
    """Convert a message to Inspect's type."""
    from inspect_ai.model import (
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageTool,
        ChatMessageUser,
    )

    match message:
        case SystemMessage():
            return ChatMessageSystem(content=message.content)
        case UserMessage():
            return ChatMessageUser(content=message.content)
        case ToolMessage():
            return ChatMessageTool(
                content=message.content,
                tool_call_id=message.call_id,
                function=message.name,
                error=tool_error(message),
            )
        case AssistantMessage():
            calls = [call_of(call) for call in message.tool_calls]
            return ChatMessageAssistant(
                content=message.text, tool_calls=calls or None, model=model, source="generate"
            )


def tool_error(message: ToolMessage) -> Any:
    """Return the error of a tool's result; None if it is not an error."""
    from inspect_ai.tool import ToolCallError

    kind = "parsing" if message.malformed else "unknown"
    return ToolCallError(kind, message.content) if message.is_error else None


def call_of(call: ToolCall) -> Any:
    """Convert a tool call to Inspect's type."""
    from inspect_ai.tool import ToolCall as InspectCall

    arguments, error = arguments_of(call.arguments)
    return InspectCall(id=call.id, function=call.name, arguments=arguments, parse_error=error)


def stop_of(turn: ModelTurn) -> Any:
    """Return Inspect's word for why the model stopped."""
    return STOPS.get(turn.stop.reason, "unknown")


def usage_of(usage: Usage) -> Any:
    """Convert token usage to Inspect's type, whose input tokens exclude cached ones."""
    from inspect_ai.model import ModelUsage

    return ModelUsage(
        input_tokens=usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
        total_tokens=usage.total_tokens,
        input_tokens_cache_read=usage.cached_input_tokens,
        input_tokens_cache_write=usage.cache_write_tokens,
        reasoning_tokens=usage.reasoning_tokens,
    )


def time_of(text: object) -> datetime:
    """Parse an ISO date as a time in UTC; return the epoch if it is invalid."""
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        found = datetime.fromtimestamp(0, UTC)
    return found.astimezone(UTC)
