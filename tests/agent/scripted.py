"""A model that says what it is told to, and what came of a conversation with it."""

import asyncio
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.agent.attempt import Attempt
from harness.agent.events import (
    Event,
    NewConversation,
    ReasoningLeftOut,
    Request,
    Response,
    ToolResult,
)
from harness.models.protocol import (
    AssistantMessage,
    Message,
    Model,
    ModelSettings,
    ModelStop,
    ModelTurn,
    Retry,
    RetryObserver,
    ToolCall,
    ToolMessage,
    ToolSpec,
    Usage,
)
from harness.problem import ProblemView
from harness.tools.workspace import Workspace

USAGE = Usage(input_tokens=100, output_tokens=10)
NEVER = "never"
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Pause:
    """Real seconds that pass before the answer."""

    seconds: float


Step = ModelTurn | Exception | Retry | Pause | str
"""An answer; an error to raise; a retry to report, without waiting; a pause; or NEVER."""


class Sent(NamedTuple):
    """One request, as the model received it."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    settings: ModelSettings


class ScriptedModel:
    """Satisfies `harness.models.protocol.Model`; asked beyond its script, it fails the test."""

    def __init__(self, *script: Step) -> None:
        self._script = iter(script)
        self.sent: list[Sent] = []

    @property
    def name(self) -> str:
        return "scripted"

    def for_sample(self, problem: ProblemView, index: int) -> "ScriptedModel":
        del problem, index
        return self

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        self.sent.append(Sent(tuple(messages), tuple(tools), settings))
        for step in self._script:
            match step:
                case ModelTurn():
                    return step
                case Exception():
                    raise step
                case Retry():
                    assert on_retry is not None
                    on_retry(step)
                case Pause():
                    await asyncio.sleep(step.seconds)
                case _:
                    await asyncio.Event().wait()
        raise AssertionError("the model was asked once more than its script says")

    async def close(self) -> None:
        pass


class Listening:
    """A model that keeps what it is asked, word for word."""

    def __init__(self, model: Model, heard: list[Sent]) -> None:
        self._model = model
        self._heard = heard

    @property
    def name(self) -> str:
        return self._model.name

    def for_sample(self, problem: ProblemView, index: int) -> "Listening":
        return Listening(self._model.for_sample(problem, index), self._heard)

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        self._heard.append(Sent(tuple(messages), tuple(tools), settings))
        return await self._model.generate(messages, tools, settings, on_retry)

    async def close(self) -> None:
        await self._model.close()


def call(name: str, arguments: str = "{}") -> ToolCall:
    return ToolCall(id=f"call-{next(_numbers)}", name=name, arguments=arguments)


def read() -> ToolCall:
    return call("read_problem")


def write(code: str) -> ToolCall:
    return call("write_solution", json.dumps({"code": code}))


def run() -> ToolCall:
    return call("run_tests")


def turn(*calls: ToolCall, text: str = "", usage: Usage | None = USAGE) -> ModelTurn:
    stop = ModelStop(reason="tool_use" if calls else "end_turn")
    return ModelTurn(text=text, tool_calls=calls, usage=usage, stop=stop)


@dataclass(frozen=True)
class Played:
    """A conversation that has come to its end.

    `heard`: every request as the strategy made it, whatever stood between it and the script.
    `warned`: the lines that a run prints once, with their kinds.
    """

    attempt: Attempt
    model: ScriptedModel
    events: list[Event]
    workspace: Workspace
    heard: list[Sent]
    warned: list[tuple[str, str]]

    @property
    def requests(self) -> list[Request]:
        return [event for event in self.events if isinstance(event, Request)]

    @property
    def results(self) -> list[ToolMessage]:
        return [event.result for event in self.events if isinstance(event, ToolResult)]

    @property
    def last_sent(self) -> tuple[Message, ...]:
        return self.model.sent[-1].messages


def rebuild(events: Sequence[Event]) -> list[tuple[Message, ...]]:
    """The messages of every request, from nothing but a transcript."""
    messages: list[Message] = []
    requests: list[tuple[Message, ...]] = []
    for event in events:
        match event:
            case Request():
                messages += event.messages
                requests.append(tuple(messages))
            case Response():
                answer = event.response
                messages.append(
                    AssistantMessage(
                        text=answer.text, tool_calls=answer.tool_calls, reasoning=answer.reasoning
                    )
                )
            case ToolResult() if event.is_sent_alone:
                messages.append(event.result)
            case ReasoningLeftOut():
                messages = [_without_reasoning(message) for message in messages]
            case NewConversation():
                messages.clear()
            case _:
                pass
    return requests


def _without_reasoning(message: Message) -> Message:
    if isinstance(message, AssistantMessage):
        return message.model_copy(update={"reasoning": ()})
    return message
