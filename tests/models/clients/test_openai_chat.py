import asyncio
import gc
import gzip
import json
import time
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from chat_server import (
    ChatServer,
    Recorded,
    Reply,
    Script,
    completion,
    failure,
    html_page,
    in_turn,
    tool_call,
)
from for_each import for_each
from ports import deserted_port

from harness.models.clients import endpoint
from harness.models.clients.openai_chat import OpenAIChat
from harness.models.clients.retry import Pace, RetryPolicy
from harness.models.clients.timeouts import Timeouts
from harness.models.protocol import (
    AssistantMessage,
    ContextOverflowError,
    Message,
    ModelError,
    ModelSettings,
    Retry,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolSpec,
    Usage,
    UserMessage,
)

KEY = "sk-secretsecretsecret"
HELLO = (UserMessage(content="hello"),)
NO_SETTINGS = ModelSettings()
TOOL = ToolSpec(name="run_tests", description="Run.", parameters={"type": "object"})
WRITE = ToolSpec(name="write_solution", description="Write.", parameters={"type": "object"})


@dataclass
class Conversation:
    """A client at a server, and what its retries did."""

    server: ChatServer
    model: OpenAIChat
    retries: list[Retry] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)

    async def ask(self, messages: tuple[Message, ...] = HELLO, **settings: Any) -> Any:
        return await self.model.generate(
            messages, [TOOL], ModelSettings(**settings), self.retries.append
        )


@asynccontextmanager
async def talking(script: Script, **options: Any) -> AsyncIterator[Conversation]:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with ChatServer(script) as server:
        pace = Pace(sleep=sleep, jitter=lambda _high: 0.0)
        model = OpenAIChat(
            "m", model="m", base_url=server.base_url, api_key=KEY, pace=pace, **options
        )
        try:
            yield Conversation(server, model, slept=slept)
        finally:
            await model.close()


async def test_a_tool_conversation_goes_there_and_back() -> None:
    calls = [tool_call("run_tests", "{}", "a"), tool_call("run_tests", '{"x": 1}', "b")]
    script = in_turn(completion("Trying.", calls), completion("Done."))
    async with talking(script) as talk:
        opening = (SystemMessage(content="Be good."), UserMessage(content="Solve ∑ 🙂."))
        first = await talk.ask(opening)
        results = (
            ToolMessage(call_id="a", name="run_tests", content="1 failed"),
            ToolMessage(call_id="b", name="run_tests", content="bad arguments", is_error=True),
        )
        second = await talk.ask((*opening, first.message(), *results))
    assert first.stop.reason == "tool_use"
    assert [(c.id, c.name, c.arguments) for c in first.tool_calls] == [
        ("a", "run_tests", "{}"),
        ("b", "run_tests", '{"x": 1}'),
    ]
    assert (second.text, second.stop.reason, second.stop.provider_word) == (
        "Done.",
        "end_turn",
        "stop",
    )
    before, after = (request.body["messages"] for request in talk.server.requests)
    assert before == [
        {"role": "system", "content": "Be good."},
        {"role": "user", "content": "Solve ∑ 🙂."},
    ]
    assert after == [
        *before,
        {"role": "assistant", "content": "Trying.", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "a", "content": "1 failed"},
        {"role": "tool", "tool_call_id": "b", "content": "bad arguments"},
    ]


async def test_the_request_names_model_tools_and_key_and_nothing_unasked() -> None:
    async with talking(in_turn(completion("hi"))) as talk:
        await talk.ask()
    (request,) = talk.server.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.path == "/v1/chat/completions"
    assert set(request.body) == {"model", "messages", "tools"}
    assert request.body["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "run_tests",
                "description": "Run.",
                "parameters": {"type": "object"},
            },
        }
    ]


async def test_tools_are_left_out_where_there_are_none() -> None:
    async with talking(in_turn(completion("hi"))) as talk:
        await talk.model.generate(HELLO, [], NO_SETTINGS)
    assert set(talk.server.requests[0].body) == {"model", "messages"}


@for_each(
    ("setting", "sent"),
    [
        ({"temperature": 0.0}, {"temperature": 0.0}),
        ({"max_tokens": 7}, {"max_tokens": 7}),
        ({"reasoning_effort": "low"}, {"reasoning_effort": "low"}),
    ],
)
async def test_a_setting_is_sent_when_given(setting: dict[str, Any], sent: dict[str, Any]) -> None:
    async with talking(in_turn(completion("hi"))) as talk:
        await talk.ask(**setting)
    body = talk.server.requests[0].body
    assert {k: v for k, v in body.items() if k not in ("model", "messages", "tools")} == sent


async def test_usage_latency_and_request_id_are_reported() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 30,
        "prompt_tokens_details": {"cached_tokens": 64},
        "completion_tokens_details": {"reasoning_tokens": 20},
    }
    script = in_turn(completion("hi", usage=usage, headers={"x-request-id": "req_7"}))
    async with talking(script) as talk:
        turn = await talk.ask()
    assert turn.usage == Usage(
        input_tokens=100, cached_input_tokens=64, output_tokens=30, reasoning_tokens=20
    )
    assert turn.request_id == "req_7"
    assert 0 < turn.latency_s < 30


async def test_latency_is_that_of_the_attempt_that_succeeded() -> None:
    script = in_turn(failure(500, silence_s=0.3), completion("hi"))
    async with talking(script) as talk:
        started = time.perf_counter()
        turn = await talk.ask()
        elapsed = time.perf_counter() - started
    assert turn.latency_s <= elapsed - 0.3


async def test_the_body_id_stands_in_for_a_missing_request_id() -> None:
    async with talking(in_turn(completion("hi"))) as talk:
        assert (await talk.ask()).request_id == "chatcmpl-loopback"


# Failures that may pass


RETRIED = {
    "408": failure(408),
    "409": failure(409),
    "429": failure(429),
    "500": failure(500),
    "503 as a page": html_page(503),
    "529": failure(529),
    "reset": Reply(reset=True),
    "cut in the body": completion("hello", cut_after=20),
    "cut before the body": completion("hello", cut_after=0),
    "an error page with status 200": html_page(),
    "not JSON": Reply(body=b"{nope"),
    "an empty body": Reply(),
    "a list": Reply(body=[1]),
    "no choices": Reply(body={"choices": []}),
    "no message": Reply(body={"choices": [{"finish_reason": "stop"}]}),
    "an event stream": Reply(body=b"data: {}\n\n", content_type="text/event-stream"),
    "an error with status 200": Reply(body={"error": {"message": "upstream", "code": 502}}),
    "an upstream that broke off": completion("half", finish_reason="error"),
    "bad gzip": Reply(body=b"no gzip", headers={"content-encoding": "gzip"}),
    "told to": failure(400, headers={"x-should-retry": "true"}),
}


@for_each("fault", RETRIED.values())
async def test_a_failure_that_may_pass_is_retried(fault: Reply) -> None:
    async with talking(in_turn(fault, fault, completion("at last"))) as talk:
        turn = await talk.ask()
    assert turn.text == "at last"
    assert len(talk.server.requests) == 3
    assert [retry.attempt for retry in talk.retries] == [1, 2]
    assert all(retry.cause and "\n" not in retry.cause for retry in talk.retries)
    bodies = [request.body for request in talk.server.requests]
    assert bodies[0] == bodies[1] == bodies[2]


@for_each(
    ("fault", "attempts"),
    [(failure(500, "overloaded"), 5), (Reply(reset=True), 5), (Reply(body=b"{nope"), 3)],
    ids=["status", "reset", "malformed"],
)
async def test_a_failure_that_stays_ends_in_a_count(fault: Reply, attempts: int) -> None:
    async with talking(in_turn(fault), policy=RetryPolicy(attempts=5)) as talk:
        with pytest.raises(ModelError, match=rf"gave up after {attempts} attempts"):
            await talk.ask()
    assert len(talk.server.requests) == attempts
    assert len(talk.retries) == len(talk.slept) == attempts - 1


async def test_silence_is_cut_off_and_retried() -> None:
    script = in_turn(completion("late", silence_s=60), completion("now"))
    async with talking(script, timeouts=Timeouts(idle_s=0.2)) as talk:
        turn = await talk.ask()
        await talk.server.left()
    assert turn.text == "now"
    assert "in time" in talk.retries[0].cause


async def test_an_answer_that_trickles_is_cut_off_by_the_limit_of_the_whole() -> None:
    script = in_turn(completion("late", silence_s=60), completion("now"))
    async with talking(script, timeouts=Timeouts(request_s=0.2)) as talk:
        assert (await talk.ask()).text == "now"


async def test_nobody_listening_is_a_connection_error_that_names_the_address() -> None:
    with deserted_port() as port:
        address = f"http://127.0.0.1:{port}/v1"
        model = OpenAIChat(
            "m", model="m", base_url=address, api_key=KEY, policy=RetryPolicy(2, first_wait_s=0)
        )
        refused = rf"no connection to {address}: ConnectError.*2 attempts"
        with pytest.raises(ModelError, match=refused):
            await model.generate(HELLO, [], NO_SETTINGS)
        await model.close()


@pytest.mark.thorough
@pytest.mark.parametrize("encoded", [False, True], ids=["plain", "gzip bomb"])
async def test_an_absurdly_large_answer_is_refused(
    encoded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "MAX_ANSWER_BYTES", 2**20)
    bomb = Reply(body=gzip.compress(b"x" * 2**26), headers={"content-encoding": "gzip"})
    fault = bomb if encoded else Reply(padding=2**30)
    async with talking(in_turn(fault)) as talk:
        with pytest.raises(ModelError, match=r"larger than 1 MiB.*3 attempts"):
            await talk.ask()


async def test_an_absurdly_large_error_page_is_read_to_a_bound() -> None:
    page = Reply(body=b"too long ", status=500, padding=2**40)
    async with talking(in_turn(page), policy=RetryPolicy(attempts=1)) as talk:
        async with asyncio.timeout(60):
            with pytest.raises(ModelError, match="HTTP 500") as caught:
                await talk.ask()
    assert len(str(caught.value)) < 600


async def test_the_provider_says_how_long_to_wait() -> None:
    script = in_turn(
        failure(429, headers={"retry-after": "7"}),
        failure(429, headers={"retry-after-ms": "250", "retry-after": "9"}),
        completion("hi"),
    )
    async with talking(script) as talk:
        await talk.ask()
    assert talk.slept == [retry.wait_s for retry in talk.retries] == [7.0, 0.25]


# Failures that stay


@for_each("status", [301, 307, 400, 401, 402, 403, 404, 405, 413, 422])
async def test_a_failure_that_stays_fails_at_once_in_the_providers_words(status: int) -> None:
    async with talking(in_turn(failure(status, "you may\nnot"))) as talk:
        with pytest.raises(ModelError, match=f"HTTP {status}: you may not") as caught:
            await talk.ask()
    assert "\n" not in str(caught.value)
    assert len(talk.server.requests) == 1
    assert talk.retries == []


async def test_an_error_under_status_200_counts_as_the_status_it_names() -> None:
    refused = Reply(body={"error": {"message": "no such model", "code": 404}})
    async with talking(in_turn(refused)) as talk:
        with pytest.raises(ModelError, match="HTTP 404: no such model"):
            await talk.ask()
    assert len(talk.server.requests) == 1


async def test_an_error_under_status_200_without_a_status_is_told_in_its_words() -> None:
    async with talking(in_turn(Reply(body={"error": "upstream gone"}))) as talk:
        with pytest.raises(ModelError, match=r"upstream gone.*3 attempts"):
            await talk.ask()


async def test_a_redirect_is_not_followed_and_the_key_goes_nowhere_else() -> None:
    async with ChatServer(in_turn(completion("mine now"))) as other:
        there = f"{other.base_url}/chat/completions"
        async with talking(in_turn(failure(307, headers={"location": there}))) as talk:
            with pytest.raises(ModelError, match="redirect"):
                await talk.ask()
        assert other.requests == []


@for_each(
    "fault",
    [failure(429, code="insufficient_quota"), failure(503, headers={"x-should-retry": "false"})],
    ids=["no money", "told not to"],
)
async def test_a_retryable_status_that_cannot_pass_fails_at_once(fault: Reply) -> None:
    async with talking(in_turn(fault)) as talk:
        with pytest.raises(ModelError):
            await talk.ask()
    assert len(talk.server.requests) == 1


@for_each(
    "fault",
    [
        failure(400, "too much", code="context_length_exceeded"),
        failure(400, "This model's maximum context length is 4096 tokens. However, you ..."),
        failure(400, "the request exceeds the available context size, try increasing it"),
        failure(400, "prompt is too long: 210000 tokens > 200000 maximum"),
        failure(413, "Please reduce the length of the messages or completion."),
    ],
    ids=["code", "vllm", "llama.cpp", "anthropic", "groq"],
)
async def test_an_overflowing_context_has_an_error_of_its_own(fault: Reply) -> None:
    async with talking(in_turn(fault)) as talk:
        with pytest.raises(ContextOverflowError):
            await talk.ask()
    assert len(talk.server.requests) == 1


@for_each(
    "message", ["max_tokens is too large: 99999", "Invalid value: 'context'", "the input is empty"]
)
async def test_another_bad_request_is_no_overflow(message: str) -> None:
    async with talking(in_turn(failure(400, message))) as talk:
        with pytest.raises(ModelError) as caught:
            await talk.ask()
    assert not isinstance(caught.value, ContextOverflowError)


ECHOES: dict[str, Callable[[str], Reply]] = {
    "error": lambda key: failure(401, f"bad key {key}"),
    "page": lambda key: Reply(body=f"<p>{key}".encode(), status=403, content_type="text/html"),
    "long": lambda key: Reply(body=("x" * 395 + key).encode(), status=401),
    "retried": lambda key: failure(500, f"Authorization: Bearer {key}"),
    "malformed": lambda key: Reply(body=f"{key} is not JSON".encode()),
    "content type": lambda key: Reply(body=b"{", content_type=key),
    "within": lambda key: Reply(body={"error": f"key {key}"}),
    "overflow": lambda key: failure(400, f"{key}: prompt is too long"),
}


@for_each("echo", ECHOES.values())
async def test_the_key_is_in_no_message(echo: Callable[[str], Reply]) -> None:
    async with talking(in_turn(echo(KEY))) as talk:
        with pytest.raises(ModelError) as caught:
            await talk.ask()
    error_text = "".join(traceback.format_exception(caught.value))
    error_text += "".join(retry.cause for retry in talk.retries)
    assert KEY not in error_text
    assert KEY[:10] not in error_text


async def test_a_key_that_no_header_can_hold_is_an_error_without_the_key() -> None:
    async with ChatServer(in_turn(completion("hi"))) as server:
        for key in ("sk-abc\ndefghijk", "sk-äbcdefghijk"):
            model = OpenAIChat(
                "m",
                model="m",
                base_url=server.base_url,
                api_key=key,
                policy=RetryPolicy(attempts=1),
            )
            with pytest.raises(ModelError) as caught:
                await model.generate(HELLO, [], NO_SETTINGS)
            assert "bcdef" not in str(caught.value)
            assert "defgh" not in str(caught.value)
            await model.close()


async def test_a_password_in_the_address_is_in_no_message() -> None:
    model = OpenAIChat(
        "m",
        model="m",
        base_url="http://user:hunter2@127.0.0.1:9/v1?key=hunter3",
        api_key=KEY,
        policy=RetryPolicy(attempts=1),
    )
    with pytest.raises(ModelError) as caught:
        await model.generate(HELLO, [], NO_SETTINGS)
    assert "hunter" not in str(caught.value)
    await model.close()


async def test_a_password_that_the_server_repeats_is_not_told() -> None:
    message = "Basic Ym9iOnBAc3N3MHJkU2VjcmV0 and p@ssw0rdSecret and p%40ssw0rdSecret"
    async with ChatServer(in_turn(failure(400, message))) as server:
        there = server.base_url.replace("//", "//bob:p%40ssw0rdSecret@")
        model = OpenAIChat("m", model="m", base_url=there, api_key=KEY)
        with pytest.raises(ModelError) as caught:
            await model.generate(HELLO, [], NO_SETTINGS)
        await model.close()
    assert "ssw0rd" not in str(caught.value)
    assert "Ym9i" not in str(caught.value)


# Broken arguments in the history


BROKEN = '{"code": "pri'
HISTORY = (
    UserMessage(content="hello"),
    AssistantMessage(
        tool_calls=(
            ToolCall(id="a", name="run_tests", arguments=BROKEN),
            ToolCall(id="b", name="run_tests", arguments='{"x": 1}'),
        )
    ),
    ToolMessage(call_id="a", name="run_tests", content="no JSON", is_error=True),
    ToolMessage(call_id="b", name="run_tests", content="ok"),
)


def arguments_in(request: Recorded) -> list[str]:
    calls = (c for m in request.body["messages"] for c in m.get("tool_calls", ()))
    return [call["function"]["arguments"] for call in calls]


REFUSALS = {
    "vllm": failure(400, "Unterminated string starting at: line 1 column 10 (char 9)"),
    "llama.cpp": failure(500, "Failed to parse tool call arguments as JSON"),
}


@for_each("refusal", REFUSALS.values())
async def test_an_endpoint_that_refuses_broken_arguments_gets_them_wrapped(refusal: Reply) -> None:
    async with talking(in_turn(refusal, completion("go on"))) as talk:
        assert (await talk.ask(HISTORY)).text == "go on"
        assert len(talk.retries) == 1
        assert (await talk.ask(HISTORY)).text == "go on"
    first, second, third = talk.server.requests
    assert arguments_in(first) == [BROKEN, '{"x": 1}']
    assert arguments_in(second) == [json.dumps({"unparsed": BROKEN}), '{"x": 1}']
    assert third.body == second.body  # it has learnt
    assert len(talk.retries) == 1


async def test_a_refusal_that_wrapping_does_not_cure_is_told_and_not_learnt() -> None:
    async with talking(in_turn(failure(400, "no"), failure(400, "still no"))) as talk:
        for _ in range(2):
            with pytest.raises(ModelError, match="still no"):
                await talk.ask(HISTORY)
    assert arguments_in(talk.server.requests[2])[0] == BROKEN


@for_each("status", [401, 404])
async def test_other_refusals_are_not_tried_again(status: int) -> None:
    async with talking(in_turn(failure(status))) as talk:
        with pytest.raises(ModelError):
            await talk.ask(HISTORY)
    assert len(talk.server.requests) == 1


# Reasoning in the history


GROQ = "'messages.1' : for 'role:assistant' property 'reasoning_content' is unsupported"
REASONED = (
    UserMessage(content="hello"),
    AssistantMessage(
        text="Hm.",
        reasoning=(
            {"field": "reasoning_content", "value": "two and two"},
            {"field": "extra_content", "value": {"google": {"thought_signature": "c2ln/+=="}}},
        ),
    ),
    UserMessage(content="go on"),
)
REASONING_REFUSED = {
    "groq": failure(400, GROQ),
    "cerebras": failure(422, "messages.1.assistant.reasoning_content: Extra inputs not permitted"),
    "unnamed": failure(400, "Unknown field in messages[1]"),
    "beside tools": failure(400, "property 'reasoning_content' is unsupported with tools"),
}


@for_each("refusal", REASONING_REFUSED.values())
async def test_an_endpoint_that_refuses_reasoning_is_asked_without_it_from_then_on(
    refusal: Reply,
) -> None:
    async with talking(in_turn(refusal, completion("go on"))) as talk:
        assert (await talk.ask(REASONED)).text == "go on"
        assert len(talk.retries) == 1
        assert (await talk.ask(REASONED)).text == "go on"
    first, second, third = (request.body for request in talk.server.requests)
    assert first["messages"][1]["reasoning_content"] == "two and two"
    assert "reasoning_content" not in second["messages"][1]
    assert second["messages"][1]["extra_content"] == first["messages"][1]["extra_content"]
    assert third == second
    assert talk.retries[0].cause.endswith("(reasoning sent back)")


async def test_calls_that_a_server_left_in_the_reasoning_are_read() -> None:
    recorded = json.loads(Path(__file__).with_name("call_inside_reasoning.json").read_text())
    async with talking(in_turn(Reply(recorded), completion("Done."))) as talk:
        turn = await talk.model.generate(HELLO, (TOOL, WRITE), NO_SETTINGS)
        assert [call.name for call in turn.tool_calls] == ["write_solution", "run_tests"]
        results = [
            ToolMessage(call_id=call.id, name=call.name, content="ok") for call in turn.tool_calls
        ]
        await talk.model.generate((*HELLO, turn.message(), *results), (TOOL, WRITE), NO_SETTINGS)
    answer, *told = talk.server.requests[-1].body["messages"][1:]
    given = recorded["choices"][0]["message"]["reasoning_content"]
    assert answer["reasoning_content"] == given
    assert [call["id"] for call in answer["tool_calls"]] == [each["tool_call_id"] for each in told]


async def test_a_server_that_refuses_reasoning_and_broken_arguments_gets_neither() -> None:
    broken = HISTORY[1].model_copy(update={"reasoning": REASONED[1].reasoning[:1]})
    history = (HISTORY[0], broken, *HISTORY[2:])
    script = in_turn(failure(400, GROQ), failure(400, "Unterminated string"), completion("go on"))
    async with talking(script) as talk:
        assert (await talk.ask(history)).text == "go on"
    last = talk.server.requests[-1]
    assert "reasoning_content" not in last.body["messages"][1]
    assert arguments_in(last)[0] == json.dumps({"unparsed": BROKEN})


@for_each(
    ("history", "refusal"),
    [(HELLO, failure(400, GROQ)), (REASONED, failure(400, "temperature must be 1"))],
    ids=["no reasoning", "another fault"],
)
async def test_another_refusal_is_not_taken_for_one_of_reasoning(
    history: tuple[Message, ...], refusal: Reply
) -> None:
    async with talking(in_turn(refusal, completion("go on"))) as talk:
        with pytest.raises(ModelError):
            await talk.ask(history)
    assert len(talk.server.requests) == 1


async def test_the_signature_of_a_thought_goes_back_as_it_came() -> None:
    signature = {"google": {"thought_signature": "CpQB\u00e9/+=="}}
    on_the_call = {**tool_call("run_tests", {}, "a"), "extra_content": signature}
    answers = in_turn(
        completion("Words.", message={"extra_content": signature}),
        completion(None, [on_the_call], message={"extra_content": {"google": {"b": [1]}}}),
        completion("Done."),
    )
    async with talking(answers) as talk:
        first = await talk.ask()
        second = await talk.ask((*HELLO, first.message(), UserMessage(content="go on")))
        result = ToolMessage(call_id="a", name="run_tests", content="ok")
        again = AssistantMessage.model_validate_json(second.message().model_dump_json())
        await talk.ask((*HELLO, first.message(), UserMessage(content="go on"), again, result))
    sent = talk.server.requests[-1].body["messages"]
    assert sent[1] == {"role": "assistant", "content": "Words.", "extra_content": signature}
    assert sent[3]["extra_content"] == {"google": {"b": [1]}}
    assert sent[3]["tool_calls"][0]["extra_content"] == signature


# Life and death


async def test_a_cancelled_request_leaves_nothing_behind() -> None:
    never = asyncio.Event()
    script = in_turn(completion("never", until=never.wait), completion("hi"))
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


async def test_a_cancelled_wait_between_attempts_ends_the_call() -> None:
    waiting = asyncio.Event()

    async def sleep(_seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    async with ChatServer(in_turn(failure(500))) as server:
        model = OpenAIChat(
            "m", model="m", base_url=server.base_url, api_key=KEY, pace=Pace(sleep=sleep)
        )
        asking = asyncio.ensure_future(model.generate(HELLO, [], NO_SETTINGS))
        await waiting.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await model.close()
        assert len(server.requests) == 1


async def test_a_closed_client_says_so_and_closes_again_in_peace() -> None:
    async with talking(in_turn(completion("hi"))) as talk:
        await talk.ask()
        assert talk.server.open_connections == 1
        await talk.model.close()
        await talk.model.close()
        with pytest.raises(ModelError, match="closed"):
            await talk.ask()


async def test_fifty_calls_run_at_once_through_one_client() -> None:
    everyone = asyncio.Event()

    async def script(body: dict[str, Any], _n: int) -> Reply:
        await everyone.wait()
        return completion(body["messages"][0]["content"].upper())

    async with talking(script) as talk:
        asking = [
            asyncio.ensure_future(talk.ask((UserMessage(content=f"call {i}"),))) for i in range(50)
        ]
        await talk.server.arrived(50)  # none was answered: all are in flight
        everyone.set()
        turns = await asyncio.gather(*asking)
        assert talk.server.most_open_connections == 50
    assert [turn.text for turn in turns] == [f"CALL {i}" for i in range(50)]


async def test_connections_are_used_again() -> None:
    async with talking(in_turn(completion("hi"))) as talk:
        for _ in range(5):
            await talk.ask()
        assert talk.server.most_open_connections == 1


async def test_the_same_client_answers_for_every_sample(twice: Any) -> None:
    async with talking(in_turn(completion("hi"))) as talk:
        assert talk.model.for_sample(twice, 3) is talk.model
        assert talk.model.name == "m"


@for_each(
    ("base_url", "expected"),
    [
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("https://eu.api.openai.com/v1", "max_completion_tokens"),
        ("https://api.openai.com.evil.example/v1", "max_tokens"),
        ("http://localhost:8000/v1", "max_tokens"),
    ],
)
def test_the_token_limit_is_spelled_as_the_endpoint_spells_it(base_url: str, expected: str) -> None:
    body = OpenAIChat.body("m", base_url, HELLO, (), ModelSettings(max_tokens=7))
    assert {name: value for name, value in body.items() if "tokens" in name} == {expected: 7}


async def test_the_environment_changes_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other-other-other")
    async with talking(in_turn(completion("hi"))) as talk:
        await talk.ask()
    assert talk.server.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_text_that_utf8_cannot_carry_is_sent_with_replacement_characters() -> None:
    async with talking(in_turn(completion("hi"))) as talk:
        await talk.ask(
            (
                UserMessage(content="a\ud800b 🙂"),
                AssistantMessage(text="c\udfffd"),
                ToolMessage(call_id="1", name="t", content="e\ud83d"),
            )
        )
    sent = [message["content"] for message in talk.server.requests[0].body["messages"]]
    assert sent == ["a\ufffdb 🙂", "c\ufffdd", "e\ufffd"]


async def test_an_answer_cut_within_an_emoji_is_read() -> None:
    body = json.dumps(completion("ok").body).replace('"ok"', r'"half \ud83d, whole \ud83d\ude42"')
    async with talking(in_turn(Reply(body=body.encode()))) as talk:
        assert (await talk.ask()).text == "half \ufffd, whole 🙂"


async def test_a_good_body_under_a_wrong_content_type_is_read() -> None:
    async with talking(in_turn(completion("ok", content_type="text/plain"))) as talk:
        assert (await talk.ask()).text == "ok"
