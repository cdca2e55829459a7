"""Tools described and called in text, for models and endpoints without tool calls.

The system message lists the tools and how to write a call; calls are read from the model's text
(`harness.models.text_tools.reader`); results are sent as user messages. Requests depend only on the
conversation, so each one begins, byte for byte, like the one before.

A turn that was asked for in this way is marked: its `reasoning` begins with a block that is never
sent, `{"tool_protocol": "text", "said": …}`, which keeps the model's original text if it held
calls. Replays of recordings therefore give the same requests.
"""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from harness.models.clients.wire import sendable
from harness.models.faults import ToolsRefusedError
from harness.models.protocol import (
    AssistantMessage,
    Message,
    Model,
    ModelSettings,
    ModelTurn,
    Retry,
    RetryObserver,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from harness.models.providers import ToolProtocol
from harness.models.text_tools.calls import ParsedCall
from harness.models.text_tools.reader import CodeAlone, read_calls
from harness.models.text_tools.thoughts import calls_in_thoughts
from harness.models.text_tools.wording import (
    REMINDER,
    RUN_TESTS,
    manual,
    right_call,
    text_call,
)
from harness.problem import ProblemView

ALONE = CodeAlone()
MARK, SAID = "tool_protocol", "said"
PATIENCE_S = 0.25  # a refusal is immediate; an answer takes longer
MOST_SILENT_TURNS = 2  # native answers without any readable call, until tools are told in text


class TextTools:
    """Wraps a model to describe its tools in text; changes nothing without tools.

    Args:
        model: the model, which is never given tools in another way.
        alone: how code that is a call by itself is read.
    """

    def __init__(self, model: Model, *, alone: CodeAlone = ALONE) -> None:
        self._model = model
        self._alone = alone

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._model.name

    def for_sample(self, problem: ProblemView, index: int) -> Model:
        """Return the model for that sample, wrapped likewise."""
        model = self._model.for_sample(problem, index)
        return TextTools(model, alone=_code_alone(problem))

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        """Ask once; raises ModelError as the model does."""
        if not tools:
            return await self._model.generate(messages, (), settings, on_retry)
        sent = in_text(messages, tools, tested=self._alone.tested)
        turn = await self._model.generate(sent, (), settings, on_retry)
        return with_calls(turn, messages, tools, alone=self._alone)

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


def _code_alone(problem: ProblemView) -> CodeAlone:
    return CodeAlone(tested=bool(problem.public_tests), entry_point=problem.entry_point)


def said_in_text(turn: ModelTurn | AssistantMessage) -> bool:
    """Return whether the model was to call its tools in text."""
    return any(MARK in block for block in turn.reasoning)


def with_calls(
    turn: ModelTurn,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    *,
    marked: bool = True,
    alone: CodeAlone = ALONE,
) -> ModelTurn:
    """Return a turn with the calls in its text as tool calls.

    Args:
        turn: turn of the model; one that is marked already stays as it is.
        messages: the conversation so far, to make unique ids.
        tools: tools that may be called.
        marked: whether the tools were described in text. If not, only calls of known tools count,
            and a turn without any stays as it is.
        alone: how code that is a call by itself is read.
    """
    if said_in_text(turn):
        return turn
    if turn.tool_calls:  # some servers parse calls in text themselves
        return _marked(turn, {MARK: "text"}) if marked else turn
    reading = read_calls(
        turn.text,
        tools,
        known_only=not marked,
        cut_off=turn.cut_off,
        alone=alone if marked else None,
    )
    if not reading.calls:
        turn = calls_in_thoughts(turn, messages, tools)
        return _marked(turn, {MARK: "text"}) if marked else turn
    number = sum(isinstance(message, AssistantMessage) for message in messages)
    calls = tuple(
        ToolCall(id=f"text_{number}_{position}", name=call.name, arguments=call.arguments)
        for position, call in enumerate(reading.calls)
    )
    stop = turn.stop
    if stop.reason in {"end_turn", "other"}:
        stop = stop.model_copy(update={"reason": "tool_use"})
    wrapped = _marked(turn, {MARK: "text", SAID: sendable(turn.text)})
    return wrapped.model_copy(update={"text": reading.text, "tool_calls": calls, "stop": stop})


def _marked(turn: ModelTurn, block: dict[str, Any]) -> ModelTurn:
    return turn.model_copy(update={"reasoning": (block, *turn.reasoning)})


def in_text(
    messages: Sequence[Message], tools: Sequence[ToolSpec], *, tested: bool = True
) -> list[Message]:
    """Return a conversation with tools, calls and results in text.

    All texts between two turns of the model become one message: many chat templates refuse two
    messages of one role in a row.
    """
    sent: list[Message] = []
    waiting: list[str] = []
    remind = described = untested = False
    code = text_call(tools, tested=tested)
    write = () if code is None else ((code.tool.name, code.reminder),)
    test = tuple((t.name, right_call(t, in_text=True)) for t in tools if t.name == RUN_TESTS)
    for message in messages:
        match message:
            case SystemMessage():
                text = (
                    message.content
                    if described
                    else f"{message.content}\n\n{manual(tools, tested=tested)}"
                )
                sent.append(SystemMessage(content=text))
                described = True
            case UserMessage():
                waiting.append(message.content)
                waiting += [REMINDER] if remind and not _names(message.content, write) else []
            case ToolMessage():
                waiting.append(_result(message))
                if code is not None and message.name == code.tool.name:
                    untested = untested or not message.is_error
                elif message.name == RUN_TESTS:
                    untested = False
            case AssistantMessage():
                sent += _user(waiting, *(test if untested else ()), *write)
                sent.append(_assistant(message))
                waiting, remind = [], not message.tool_calls
    sent += _user(waiting, *(test if untested else ()), *write)
    return sent if described else [SystemMessage(content=manual(tools, tested=tested)), *sent]


def _user(waiting: list[str], *calls: tuple[str, str]) -> list[Message]:
    """Return the texts as a message; one that names a tool ends with the first such call.

    A small model follows the end of a message rather than the manual far above it.

    Args:
        waiting: the texts.
        calls: names of tools, and how each is called.
    """
    if not waiting:
        return []
    named = (line for name, line in calls if any(name in text for text in waiting))
    return [UserMessage(content="\n\n".join([*waiting, *islice(named, 1)]))]


def _names(text: str, calls: Sequence[tuple[str, str]]) -> bool:
    """Return whether a text names a tool whose call then follows it."""
    return any(name in text for name, _ in calls)


def _result(message: ToolMessage) -> str:
    """Return a result in a tag with its call's id and name."""
    error = ' error="true"' if message.is_error else ""
    head = f"<tool_result id={json.dumps(message.call_id)} name={json.dumps(message.name)}{error}>"
    return f"{head}\n{message.content}\n</tool_result>"


def _assistant(message: AssistantMessage) -> AssistantMessage:
    """Return the model's original text if known; other calls are written as blocks."""
    own = (block[SAID] for block in message.reasoning if SAID in block and MARK in block)
    calls = (_written(ParsedCall(call.name, call.arguments)) for call in message.tool_calls)
    text = next(own, None) or "\n\n".join(filter(None, (message.text, *calls)))
    reasoning = tuple(block for block in message.reasoning if MARK not in block)
    return AssistantMessage(text=text, reasoning=reasoning)


def _written(call: ParsedCall) -> str:
    try:
        arguments: Any = json.loads(call.arguments)
    except (ValueError, RecursionError):
        arguments = call.arguments
    return f"```json\n{json.dumps({'name': call.name, 'arguments': arguments})}\n```"


def with_tools(model: Model, protocol: ToolProtocol) -> Model:
    """Return the model, wrapped to use that tool protocol.

    `auto` is native until the endpoint refuses tools, and then text for all samples. A conversation
    in which two native answers held no call, or two in a row only calls that could not be read, or
    one held a call as text, continues in text as well.
    """
    match protocol:
        case "native":
            return model
        case "text":
            return TextTools(model)
        case "auto":
            return AutoTools(model)


@dataclass(slots=True)
class _Endpoint:
    """Knowledge about the endpoint that all samples share."""

    asked: bool = False
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    refuses: bool = False


class AutoTools:
    """Model that is given its tools natively, and in text where that does not work.

    The first request with tools is sent before the others, so that one refusal is enough; the
    others wait for its answer, but not long.

    Args:
        model: the model; its samples share the knowledge about the endpoint.
        patience_s: seconds that other requests wait for the answer to the first.
        alone: how code that is a call by itself is read in text.
    """

    def __init__(
        self,
        model: Model,
        *,
        patience_s: float = PATIENCE_S,
        endpoint: _Endpoint | None = None,
        alone: CodeAlone = ALONE,
    ) -> None:
        self._model = model
        self._patience_s = patience_s
        self._endpoint = endpoint or _Endpoint()
        self._text = TextTools(model, alone=alone)

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._model.name

    def for_sample(self, problem: ProblemView, index: int) -> Model:
        """Return the model for that sample, wrapped likewise."""
        return AutoTools(
            self._model.for_sample(problem, index),
            patience_s=self._patience_s,
            endpoint=self._endpoint,
            alone=_code_alone(problem),
        )

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        """Ask once, again in text if tools are refused; raises ModelError as the model does."""
        if not tools:
            return await self._model.generate(messages, tools, settings, on_retry)
        in_text = _goes_on_in_text(messages)
        if not in_text:
            await self._let_the_first_ahead()
        if not (in_text or self._endpoint.refuses):
            try:
                turn = await self._model.generate(messages, tools, settings, on_retry)
                return with_calls(turn, messages, tools, marked=False)
            except ToolsRefusedError as error:
                self._endpoint.refuses = True
                if on_retry is not None:
                    cause = f"{error} (tools are refused; from here on they are told in text)"
                    on_retry(Retry(attempt=1, cause=cause, wait_s=0.0))
            finally:
                self._endpoint.answered.set()
        return await self._text.generate(messages, tools, settings, on_retry)

    async def _let_the_first_ahead(self) -> None:
        endpoint = self._endpoint
        if not endpoint.asked:
            endpoint.asked = True
        elif not endpoint.answered.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(self._patience_s):
                    await endpoint.answered.wait()

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


def _goes_on_in_text(messages: Sequence[Message]) -> bool:
    """Return whether native calls did not work in this conversation."""
    answers = [message for message in messages if isinstance(message, AssistantMessage)]
    if any(said_in_text(message) for message in answers):
        return True
    silent = len(answers) >= MOST_SILENT_TURNS and not any(each.tool_calls for each in answers)
    return silent or _fails(messages)


def _fails(messages: Sequence[Message]) -> bool:
    """Return whether no call of the latest answers with calls could be read."""
    failed = 0
    for message in reversed(messages):
        if isinstance(message, ToolMessage) and not message.malformed:
            return False
        failed += isinstance(message, AssistantMessage) and bool(message.tool_calls)
        if failed == MOST_SILENT_TURNS:
            return True
    return False
