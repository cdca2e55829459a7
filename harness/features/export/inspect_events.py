"""A sample's events as Inspect's log has them: model calls, tool calls and the score.

Inspect's `messages_df` and `events_df` read events, and nothing else of a sample.
"""

# The extra need not be installed where this is checked.
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
    Request,
    Response,
    Retried,
    Tested,
    ToolResult,
    standing,
)
from harness.features.export.inspect_messages import (
    call_of,
    message_of,
    stop_of,
    tool_error,
    usage_of,
)
from harness.models.protocol import ModelTurn, ToolCall


class SampleLog:
    """A sample's transcript, rebuilt for Inspect.

    Args:
        key: begins the ids of its messages and events, which are the same in every export.
        model: its name.
        began: when the sample began. Later times follow from how long each call took.

    Attributes:
        messages: of all conversations, in order.
        events: of Inspect's own types.
    """

    def __init__(self, key: str, model: str, began: datetime) -> None:
        self.messages: list[Any] = []
        self.events: list[Any] = []
        self._key, self._model, self._began, self._now = key, model, began, began
        self._said: list[Any] = []  # in this conversation
        self._calls: dict[str, ToolCall] = {}
        self._retries = 0

    def read(self, events: Iterable[Event]) -> None:
        """Take in the events of a transcript that stand."""
        for event in standing(events):
            match event:
                case Request():
                    self._retries = 0
                    for message in event.messages:
                        self._say(message_of(message, self._model))
                case Retried():
                    self._retries += 1
                    self._pass(event.wait_s)
                case Response():
                    self._answer(event.response)
                case ToolResult():
                    self._result(event)
                case Tested():
                    self._pass(event.seconds)
                case Cleared():
                    self._clear(event)
                case NewConversation():
                    self._said = []
                case _:
                    pass

    def begin(self, sample: Any) -> None:
        """Add the event of the sample's beginning."""
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

    def _pass(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)

    def _answer(self, turn: ModelTurn) -> None:
        from inspect_ai.event import ModelEvent
        from inspect_ai.model import ChatCompletionChoice, GenerateConfig, ModelOutput

        asked, began = list(self._said), self._now
        self._pass(turn.latency_s)
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
                retries=self._retries or None,
                timestamp=began,
                completed=self._now,
                working_time=turn.latency_s,
            )
        )

    def _result(self, event: ToolResult) -> None:
        from inspect_ai.event import ToolEvent

        result, began = event.result, self._now
        self._pass(event.seconds)
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
        """Later requests hold other words in the place of some results."""
        for place, message in enumerate(self._said):
            if message.role == "tool" and message.tool_call_id in event.call_ids:
                changed = {"content": event.text, "id": f"{message.id}-cleared"}
                self._said[place] = message.model_copy(update=changed)
