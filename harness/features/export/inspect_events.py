"""A sample's events in Inspect's types: model calls, tool calls and the score.

Inspect's `messages_df` and `events_df` read only the events of a sample.
"""

# The type checker may run without the extra `inspect`.
# pyright: reportMissingImports=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false, reportUnknownParameterType=false

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from harness.agent.events import (
    Cleared,
    Event,
    NewConversation,
    Response,
    Tested,
    ToolResult,
)
from harness.features.export.inspect_messages import (
    call_of,
    message_of,
    stop_of,
    tool_error,
    usage_of,
)
from harness.models.protocol import ModelTurn, ToolCall
from harness.run.store.transcript_contents import entries


class SampleLog:
    """A sample's transcript, rebuilt for Inspect.

    Args:
        key: prefix of the ids of messages and events, which are stable across exports.
        model: name of the model.
        began: start time of the sample. Later times are computed from the durations of calls.

    Attributes:
        messages: messages of all conversations, in order.
        events: events in Inspect's own types.
    """

    def __init__(self, key: str, model: str, began: datetime) -> None:
        self.messages: list[Any] = []
        self.events: list[Any] = []
        self._key, self._model, self._began, self._now = key, model, began, began
        self._said: list[Any] = []  # messages of the current conversation
        self._calls: dict[str, ToolCall] = {}

    def read(self, events: Iterable[Event]) -> None:
        """Add the valid events of a transcript."""
        for entry in entries(events):
            began, self._now = self._at(entry.began), self._at(entry.ended)
            match entry.item:
                case Response() as answer:
                    self._answer(answer.response, began, entry.retries)
                case ToolResult() as result:
                    self._result(result, began)
                case Tested():
                    pass
                case Cleared() as cleared:
                    self._clear(cleared)
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

        asked = list(self._said)
        said = self._say(message_of(turn.message(), self._model))
        self._calls |= {call.id: call for call in turn.tool_calls}
        output = ModelOutput(
            model=self._model,
            choices=[ChatCompletionChoice(message=said, stop_reason=stop_of(turn))],
            usage=usage_of(turn.usage) if turn.usage else None,
            time=turn.latency_s,
        )
        self._add(
            ModelEvent(
                model=self._model,
                input=asked,
                tools=[],
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
        said = self._say(message_of(result, self._model))
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
                message_id=said.id,
            )
        )

    def _clear(self, event: Cleared) -> None:
        """Replace cleared tool results in the messages of later requests."""
        for place, message in enumerate(self._said):
            if message.role == "tool" and message.tool_call_id in event.call_ids:
                changed = {"content": event.text, "id": f"{message.id}-cleared"}
                self._said[place] = message.model_copy(update=changed)
