"""A sample's events in Inspect's types: model calls, tool calls and the score.

Inspect's `messages_df` and `events_df` read only the events of a sample.
"""

# The type checker may run without the extra `inspect`.
# pyright: reportMissingImports=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false, reportUnknownParameterType=false

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from harness.agent.events import Event, NewConversation, Response, Tested, ToolResult
from harness.features.export.conversations import arguments_of, sent_with_tools
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
from harness.run.store.transcript_contents import entries

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


def tool_of(spec: Mapping[str, Any]) -> Any:
    """Convert a tool, as it was sent, to Inspect's type."""
    from inspect_ai.tool import ToolInfo, ToolParams

    parameters = ToolParams.model_validate(spec.get("parameters") or {})
    return ToolInfo(
        name=spec["name"], description=spec.get("description", ""), parameters=parameters
    )


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
        time = datetime.fromisoformat(str(text))
    except ValueError:
        time = datetime.fromtimestamp(0, UTC)
    return time.astimezone(UTC)


class SampleLog:
    """A sample's transcript, rebuilt for Inspect.

    Args:
        key: prefix of the ids of messages and events, which are stable across exports.
        model: name of the model.
        began: start time of the sample. Later times are computed from the durations of calls.
        tools: the tools given natively, as they were sent.

    Attributes:
        messages: messages of all conversations, in order.
        events: events in Inspect's own types.
    """

    def __init__(
        self, key: str, model: str, began: datetime, tools: Iterable[Mapping[str, Any]] = ()
    ) -> None:
        self.messages: list[Any] = []
        self.events: list[Any] = []
        self._key, self._model, self._began, self._now = key, model, began, began
        self._said: list[Any] = []  # messages of the current conversation
        self._calls: dict[str, ToolCall] = {}
        self._tools = [*map(tool_of, tools)]
        self._with_tools: Iterator[bool] = iter(())

    def read(self, events: Sequence[Event]) -> None:
        """Add the valid events of a transcript."""
        self._with_tools = iter(sent_with_tools(events))
        for entry in entries(events):
            began, self._now = self._at(entry.began), self._at(entry.ended)
            match entry.item:
                case Response() as answer:
                    self._answer(answer.response, began, entry.retries)
                case ToolResult() as result:
                    self._result(result, began)
                case Tested():
                    pass
                case NewConversation():
                    self._said = []
                case message:
                    self._say(message_of(message, self._model))

    def begin(self, sample: Any) -> None:
        """Add the event of the sample's start."""
        from inspect_ai.event import SampleInitEvent

        self.events.insert(
            0,
            SampleInitEvent(
                sample=sample, state={}, uuid=f"{self._key}-init", timestamp=self._began
            ),
        )

    def score(self, score: Any, scorer: str) -> None:
        """Add the event of the score."""
        from inspect_ai.event import ScoreEvent

        self._add(ScoreEvent(score=score, scorer=scorer, timestamp=self._now))

    def _say(self, message: Any) -> Any:
        named = message.model_copy(update={"id": f"{self._key}-m{len(self.messages)}"})
        self._said.append(named)
        self.messages.append(named)
        return named

    def _add(self, event: Any) -> None:
        self.events.append(event.model_copy(update={"uuid": f"{self._key}-e{len(self.events)}"}))

    def _at(self, seconds: float) -> datetime:
        return self._began + timedelta(seconds=seconds)

    def _answer(self, turn: ModelTurn, began: datetime, retries: int) -> None:
        from inspect_ai.event import ModelEvent
        from inspect_ai.model import ChatCompletionChoice, GenerateConfig, ModelOutput

        asked, native = list(self._said), next(self._with_tools)
        message = self._say(message_of(turn.message(), self._model))
        stop: Any = STOPS.get(turn.stop.reason, "unknown")
        self._calls |= {call.id: call for call in turn.tool_calls}
        output = ModelOutput(
            model=self._model,
            choices=[ChatCompletionChoice(message=message, stop_reason=stop)],
            usage=usage_of(turn.usage) if turn.usage else None,
            time=turn.latency_s,
        )
        self._add(
            ModelEvent(
                model=self._model,
                input=asked,
                tools=self._tools if native else [],
                tool_choice="auto",
                config=GenerateConfig(),
                output=output,
                retries=retries or None,
                timestamp=began,
                completed=self._now,
                working_time=turn.latency_s,
            )
        )

    def _result(self, event: ToolResult, began: datetime) -> None:
        from inspect_ai.event import ToolEvent

        result = event.result
        message = self._say(message_of(result, self._model))
        made = self._calls.get(result.call_id)
        self._add(
            ToolEvent(
                id=result.call_id,
                function=result.name,
                arguments=call_of(made).arguments if made else {},
                result=result.content,
                error=tool_error(result),
                failed=result.is_error or None,
                timestamp=began,
                completed=self._now,
                working_time=event.seconds,
                message_id=message.id,
            )
        )
