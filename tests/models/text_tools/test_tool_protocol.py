"""Which way tools are called: what is tried, what is learnt from a refusal, and by whom."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from harness.models.faults import (
    Redactor,
    RejectedError,
    ToolsRefusedError,
    WrongApiError,
    failed_status,
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
    SystemMessage,
    ToolCall,
    ToolSpec,
    UserMessage,
)
from harness.models.text_tools.instructions import AutoTools, said_in_text, with_tools
from harness.problem import ProblemView

TOOLS = (ToolSpec(name="run_tests", description="Run.", parameters={"type": "object"}),)
OPENING = (SystemMessage(content="Solve it."), UserMessage(content="Begin."))
SETTINGS = ModelSettings()
RUN = '```json\n{"name": "run_tests", "arguments": {}}\n```'
REFUSAL = ToolsRefusedError("HTTP 400: no tools", status=400)

REFUSED = [
    (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
    (400, "litellm.UnsupportedParamsError: x does not support parameters: ['tools'], for model=y."),
    (
        400,
        "litellm.UnsupportedParamsError: x does not support parameters: {'tools': [{'type': 1}]}",
    ),
    (404, "No endpoints found that support tool use. To learn more about provider routing, …"),
    (404, "No endpoints found that support the provided 'tool_choice' value. To learn more …"),
    (400, "Unsupported parameter: 'tools' is not supported with this model."),
    (400, "This model doesn't support tool use."),
    (400, "Function calling is not enabled for this model"),
    (400, "deepseek-reasoner does not support Function Calling"),
    (400, "`tool calling` is not supported with this model"),
    (422, "[{'type': 'extra_forbidden', 'loc': ('body', 'tools'), 'msg': 'Extra inputs …'}]"),
]
NOT_REFUSED = [
    (400, "Failed to parse tool call arguments as JSON"),
    (400, "messages with role 'tool' must be a response to a preceding message with 'tool_calls'"),
    (400, "Invalid 'tools[0].function.name': string does not match pattern"),
    (400, "Unsupported parameter: 'temperature' is not supported with this model."),
    (401, "This key does not support tools"),
    (404, "The model `x` does not exist"),
    (429, "tools are not available at this rate"),
    (400, "tool_choice 'required' is not supported with thinking"),
    (400, "tool_choice 'required' is not supported in thinking mode"),
    (400, "Unsupported value: 'tool_choice' does not support 'required' with this model."),
    (500, "This model does not support tools"),
    (501, "tools are not supported"),
    (503, "tool calling is not available at the moment"),
    (500, "tools param requires --jinja flag"),
]
# Of servers that were started without tools: asking again changes nothing, and what to do is told.
WITHOUT = [
    (500, "tools param requires --jinja flag"),
    (500, "Unsupported param: tools"),
    (500, "Internal server error: Unsupported tool_call_parser: None"),
]
OTHER_API = [
    (400, "No tools: not supported in v1/chat/completions. Please use /v1/responses.", "responses"),
    (
        400,
        "Function tools with reasoning_effort are not supported for gpt-5.4 in "
        "/v1/chat/completions. Please use /v1/responses instead.",
        "responses",
    ),
    (
        404,
        "This model is only supported in v1/responses and not in v1/chat/completions.",
        "responses",
    ),
    (400, "This model does not support tools here; use the Responses API.", "responses"),
    (404, "This model is only supported in v1/chat/completions and not in v1/responses.", "chat"),
]


def error(status: int, message: str) -> Exception:
    body = json.dumps({"error": {"message": message}}).encode()
    return failed_status(status, {}, body, Redactor(), now=0.0)


@pytest.mark.parametrize(("status", "message"), REFUSED)
def test_a_refusal_of_tools_is_known_by_its_words(status: int, message: str) -> None:
    refusal = error(status, message)
    assert isinstance(refusal, ToolsRefusedError)
    assert message[:60] in str(refusal)


@pytest.mark.parametrize(("status", "message"), NOT_REFUSED)
def test_other_errors_are_not_refused_tools(status: int, message: str) -> None:
    assert not isinstance(error(status, message), ToolsRefusedError)


@pytest.mark.parametrize(("status", "message"), WITHOUT)
def test_a_server_without_tools_is_an_error_that_says_what_to_do(status: int, message: str) -> None:
    refusal = error(status, message)
    assert type(refusal) is RejectedError
    assert "--tool-protocol text" in str(refusal)


@pytest.mark.parametrize(("status", "message", "api"), OTHER_API)
def test_a_model_of_another_protocol_is_an_error_that_names_the_flag(
    status: int, message: str, api: str
) -> None:
    refusal = error(status, message)
    assert isinstance(refusal, WrongApiError)
    assert str(refusal).endswith(f"; give --api {api}")


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "This is not a chat model; did you mean to use v1/completions?"),
        (500, "Please use /v1/responses instead."),
        (400, "The responses of this model are not available"),
    ],
)
def test_other_errors_are_not_a_wrong_protocol(status: int, message: str) -> None:
    assert not isinstance(error(status, message), WrongApiError)


class Endpoint:
    """Answers by what it is asked, after it is let to; keeps which requests had tools."""

    name = "endpoint"

    def __init__(self, answer: Callable[[bool], str | Exception | ModelTurn]) -> None:
        self._answer = answer
        self.native: list[bool] = []
        self.arrived = asyncio.Semaphore(0)
        self.open = asyncio.Event()
        self.open.set()

    def for_sample(self, problem: ProblemView, index: int) -> "Endpoint":
        del problem, index
        return self

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        del messages, settings, on_retry
        self.native.append(bool(tools))
        self.arrived.release()
        await self.open.wait()
        answer = self._answer(bool(tools))
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, ModelTurn):
            return answer
        return ModelTurn(text=answer, stop=ModelStop(reason="end_turn"))

    async def close(self) -> None:
        pass


def refusing() -> Endpoint:
    return Endpoint(lambda native: REFUSAL if native else RUN)


async def ask(model: Model, *more: Message, on_retry: Any = None) -> ModelTurn:
    return await model.generate((*OPENING, *more), TOOLS, SETTINGS, on_retry)


async def test_a_refusal_is_met_once_and_told(problem: ProblemView) -> None:
    endpoint, retries = refusing(), list[Retry]()
    model = with_tools(endpoint, "auto")
    first = await ask(model.for_sample(problem, 0), on_retry=retries.append)
    second = await ask(model.for_sample(problem, 1), on_retry=retries.append)
    assert endpoint.native == [True, False, False]
    assert said_in_text(first)
    assert [call.name for call in second.tool_calls] == ["run_tests"]
    assert len(retries) == 1
    assert retries[0].cause.startswith("HTTP 400: no tools")
    assert retries[0].wait_s == 0


async def test_samples_that_begin_together_meet_one_refusal(problem: ProblemView) -> None:
    endpoint = refusing()
    endpoint.open.clear()
    model = AutoTools(endpoint, patience_s=60.0)
    asked = [asyncio.create_task(ask(model.for_sample(problem, n))) for n in range(5)]
    await asyncio.sleep(0)
    endpoint.open.set()
    turns = await asyncio.gather(*asked)
    assert all(turn.tool_calls for turn in turns)
    assert endpoint.native == [True] + [False] * 5


async def test_a_slow_answer_holds_the_others_up_only_so_long(problem: ProblemView) -> None:
    endpoint = Endpoint(lambda _native: "Hm.")
    endpoint.open.clear()
    model = AutoTools(endpoint, patience_s=0.01)
    asked = [asyncio.create_task(ask(model.for_sample(problem, n))) for n in range(3)]
    async with asyncio.timeout(60):
        for _ in asked:
            await endpoint.arrived.acquire()
    endpoint.open.set()
    await asyncio.gather(*asked)
    assert endpoint.native == [True] * 3


async def test_requests_without_tools_try_no_protocol() -> None:
    endpoint = Endpoint(lambda _native: RUN)
    turn = await with_tools(endpoint, "auto").generate(OPENING, (), SETTINGS)
    assert (turn.text, turn.tool_calls) == (RUN, ())


async def test_other_errors_pass_through_tool_protocols() -> None:
    endpoint = Endpoint(lambda _native: RejectedError("HTTP 400: other", status=400))
    model = with_tools(endpoint, "auto")
    for _ in range(2):
        with pytest.raises(RejectedError, match="other"):
            await ask(model)
    assert endpoint.native == [True, True]


async def test_native_is_native_alone() -> None:
    endpoint = refusing()
    with pytest.raises(ToolsRefusedError):
        await ask(with_tools(endpoint, "native"))
    assert endpoint.native == [True]
    left = Endpoint(lambda _native: RUN)
    assert not (await ask(with_tools(left, "native"))).tool_calls


async def test_text_never_tries_native() -> None:
    endpoint = refusing()
    turn = await ask(with_tools(endpoint, "text"))
    assert endpoint.native == [False]
    assert [call.name for call in turn.tool_calls] == ["run_tests"]


async def test_native_calls_are_left_as_they_are() -> None:
    given = ModelTurn(
        text=RUN,
        tool_calls=(ToolCall(id="c", name="run_tests", arguments="{}"),),
        stop=ModelStop(reason="tool_use"),
    )
    turn = await ask(with_tools(Endpoint(lambda _native: given), "auto"))
    assert turn == given


async def test_a_call_that_a_server_left_in_the_text_is_read_and_the_rest_is_in_text() -> None:
    endpoint = Endpoint(lambda _native: f"Now. {RUN}")
    model = with_tools(endpoint, "auto")
    turn = await ask(model)
    assert [call.name for call in turn.tool_calls] == ["run_tests"]
    assert said_in_text(turn)
    await ask(model, turn.message(), UserMessage(content="Good."))
    assert endpoint.native == [True, False]
    await ask(model)  # another conversation
    assert endpoint.native == [True, False, True]


async def test_a_model_that_never_calls_is_told_of_its_tools_in_text() -> None:
    endpoint = Endpoint(lambda _native: "Hm.")
    model = with_tools(endpoint, "auto")
    message = AssistantMessage(text="Hm.")
    nudge = UserMessage(content="Call a tool.")
    await ask(model, message, nudge)
    await ask(model, message, nudge, message, nudge)
    assert endpoint.native == [True, False]


async def test_a_model_that_did_call_is_left_alone() -> None:
    endpoint = Endpoint(lambda _native: "Hm.")
    called = AssistantMessage(tool_calls=(ToolCall(id="c", name="run_tests", arguments="{}"),))
    message = AssistantMessage(text="Hm.")
    await ask(with_tools(endpoint, "auto"), called, message, message)
    assert endpoint.native == [True]
