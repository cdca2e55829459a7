"""What servers say instead of an answer, over real HTTP, in all protocols."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import messages_server
import pytest
import responses_server
from chat_server import ChatServer, Json, Reply, Script, completion, failure, in_turn, tool_call
from for_each import for_each
from messages_server import MessagesServer
from responses_server import ResponsesServer

from harness.models.clients.anthropic_messages import AnthropicMessages
from harness.models.clients.client import Client
from harness.models.clients.openai_chat import OpenAIChat
from harness.models.clients.openai_responses import OpenAIResponses
from harness.models.clients.retry import Pace, RetryPolicy
from harness.models.protocol import (
    ContextOverflowError,
    ModelError,
    ModelSettings,
    ModelTurn,
    Retry,
    Usage,
    UserMessage,
)

HELLO = (UserMessage(content="hello"),)
TEN = {"prompt_tokens": 7, "completion_tokens": 3}
WIRES: dict[str, tuple[type[ChatServer], type[Client], Reply]] = {
    "chat": (ChatServer, OpenAIChat, completion("hello", usage=TEN)),
    "responses": (
        ResponsesServer,
        OpenAIResponses,
        responses_server.response(
            responses_server.said("hello"), usage=responses_server.counted(7, 3)
        ),
    ),
    "messages": (
        MessagesServer,
        AnthropicMessages,
        messages_server.message("hello", usage={"input_tokens": 7, "output_tokens": 3}),
    ),
}
GOOD = WIRES["chat"][2]
every_wire = pytest.mark.parametrize("wire", WIRES)
EVENTS = "text/event-stream"


@dataclass
class Talk:
    """A client at a server; its waits pass at once, and its clock counts them."""

    server: ChatServer
    model: Client
    retries: list[Retry] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    async def ask(self, **settings: Any) -> ModelTurn:
        return await self.model.generate(HELLO, (), ModelSettings(**settings), self.retries.append)


@asynccontextmanager
async def talking(wire: str, script: Script, **options: Any) -> AsyncIterator[Talk]:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    server_of, client_of, _ = WIRES[wire]
    async with server_of(script) as server:
        model = client_of(
            "m",
            model="m",
            base_url=server.base_url,
            api_key="sk-of-nobody-at-all",
            pace=Pace(sleep=sleep, clock=lambda: sum(waits), jitter=lambda high: high),
            **options,
        )
        try:
            yield Talk(server, model, waits=waits)
        finally:
            await model.close()


def streamed(*events: Json, mark: bool = False) -> Reply:
    """Return a stream of these events, with or without its end mark."""
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    return Reply(body=(body + "data: [DONE]\n\n" * mark).encode(), content_type=EVENTS)


class TestOverflow:
    WORDS = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)"

    @every_wire
    @pytest.mark.parametrize("status", [400, 413, 422, 500])
    async def test_an_overflow_is_known_at_every_status(self, wire: str, status: int) -> None:
        body = [{"error": {"code": status, "message": self.WORDS}}]
        async with talking(wire, in_turn(Reply(body=body, status=status))) as talk:
            with pytest.raises(ContextOverflowError, match="The input token count"):
                await talk.ask()
        assert len(talk.server.requests) == 1

    async def test_an_error_under_status_200_is_one(self) -> None:
        message = "Context size has been exceeded."
        async with talking("chat", in_turn(Reply(body={"error": message}))) as talk:
            with pytest.raises(ContextOverflowError, match=message):
                await talk.ask()
        assert len(talk.server.requests) == 1

    @for_each(
        ("wire", "event"),
        [
            ("chat", {"error": {"message": WORDS}}),
            ("chat", {"error": {"message": WORDS, "code": "400"}}),
            ("messages", {"type": "error", "error": {"type": "api_error", "message": WORDS}}),
            (
                "responses",
                {
                    "type": "response.failed",
                    "response": {
                        "status": "failed",
                        "error": {"code": "server_error", "message": WORDS},
                    },
                },
            ),
        ],
    )
    async def test_an_error_within_a_stream_is_one(self, wire: str, event: Json) -> None:
        async with talking(wire, in_turn(streamed(event))) as talk:
            with pytest.raises(ContextOverflowError):
                await talk.ask()
        assert len(talk.server.requests) == 1


WROTE = '<function=write_solution{"code": "print(0)"}</function>'
FAILED_CALL: Json = {
    "message": "Failed to call a function. See 'failed_generation' for more details.",
    "type": "invalid_request_error",
    "code": "tool_use_failed",
    "failed_generation": WROTE,
}


class TestFailedCall:
    """A provider that could not read the model's call sends what the model wrote (Groq)."""

    async def test_what_the_model_wrote_is_its_answer(self) -> None:
        refused = Reply(body={"error": FAILED_CALL}, status=400)
        async with talking("chat", in_turn(refused)) as talk:
            turn = await talk.ask()
        assert (turn.text, turn.tool_calls, turn.usage) == (WROTE, (), None)
        assert turn.stop.provider_word == "tool_use_failed"
        assert len(talk.server.requests) == 1

    async def test_a_failed_call_within_a_stream_has_its_tokens(self) -> None:
        begun = {"choices": [{"delta": {"content": ""}}], "usage": TEN}
        error = {"error": {**FAILED_CALL, "status_code": 400}}
        async with talking("chat", in_turn(streamed(begun, error))) as talk:
            turn = await talk.ask()
        assert (turn.text, turn.usage) == (WROTE, Usage(input_tokens=7, output_tokens=3))

    async def test_a_failed_call_without_its_text_is_an_empty_answer(self) -> None:
        refused = failure(400, "Failed to call a function.", "tool_use_failed")
        async with talking("chat", in_turn(refused)) as talk:
            assert (await talk.ask()).text == ""


RENAMED = failure(
    400,
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    "'max_completion_tokens' instead.",
    "unsupported_parameter",
)


async def test_an_endpoint_that_asks_for_the_newer_field_gets_it_from_then_on() -> None:
    async with talking("chat", in_turn(RENAMED, GOOD)) as talk:
        await talk.ask(max_tokens=90)
        await talk.ask(max_tokens=90)
    sent = [request.body for request in talk.server.requests]
    assert [body.get("max_tokens") for body in sent] == [90, None, None]
    assert [body.get("max_completion_tokens") for body in sent] == [None, 90, 90]
    assert [retry.cause.endswith("(max_completion_tokens sent)") for retry in talk.retries] == [
        True
    ]


async def test_one_that_asks_for_it_of_a_request_without_a_limit_is_told_so() -> None:
    async with talking("chat", in_turn(RENAMED)) as talk:
        with pytest.raises(ModelError, match="max_completion_tokens"):
            await talk.ask()
    assert len(talk.server.requests) == 1


class TestUsage:
    @for_each(
        ("wire", "zero"),
        [
            ("chat", completion("hello", usage={"prompt_tokens": 0, "completion_tokens": 0})),
            ("chat", completion("hello", usage={"prompt_tokens": 0, "completion_tokens": 9})),
            ("chat", completion("hello", usage={"prompt_tokens": 9, "completion_tokens": 0})),
            ("chat", completion("hello", usage={"prompt_tokens": -9, "completion_tokens": 3})),
            ("chat", completion("hello", usage={"prompt_tokens": "9", "completion_tokens": "3"})),
            ("chat", completion("hello", usage={"prompt_tokens": 9, "completion_tokens": 10**15})),
            (
                "responses",
                responses_server.response(
                    responses_server.said("hello"), usage=responses_server.counted(0, 0)
                ),
            ),
            (
                "messages",
                messages_server.message("hello", usage={"input_tokens": 0, "output_tokens": 0}),
            ),
        ],
    )
    async def test_zero_tokens_are_unknown(self, wire: str, zero: Reply) -> None:
        async with talking(wire, in_turn(zero)) as talk:
            assert (await talk.ask()).usage is None

    async def test_an_empty_answer_may_have_no_output(self) -> None:
        empty = completion("", usage={"prompt_tokens": 9, "completion_tokens": 0})
        async with talking("chat", in_turn(empty)) as talk:
            assert (await talk.ask()).usage == Usage(input_tokens=9)


class TestBrokenOff:
    @every_wire
    async def test_a_stream_that_is_cut_may_be_billed(self, wire: str) -> None:
        good = WIRES[wire][2]
        async with talking(wire, in_turn(replace(good, cut_after=200), good)) as talk:
            await talk.ask()
        (retry,) = talk.retries
        assert (retry.cut, retry.usage) == (True, None)
        assert "the answer broke off" in retry.cause

    async def test_an_answer_in_one_piece_that_is_cut_may_be_billed(self) -> None:
        cut = replace(GOOD, whole=True, cut_after=20)
        async with talking("chat", in_turn(cut, GOOD)) as talk:
            await talk.ask()
        assert [retry.cut for retry in talk.retries] == [True]

    async def test_a_stream_that_ends_early_may_be_billed(self) -> None:
        early = streamed({"choices": [{"delta": {"content": "Half of"}}]})
        async with talking("chat", in_turn(early, GOOD)) as talk:
            await talk.ask()
        assert [(retry.cut, retry.malformed) for retry in talk.retries] == [(True, True)]

    async def test_a_connection_that_fails_before_an_answer_is_not(self) -> None:
        async with talking("chat", in_turn(Reply(reset=True), GOOD)) as talk:
            await talk.ask()
        assert [retry.cut for retry in talk.retries] == [None]

    async def test_the_last_one_may_be_billed_too(self) -> None:
        early = streamed({"choices": [{"delta": {"content": "Half of"}}]})
        async with talking("chat", in_turn(GOOD, early)) as talk:
            await talk.ask()
            with pytest.raises(ModelError) as caught:
                await talk.ask()
        assert caught.value.cut


class TestLoading:
    LOADING = failure(503, "Loading model", "unavailable_error")

    async def test_a_loading_server_is_waited_for_beyond_the_number_of_attempts(self) -> None:
        script = in_turn(*[self.LOADING] * 20, failure(500), GOOD)
        async with talking("chat", script, policy=RetryPolicy(attempts=2)) as talk:
            assert (await talk.ask()).text == "hello"
        assert talk.waits == [5.0] * 20 + [0.5]
        assert [retry.loading for retry in talk.retries] == [True] * 20 + [None]
        assert not any(retry.throttled for retry in talk.retries)

    async def test_the_wait_has_an_end(self) -> None:
        async with talking("chat", in_turn(self.LOADING), policy=RetryPolicy(total_s=60)) as talk:
            with pytest.raises(ModelError, match="Loading model") as caught:
                await talk.ask()
        assert caught.value.unavailable
        assert sum(talk.waits) == 60.0


class TestAccount:
    """A wrong key or an empty account, which some providers report with status 400."""

    @for_each(
        ("wire", "refusal"),
        [
            (
                "chat",
                Reply(
                    body=[
                        {"error": {"code": 400, "message": "API key not valid. Please pass one."}}
                    ],
                    status=400,
                ),
            ),
            (
                "chat",
                Reply(body={"code": "bad", "error": "Incorrect API key provided"}, status=400),
            ),
            (
                "messages",
                messages_server.error(
                    400,
                    "invalid_request_error",
                    "Your credit balance is too low to access the Anthropic API.",
                ),
            ),
        ],
    )
    async def test_an_account_error_stops_the_run_even_after_answers(
        self, wire: str, refusal: Reply
    ) -> None:
        async with talking(wire, in_turn(WIRES[wire][2], refusal)) as talk:
            await talk.ask()
            with pytest.raises(ModelError) as caught:
                await talk.ask()
        assert caught.value.stops_run
        assert len(talk.server.requests) == 2


async def test_a_wait_named_in_the_body_is_kept() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}]
    error = {"code": 429, "message": "You exceeded your current quota.", "details": details}
    limited = Reply(body=[{"error": error}], status=429)
    async with talking("chat", in_turn(limited, GOOD)) as talk:
        await talk.ask()
    assert [retry.wait_s for retry in talk.retries] == [34.0 + 3.4]


@every_wire
@pytest.mark.parametrize("fault", [failure(500), failure(429), failure(408), Reply(reset=True)])
async def test_every_request_is_one_of_ours(wire: str, fault: Reply) -> None:
    """The SDKs' own retries are off."""
    policy = RetryPolicy(attempts=3, limited_attempts=3)
    async with talking(wire, in_turn(fault), policy=policy) as talk:
        with pytest.raises(ModelError, match="3 attempts"):
            await talk.ask()
    assert len(talk.server.requests) == 3


async def test_arguments_as_an_object_are_read_in_the_responses_api() -> None:
    call = {**responses_server.called("write_solution"), "arguments": {"code": "print(0)"}}
    async with talking("responses", in_turn(responses_server.response(call))) as talk:
        turn = await talk.ask()
    assert [call.arguments for call in turn.tool_calls] == ['{"code":"print(0)"}']


ODD_CHAT: dict[str, Json] = {
    "no message": {"choices": [{"index": 0}]},
    "no choices": {"choices": []},
    "null choices": {"choices": None},
    "a text as choice": {"choices": ["hello"]},
}


@for_each("body", ODD_CHAT.values(), ids=ODD_CHAT)
async def test_an_answer_without_an_answer_is_malformed(body: Json) -> None:
    async with talking("chat", in_turn(Reply(body=body), GOOD)) as talk:
        assert (await talk.ask()).text == "hello"
    assert [retry.malformed for retry in talk.retries] == [True]


@for_each(
    ("raw_message", "text"),
    [
        ({"content": []}, ""),
        ({"content": [{"type": "text", "text": "a"}, "b", {"type": "image"}]}, "ab"),
        ({"content": 5}, ""),
        ({"content": "a", "tool_calls": None}, "a"),
        ({"content": "a", "tool_calls": {}}, "a"),
        ({"content": None, "reasoning": "hm", "reasoning_content": "hm"}, ""),
    ],
)
async def test_an_answer_of_an_odd_shape_is_read(raw_message: Json, text: str) -> None:
    reply = replace(completion(None, message=raw_message, finish_reason="whatever"), whole=True)
    async with talking("chat", in_turn(reply)) as talk:
        turn = await talk.ask()
    assert (turn.text, turn.tool_calls, turn.stop.reason) == (text, (), "other")


async def test_calls_of_odd_shapes_have_ids_and_arguments() -> None:
    calls: list[Any] = [
        tool_call("f", call_id=None),
        tool_call("f", call_id="same"),
        tool_call("f", call_id="same"),
        {"id": 5, "function": {"name": "f", "arguments": None}},
        {"id": "a", "function": {"name": "f", "arguments": {"x": 1}}},
        {"id": "b", "function": {"name": None, "arguments": ["x"]}},
        {"id": "c"},
        None,
    ]
    reply = replace(completion(None, calls), whole=True)
    async with talking("chat", in_turn(reply)) as talk:
        turn = await talk.ask()
    assert len({call.id for call in turn.tool_calls}) == len(calls)
    assert [call.arguments for call in turn.tool_calls][3:] == [
        "{}",
        '{"x":1}',
        '["x"]',
        "{}",
        "{}",
    ]
