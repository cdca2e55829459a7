import asyncio
import gc
import gzip
import json
import traceback
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from chat_server import ChatServer, Reply, Script, completion, failure, html_page, in_turn
from for_each import for_each
from responses_server import (
    ResponsesServer,
    called,
    counted,
    failed,
    fault_of,
    incomplete,
    reasoning,
    response,
    said,
)

from harness.models.clients import endpoint
from harness.models.clients.openai_responses import OpenAIResponses
from harness.models.clients.retry import Pace, RetryPolicy
from harness.models.clients.timeouts import Timeouts
from harness.models.protocol import (
    ContextOverflowError,
    Message,
    ModelError,
    ModelSettings,
    ModelTurn,
    Retry,
    SystemMessage,
    ToolMessage,
    ToolSpec,
    Usage,
    UserMessage,
)

KEY = "sk-secretsecretsecret"
OPENING = (SystemMessage(content="Be good."), UserMessage(content="Solve ∑ 🙂."))
TOOLS = (
    ToolSpec(name="run_tests", description="Run.", parameters={"type": "object"}),
    ToolSpec(
        name="write_solution",
        description="Write.",
        parameters={
            "type": "object",
            "properties": {"code": {"type": "string"}},
            "required": ["code"],
            "additionalProperties": False,
        },
    ),
)


@dataclass
class Conversation:
    """A client at a server, what was said, and what its retries did."""

    server: ResponsesServer
    model: OpenAIResponses
    messages: list[Message]
    retries: list[Retry] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)

    async def ask(self, *more: Message, **settings: Any) -> ModelTurn:
        """Say more, and keep the answer."""
        self.messages += more
        turn = await self.model.generate(
            self.messages, TOOLS, ModelSettings(**settings), self.retries.append
        )
        self.messages.append(turn.message())
        return turn

    @property
    def inputs(self) -> list[list[Any]]:
        return [request.body["input"] for request in self.server.requests]


@asynccontextmanager
async def talking(script: Script, **options: Any) -> AsyncIterator[Conversation]:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with ResponsesServer(script) as server:
        pace = Pace(sleep=sleep, jitter=lambda _high: 0.0)
        model = OpenAIResponses(
            "m", model="m", base_url=server.base_url, api_key=KEY, pace=pace, **options
        )
        try:
            yield Conversation(server, model, list(OPENING), slept=slept)
        finally:
            await model.close()


def results(turn: ModelTurn, *contents: str) -> list[Message]:
    return [
        ToolMessage(call_id=call.id, name=call.name, content=content)
        for call, content in zip(turn.tool_calls, contents, strict=True)
    ]


# Conversations


async def test_a_conversation_with_parallel_calls_goes_there_and_back() -> None:
    first = (
        reasoning("rs_1", "Think ∑"),
        said("Trying.", item_id="msg_1", phase="commentary"),
        reasoning("rs_2"),
        called("run_tests", "{}", "a"),
        called("write_solution", '{"code": "x"}', "b"),
    )
    script = in_turn(response(*first), response(said("Done.", item_id="msg_2")))
    async with talking(script) as talk:
        turn = await talk.ask()
        last = await talk.ask(*results(turn, "1 failed", "written"))
    assert (turn.text, turn.stop.reason) == ("Trying.", "tool_use")
    assert [(call.id, call.name, call.arguments) for call in turn.tool_calls] == [
        ("a", "run_tests", "{}"),
        ("b", "write_solution", '{"code": "x"}'),
    ]
    assert (last.text, last.stop.reason, last.stop.provider_word) == (
        "Done.",
        "end_turn",
        "completed",
    )
    before, after = talk.inputs
    assert before == [
        {"type": "message", "role": "system", "content": "Be good."},
        {"type": "message", "role": "user", "content": "Solve ∑ 🙂."},
    ]
    assert json.dumps(after[2:7]) == json.dumps(first)
    assert after[7:] == [
        {"type": "function_call_output", "call_id": "a", "output": "1 failed"},
        {"type": "function_call_output", "call_id": "b", "output": "written"},
    ]


async def test_each_request_extends_the_one_before() -> None:
    new = {"id": "new_1", "type": "brand_new", "async_": [1.0, None, {"b": 1, "a": 2}]}
    script = in_turn(
        response(reasoning("rs_1"), called("run_tests", "{}", "a")),
        incomplete("max_output_tokens", reasoning("rs_2")),
        response(new, reasoning("rs_3"), said("Hm.", item_id="msg_1")),
        incomplete(
            "max_output_tokens",
            reasoning("rs_4"),
            called("run_tests", "{}", "b"),
            called("write_solution", '{"code": "pri', "c", status="incomplete"),
        ),
        response(),
        response(said(refusal="No.", item_id="msg_2")),
        response(said("Done.", item_id="msg_3")),
    )
    async with talking(script) as talk:
        turn = await talk.ask()
        await talk.ask(*results(turn, "ok"))
        await talk.ask(UserMessage(content="Go on."))
        turn = await talk.ask(UserMessage(content="Use the tools."))
        await talk.ask(*results(turn, "ok", "broken arguments"), SystemMessage(content="Hurry."))
        await talk.ask(UserMessage(content="Well?"))
        await talk.ask(UserMessage(content="Please."))
    assert talk.server.refusals == []
    assert len(talk.inputs) == 7
    for before, after in zip(talk.inputs, talk.inputs[1:], strict=False):
        assert len(after) > len(before)
        assert json.dumps(after[: len(before)]) == json.dumps(before)
    for name in ("model", "tools", "include", "store"):
        assert len({json.dumps(request.body[name]) for request in talk.server.requests}) == 1


async def test_a_call_cut_off_by_the_token_limit_is_a_call_with_broken_arguments() -> None:
    cut = called("write_solution", '{"code": "pri', status="incomplete")
    async with talking(in_turn(incomplete("max_output_tokens", cut))) as talk:
        turn = await talk.ask()
    assert [call.arguments for call in turn.tool_calls] == ['{"code": "pri']
    assert (turn.stop.reason, turn.stop.provider_word) == ("max_tokens", "max_output_tokens")


async def test_a_refusal_is_told_as_one() -> None:
    async with talking(in_turn(response(said(refusal="I will not.")))) as talk:
        turn = await talk.ask()
    assert (turn.text, turn.stop.reason) == ("I will not.", "refusal")


async def test_what_a_content_filter_left_is_kept() -> None:
    async with talking(in_turn(incomplete("content_filter", said("Half")))) as talk:
        turn = await talk.ask()
    assert (turn.text, turn.stop.reason) == ("Half", "content_filter")


async def test_the_request_names_what_was_asked_for_and_nothing_else() -> None:
    async with talking(in_turn(response(said("hi")))) as talk:
        await talk.ask()
        await talk.model.generate(OPENING, [], ModelSettings())
        await talk.ask(temperature=0.5, max_tokens=64, reasoning_effort="high")
    plain, toolless, full = (request.body for request in talk.server.requests)
    assert set(plain) == {"model", "input", "store", "include", "tools"}
    assert set(toolless) == {"model", "input", "store", "include"}
    assert (plain["store"], plain["include"]) == (False, ["reasoning.encrypted_content"])
    assert [tool["strict"] for tool in plain["tools"]] == [False, True]
    added = {name: value for name, value in full.items() if name not in plain}
    assert added == {
        "temperature": 0.5,
        "max_output_tokens": 64,
        "reasoning": {"effort": "high"},
    }
    request = talk.server.requests[0]
    assert request.path == "/v1/responses"
    assert request.headers["authorization"] == f"Bearer {KEY}"


async def test_usage_latency_and_request_id_are_reported() -> None:
    usage = counted(100, 30, cached=64, cache_write=16, thought=20)
    script = in_turn(
        response(said("hi"), usage=usage, headers={"x-request-id": "req_7"}),
        response(said("hi", item_id="msg_2")),
    )
    async with talking(script) as talk:
        turn = await talk.ask()
        bare = await talk.ask()
    assert turn.usage == Usage(
        input_tokens=100,
        cached_input_tokens=64,
        cache_write_tokens=16,
        output_tokens=30,
        reasoning_tokens=20,
    )
    assert turn.request_id == "req_7"
    assert 0 < turn.latency_s < 30
    assert (bare.usage, bare.request_id) == (None, "resp_loopback")


# Failures that may pass


RETRIED: dict[str, Reply] = {
    "429": failure(429),
    "500": failure(500),
    "503 as a page": html_page(503),
    "reset": Reply(reset=True),
    "cut in the body": response(said("hello"), cut_after=20),
    "cut before the body": response(said("hello"), cut_after=0),
    "an error page with status 200": html_page(),
    "not JSON": Reply(body=b"{nope"),
    "an empty body": Reply(),
    "a list": Reply(body=[1]),
    "an event stream": Reply(body=b"data: {}\n\n", content_type="text/event-stream"),
    "an error with status 200": Reply(body={"error": {"message": "upstream", "code": 502}}),
    "an error with a number for status": Reply(body={"error": {"message": "up"}, "status": 500}),
    "overloaded": failed("server_error", "try again"),
    "throttled": failed("rate_limit_exceeded", "slow down"),
    "failed without a reason": response(status="failed"),
    "queued": response(status="queued"),
    "in progress": response(status="in_progress"),
    "cancelled": response(status="cancelled"),
    "no status": response(said("hi"), fields={"status": None}),
    "no output": response(fields={"output": None}),
    "an item that is none": response(fields={"output": ["hi"]}),
    "an item without a type": response({"role": "assistant"}),
    "a message of text": response(said(content="hi")),
    "a text that is none": response(said(content=[{"type": "output_text", "text": 1}])),
    "a call without a name": response({**called("run_tests"), "name": None}),
    "a number beyond JSON": Reply(
        body=response(said("hi", x=0)).payload().replace(b"0}", b"1e999}")
    ),
}


async def test_calls_of_one_id_are_told_apart_and_go_back_so() -> None:
    def call() -> dict[str, Any]:  # as of servers that give their items no ids
        return {key: each for key, each in called("run_tests").items() if key != "id"}

    answers = (response(call(), call()), response(call()), response(said("Done.")))
    async with talking(in_turn(*answers)) as talk:
        first = await talk.ask(*OPENING)
        second = await talk.ask(*results(first, "1 failed", "1 failed"))
        last = await talk.ask(*results(second, "passed"))
    assert [call.id for call in first.tool_calls] == ["call_1", "call_0_1"]
    assert [call.id for call in second.tool_calls] == ["call_1_0"]
    assert (last.text, talk.server.refusals) == ("Done.", [])


@for_each("fault", RETRIED.values())
async def test_a_failure_that_may_pass_is_retried(fault: Reply) -> None:
    async with talking(in_turn(fault, fault, response(said("at last")))) as talk:
        turn = await talk.ask()
    assert turn.text == "at last"
    assert [retry.attempt for retry in talk.retries] == [1, 2]
    assert all(retry.cause and "\n" not in retry.cause for retry in talk.retries)
    bodies = [request.body for request in talk.server.requests]
    assert bodies[0] == bodies[1] == bodies[2]


@for_each(
    ("fault", "attempts"),
    [
        (failure(500), 5),
        (failed("server_error"), 5),
        (Reply(reset=True), 5),
        (response(status="queued"), 3),
    ],
    ids=["status", "failed", "reset", "malformed"],
)
async def test_a_failure_that_stays_ends_in_a_count(fault: Reply, attempts: int) -> None:
    async with talking(in_turn(fault), policy=RetryPolicy(attempts=5)) as talk:
        with pytest.raises(ModelError, match=rf"gave up after {attempts} attempts"):
            await talk.ask()
    assert len(talk.server.requests) == attempts


async def test_the_provider_says_how_long_to_wait() -> None:
    script = in_turn(failure(429, headers={"retry-after": "7"}), response(said("hi")))
    async with talking(script) as talk:
        await talk.ask()
    assert talk.slept == [7.0]


async def test_silence_is_cut_off_and_retried() -> None:
    script = in_turn(response(said("late"), silence_s=60), response(said("now")))
    async with talking(script, timeouts=Timeouts(idle_s=0.2)) as talk:
        assert (await talk.ask()).text == "now"
    assert "in time" in talk.retries[0].cause


@pytest.mark.thorough
@pytest.mark.parametrize("encoded", [False, True], ids=["plain", "gzip bomb"])
async def test_an_absurdly_large_answer_is_refused(
    encoded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "MAX_ANSWER_BYTES", 2**20)
    bomb = Reply(body=gzip.compress(b"x" * 2**26), headers={"content-encoding": "gzip"})
    async with talking(in_turn(bomb if encoded else Reply(padding=2**30))) as talk:
        with pytest.raises(ModelError, match=r"larger than 1 MiB.*3 attempts"):
            await talk.ask()


# Failures that stay


@for_each("status", [307, 400, 401, 404, 422])
async def test_a_failure_that_stays_fails_at_once_in_the_providers_words(status: int) -> None:
    async with talking(in_turn(failure(status, "you may\nnot"))) as talk:
        with pytest.raises(ModelError, match=f"HTTP {status}: you may not"):
            await talk.ask()
    assert len(talk.server.requests) == 1
    assert talk.retries == []


@for_each(
    "message",
    [
        "Unsupported parameter: 'temperature' is not supported with this model.",
        "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
        "Encrypted content is not supported with this model.",
    ],
)
async def test_what_a_model_does_not_know_is_told_and_never_left_out(message: str) -> None:
    async with talking(in_turn(failure(400, message), response(said("hi")))) as talk:
        with pytest.raises(ModelError, match=f"HTTP 400: {message}"):
            await talk.ask(temperature=0.0, reasoning_effort="low")
    assert len(talk.server.requests) == 1


async def test_a_redirect_is_not_followed_and_the_key_goes_nowhere_else() -> None:
    async with ChatServer(in_turn(completion("mine now"))) as other:
        there = f"{other.base_url}/chat/completions"
        async with talking(in_turn(failure(307, headers={"location": there}))) as talk:
            with pytest.raises(ModelError, match="redirect"):
                await talk.ask()
        assert other.requests == []


@for_each(
    "fault",
    [failed("invalid_prompt", "not this"), failed("bio_policy", "not this")],
    ids=["prompt", "policy"],
)
async def test_a_response_that_failed_for_good_is_told_in_its_words(fault: Reply) -> None:
    async with talking(in_turn(fault)) as talk:
        with pytest.raises(ModelError, match=r"the response failed: .*: not this"):
            await talk.ask()
    assert len(talk.server.requests) == 1


@for_each(
    "fault",
    [
        failure(400, "too much", code="context_length_exceeded"),
        failure(400, "Your input exceeds the context window of this model."),
        failed("context_length_exceeded", "too much"),
    ],
    ids=["code", "words", "failed"],
)
async def test_an_overflowing_context_has_an_error_of_its_own(fault: Reply) -> None:
    async with talking(in_turn(fault)) as talk:
        with pytest.raises(ContextOverflowError):
            await talk.ask()
    assert len(talk.server.requests) == 1


ECHOES: dict[str, Callable[[str], Reply]] = {
    "error": lambda key: failure(401, f"bad key {key}"),
    "page": lambda key: Reply(body=f"<p>{key}".encode(), status=403, content_type="text/html"),
    "retried": lambda key: failure(500, f"Authorization: Bearer {key}"),
    "malformed": lambda key: Reply(body=f"{key} is not JSON".encode()),
    "within": lambda key: Reply(body={"error": f"key {key}"}),
    "failed": lambda key: failed("server_error", f"key {key}"),
    "failed for good": lambda key: failed(key, f"key {key}"),
    "overflow": lambda key: failed("x", f"{key}: prompt is too long"),
    "status": lambda key: response(status=key),
    "long": lambda key: response(status="x" * 195 + key),
    "type": lambda key: response({"type": key}, {"type": "message", key: key}),
}


@for_each("key", [KEY, "plain-words-as-a-key"])
@for_each("echo", ECHOES.values())
async def test_the_key_is_in_no_message(echo: Callable[[str], Reply], key: str) -> None:
    retries: list[Retry] = []
    async with ResponsesServer(in_turn(echo(key))) as server:
        pace = Pace(jitter=lambda _high: 0.0)
        model = OpenAIResponses("m", model="m", base_url=server.base_url, api_key=key, pace=pace)
        with pytest.raises(ModelError) as caught:
            await model.generate(OPENING, [], ModelSettings(), retries.append)
        await model.close()
    text = "".join(traceback.format_exception(caught.value))
    assert key[:10] not in text + "".join(retry.cause for retry in retries)


# Life and death


async def test_a_cancelled_request_leaves_nothing_behind() -> None:
    never = asyncio.Event()
    script = in_turn(response(said("never"), until=never.wait), response(said("hi")))
    async with talking(script) as talk:
        asking = asyncio.ensure_future(talk.ask())
        await talk.server.arrived(1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await talk.server.left()
        assert (await talk.ask()).text == "hi"  # the client is still good
    gc.collect()  # a socket left open warns here, and warnings are errors
    assert talk.retries == []


async def test_a_closed_client_says_so_and_closes_again_in_peace() -> None:
    async with talking(in_turn(response(said("hi")))) as talk:
        await talk.model.close()
        await talk.model.close()
        with pytest.raises(ModelError, match="closed"):
            await talk.ask()


async def test_the_same_client_answers_for_every_sample(twice: Any) -> None:
    async with talking(in_turn(response(said("hi")))) as talk:
        assert talk.model.for_sample(twice, 3) is talk.model
        assert talk.model.name == "m"


async def test_the_environment_changes_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other-other-other")
    async with talking(in_turn(response(said("hi")))) as talk:
        await talk.ask()
    assert talk.server.requests[0].headers["authorization"] == f"Bearer {KEY}"


# The server is as particular as the vendor's


THOUGHT, CALL = reasoning("rs_1"), called("f", "{}", "a")
RESULT = {"type": "function_call_output", "call_id": "a", "output": "ok"}
ASKED = {"role": "user", "content": "hi"}
TOOL = {"type": "function", "name": "f", "parameters": {"type": "object"}}


def judged(*items: Any, issued: Sequence[Any] = ((THOUGHT, CALL),), **fields: Any) -> str | None:
    body = {"model": "m", "input": [ASKED, *items], "store": False, **fields}
    return fault_of(body, issued)


def test_the_server_takes_what_the_protocol_allows() -> None:
    assert judged() is None
    assert judged(THOUGHT, CALL, RESULT) is None
    assert judged(tools=[{**TOOL, "strict": False}]) is None


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (judged(THOUGHT, CALL), "No tool output found"),
        (judged(RESULT), "No tool call found"),
        (judged(THOUGHT, CALL, RESULT, RESULT), "Duplicate function call output"),
        (judged(THOUGHT, CALL, CALL, RESULT), "Duplicate function call a"),
        (judged(CALL, RESULT), "without its 'reasoning' item"),
        (judged(THOUGHT, ASKED), "without its following item"),
        (judged(CALL, THOUGHT, RESULT), "without its following item"),
        (judged(THOUGHT, issued=[[THOUGHT]]), "without its following item"),
        (judged({**THOUGHT, "encrypted_content": "x"}, CALL, RESULT), "could not be verified"),
        (judged({**THOUGHT, "status": "completed"}, CALL, RESULT), "could not be verified"),
        (judged(THOUGHT, CALL, RESULT, issued=[]), "not found"),
        (judged({"type": "brand_new"}), "type"),
        (judged({**ASKED, "name": "me"}), "Unknown parameter: 'input[1].name'"),
        (judged({"role": "tool", "content": "hi"}), "role"),
        (judged({"role": "user"}), "Missing required parameter: 'input[1].content'"),
        (judged({"role": "user", "content": None}), "Invalid type"),
        (judged(messages=[]), "Unknown parameter: 'messages'"),
        (judged(store=True), "'store'"),
        (judged(temperature=3), "'temperature'"),
        (judged(max_output_tokens=1), "'max_output_tokens'"),
        (judged(reasoning={"effort": "huge"}), "effort"),
        (judged(tools=[{"type": "function", "function": TOOL}]), "'tools'"),
        (judged(tools=[TOOL]), "Invalid schema"),
        (judged(tools=[{**TOOL, "strict": True}]), "Invalid schema"),
    ],
)
def test_the_server_refuses_what_the_vendor_refuses(wrong: str | None, message: str) -> None:
    assert wrong is not None
    assert message in wrong


async def test_a_refused_request_reaches_the_client_as_status_400() -> None:
    async with talking(in_turn(response(called("run_tests")))) as talk:
        await talk.ask()
        with pytest.raises(ModelError, match="HTTP 400: No tool output found"):
            await talk.ask(UserMessage(content="Never mind."))
    assert len(talk.server.refusals) == 1


def test_the_servers_answers_are_what_the_sdk_knows() -> None:
    from openai.types.responses import Response

    answers = (
        response(reasoning(summary="x"), said("a", refusal="b"), called("f"), usage=counted(1, 1)),
        incomplete("max_output_tokens", said("a")),
        failed("server_error"),
    )
    for answer in answers:
        body = answer.body
        assert Response.model_validate(body).to_dict(mode="json", exclude_unset=True) == body
