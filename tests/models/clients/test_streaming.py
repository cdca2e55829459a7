"""Streamed answers: the same turns as without, and endpoints that do not stream."""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2
import messages_server
import pytest
import responses_server
from chat_server import ChatServer, Json, Reply, Script, completion, failure, in_turn, tool_call
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st
from messages_server import MessagesServer
from responses_server import ResponsesServer

from harness.models.clients.anthropic_messages import AnthropicMessages, MessagesStream
from harness.models.clients.client import Client
from harness.models.clients.event_stream import EventReader
from harness.models.clients.openai_chat import ChatStream, OpenAIChat
from harness.models.clients.openai_responses import OpenAIResponses
from harness.models.clients.retry import Pace, RetryPolicy
from harness.models.clients.timeouts import Timeouts
from harness.models.faults import MalformedAnswerError
from harness.models.protocol import (
    ModelError,
    ModelSettings,
    ModelTurn,
    Retry,
    Usage,
    UserMessage,
)

CHAT_USAGE = {
    "prompt_tokens": 700,
    "completion_tokens": 30,
    "prompt_tokens_details": {"cached_tokens": 64},
    "completion_tokens_details": {"reasoning_tokens": 12},
}
CALLS = [
    tool_call("write_solution", {"code": "print('∑ 🙂')\n" * 9}, "call_a"),
    {**tool_call("run_tests", "{broken", "call_b"), "extra_content": {"google": {"sig": "c2ln="}}},
]
COUNTED = {"input_tokens": 700, "output_tokens": 30, "cache_read_input_tokens": 64}

CHAT: dict[str, Reply] = {
    "text": completion("Hello, wörld 🙂.", usage=CHAT_USAGE),
    "an empty text": completion("", usage=CHAT_USAGE),
    "calls": completion("Trying.", CALLS, usage=CHAT_USAGE),
    "calls alone": completion(None, CALLS, usage=CHAT_USAGE),
    "reasoning": completion(
        "So.", CALLS, usage=CHAT_USAGE, message={"reasoning_content": "Let me think. " * 5}
    ),
    "reasoning details": completion(
        "So.",
        usage=CHAT_USAGE,
        message={
            "reasoning": "Hm, hm.",
            "reasoning_details": [
                {"type": "reasoning.text", "text": "Hm", "signature": "c2ln", "index": 0},
                {"type": "reasoning.encrypted", "data": "gAAAA+/==", "index": 1},
            ],
        },
    ),
    "parts": completion(
        None,
        usage=CHAT_USAGE,
        message={
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
                {"type": "text", "text": "So."},
            ]
        },
    ),
    "a refusal": completion(None, usage=CHAT_USAGE, message={"refusal": "I will not."}),
    "cut off": completion("Half of", finish_reason="length", usage=CHAT_USAGE),
}
RESPONSES: dict[str, Reply] = {
    "text": responses_server.response(
        responses_server.said("Hello, wörld 🙂."), usage=responses_server.counted(700, 30)
    ),
    "reasoning and calls": responses_server.response(
        responses_server.reasoning(summary="Hm."),
        responses_server.said("Trying.", phase="commentary"),
        responses_server.called("run_tests", "{broken", "call_a"),
        {"type": "unknown_item", "id": "x_1", "blob": "b" * 99},
        usage=responses_server.counted(700, 30, cached=64, thought=12),
    ),
    "cut off": responses_server.incomplete(
        "max_output_tokens",
        responses_server.said("Half of"),
        usage=responses_server.counted(700, 30),
    ),
}
MESSAGES: dict[str, Reply] = {
    "text": messages_server.message("Hello, wörld 🙂.", usage=COUNTED),
    "thinking and calls": messages_server.message(
        messages_server.thinking("Let me think. " * 5, "c2lnbmVk+/=="),
        messages_server.redacted("gAAAA+/=="),
        "Trying.",
        messages_server.tool_use("write_solution", {"code": "print('∑ 🙂')\n" * 9}, "toolu_1"),
        messages_server.tool_use("run_tests", {}, "toolu_2"),
        usage=COUNTED,
    ),
    "a refusal": messages_server.message(
        "No.", stop_reason="refusal", usage=COUNTED, fields={"stop_details": {"type": "refusal"}}
    ),
    "cut off": messages_server.message("Half of", stop_reason="max_tokens", usage=COUNTED),
}
ANSWERS = {
    f"{wire}: {name}": (wire, reply)
    for wire, replies in (("chat", CHAT), ("responses", RESPONSES), ("messages", MESSAGES))
    for name, reply in replies.items()
}
WIRES: dict[str, tuple[type[ChatServer], type[Client]]] = {
    "chat": (ChatServer, OpenAIChat),
    "responses": (ResponsesServer, OpenAIResponses),
    "messages": (MessagesServer, AnthropicMessages),
}
every_wire = pytest.mark.parametrize("wire", WIRES)


@dataclass
class Talk:
    server: ChatServer
    model: Client
    retries: list[Retry] = field(default_factory=list)

    async def ask(self) -> ModelTurn:
        hello = (UserMessage(content="hello"),)
        return await self.model.generate(hello, (), ModelSettings(), self.retries.append)

    @property
    def streams(self) -> list[bool]:
        return [request.stream for request in self.server.requests]


@asynccontextmanager
async def talking(wire: str, script: Script, **options: Any) -> AsyncIterator[Talk]:
    async def sleep(seconds: float) -> None:
        del seconds

    server_of, client_of = WIRES[wire]
    async with server_of(script) as server:
        model = client_of(
            *("m",),
            model="m",
            base_url=server.base_url,
            api_key="sk-of-nobody-at-all",
            pace=Pace(sleep=sleep),
            **options,
        )
        try:
            yield Talk(server, model)
        finally:
            await model.close()


def plain(turn: ModelTurn) -> ModelTurn:
    return turn.model_copy(update={"latency_s": 0.0})


@for_each(("wire", "reply"), ANSWERS.values(), ids=ANSWERS)
async def test_a_turn_is_the_same_streamed_and_in_one_piece(wire: str, reply: Reply) -> None:
    async with talking(wire, in_turn(reply, replace(reply, whole=True))) as talk:
        streamed, whole = await talk.ask(), await talk.ask()
    assert talk.streams == [True, True]
    assert plain(streamed) == plain(whole)
    assert streamed.model_dump_json(exclude={"latency_s"}) == whole.model_dump_json(
        exclude={"latency_s"}
    ), "in the same order, too"
    assert streamed.usage is not None
    assert (streamed.usage.input_tokens, streamed.usage.output_tokens) == (
        (764, 30) if wire == "messages" else (700, 30)
    )


async def test_chat_completions_are_asked_for_their_usage() -> None:
    async with talking("chat", in_turn(CHAT["text"])) as talk:
        await talk.ask()
    (request,) = talk.server.requests
    assert (request.stream, request.stream_options) == (True, {"include_usage": True})


class TestEndpointsThatDoNot:
    @for_each("how", ["refused", "options refused"])
    async def test_an_endpoint_that_refuses_streaming_is_asked_without_it_from_then_on(
        self, how: Any
    ) -> None:
        async with talking("chat", in_turn(CHAT["calls"])) as talk:
            talk.server.streaming = how
            for _ in range(2):
                assert (await talk.ask()).usage is not None
        assert talk.streams == [True, False, False]
        (retry,) = talk.retries
        assert "streaming is refused" in retry.cause
        assert retry.wait_s == 0

    @every_wire
    @pytest.mark.parametrize(
        ("status", "reason"),
        [
            (400, "Your organization must be verified to stream this model."),
            (500, "Cannot use tools with stream"),
            (400, "tools are not supported in streaming mode"),
        ],
    )
    async def test_refusals_in_other_words(self, wire: str, status: int, reason: str) -> None:
        good = {"chat": CHAT, "responses": RESPONSES, "messages": MESSAGES}[wire]["text"]
        async with talking(wire, in_turn(failure(status, reason), good)) as talk:
            assert (await talk.ask()).text.startswith("Hello")
        assert talk.streams == [True, False]

    async def test_an_endpoint_without_usage_in_its_stream_is_asked_without_streaming(self) -> None:
        async with talking("chat", in_turn(CHAT["text"])) as talk:
            talk.server.streaming = "without usage"
            assert [(await talk.ask()).usage is None for _ in range(3)] == [True, False, False]
        assert talk.streams == [True, False, False]

    async def test_an_endpoint_that_never_streamed_well_is_not_asked_to_stream_again(self) -> None:
        broken = Reply(body=b"data: {nope\n\n", content_type="text/event-stream")
        async with talking("chat", in_turn(broken, CHAT["text"])) as talk:
            await talk.ask()
        assert talk.streams == [True, False]

    async def test_an_answer_in_one_piece_is_read_as_one(self) -> None:
        async with talking("chat", in_turn(CHAT["calls"])) as talk:
            talk.server.streaming = "ignored"
            assert len((await talk.ask()).tool_calls) == 2
            await talk.ask()
        assert talk.streams == [True, True]


class TestTime:
    @pytest.mark.thorough
    async def test_an_answer_may_take_longer_than_any_silence(self) -> None:
        async def token() -> None:
            await asyncio.sleep(0.05)

        slow = replace(CHAT["reasoning"], before_event=token)
        timeouts = Timeouts(idle_s=1.0)
        async with talking("chat", in_turn(slow), timeouts=timeouts) as talk:
            turn = await talk.ask()
        assert turn.latency_s > 1.0
        assert len(talk.server.requests) == 1

    @pytest.mark.thorough
    async def test_a_stream_that_falls_silent_is_given_up(self) -> None:
        never = asyncio.Event()
        sent = 0

        async def first_two() -> None:
            nonlocal sent
            sent += 1
            if sent == 3:
                await never.wait()

        script = in_turn(replace(CHAT["text"], before_event=first_two), CHAT["text"])
        async with talking("chat", script, timeouts=Timeouts(idle_s=1.0)) as talk:
            assert (await talk.ask()).text
            (retry,) = talk.retries
            assert "no answer in time" in retry.cause
            assert "--set idle_timeout" in retry.cause
            assert retry.cut, "it may be billed"
            never.set()

    @pytest.mark.thorough
    async def test_a_stream_that_never_ends_is_read_until_its_last_event(self) -> None:
        body = json.dumps({"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]})
        usage = json.dumps({"choices": [], "usage": CHAT_USAGE})
        events = f"data: {body}\n\ndata: {usage}\n\ndata: [DONE]\n\n".encode()
        endless = Reply(
            body=events,
            content_type="text/event-stream",
            headers={"content-length": str(len(events) + 9)},
        )
        async with talking("chat", in_turn(endless)) as talk:
            turn = await talk.ask()
        assert (turn.text, turn.usage is not None) == ("hi", True)

    @pytest.mark.skipif(sys.platform != "linux", reason="the names of the options are Linux's")
    async def test_connections_are_kept_alive(self) -> None:
        async with talking("chat", in_turn(CHAT["text"])) as talk:
            http = talk.model._endpoint.http  # pyright: ignore[reportPrivateUsage]
            async with http.stream("POST", talk.server.base_url + "/chat/completions") as response:
                assert isinstance(response, httpx2.Response)
                stream = response.extensions["network_stream"]
                sock = stream.get_extra_info("socket")
                assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
                assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 60

    @pytest.mark.parametrize(("idle_s", "connections"), [(3.0, 1), (0.0, 2)])
    async def test_a_connection_is_used_again_until_it_is_idle_too_long(
        self, idle_s: float, connections: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.models.clients.connections.IDLE_S", idle_s)
        ports = set[int]()
        async with talking("chat", in_turn(CHAT["text"], CHAT["text"])) as talk:
            http = talk.model._endpoint.http  # pyright: ignore[reportPrivateUsage]
            for _ in range(2):
                url = talk.server.base_url + "/chat/completions"
                async with http.stream("POST", url) as response:
                    assert isinstance(response, httpx2.Response)
                    stream = response.extensions["network_stream"]
                    ports.add(stream.get_extra_info("client_addr")[1])
                    await response.aread()
        assert len(ports) == connections


class TestFaults:
    @every_wire
    async def test_a_stream_that_breaks_off_is_asked_again(self, wire: str) -> None:
        good = {"chat": CHAT, "responses": RESPONSES, "messages": MESSAGES}[wire]["text"]
        broken = replace(good, cut_after=200)
        async with talking(wire, in_turn(broken, good)) as talk:
            assert (await talk.ask()).text.startswith("Hello")
        assert talk.streams == [True, True]
        assert len(talk.retries) == 1

    async def test_a_stream_that_ends_early_is_no_answer(self) -> None:
        half = json.dumps({"choices": [{"delta": {"content": "Half of"}}]})
        early = Reply(body=f"data: {half}\n\n".encode(), content_type="text/event-stream")
        async with talking("chat", in_turn(early, CHAT["text"])) as talk:
            assert (await talk.ask()).text.startswith("Hello")
            (retry,) = talk.retries
            assert "the stream ended before the answer was complete" in retry.cause

    @for_each(
        ("wire", "event", "status"),
        [
            ("chat", {"error": {"message": "overloaded", "code": 529}}, 529),
            (
                "messages",
                {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
                529,
            ),
            ("responses", {"type": "error", "code": "server_error", "message": "oh"}, None),
        ],
    )
    async def test_an_error_within_a_stream_is_one(
        self, wire: str, event: Json, status: int | None
    ) -> None:
        body = f"event: error\ndata: {json.dumps(event)}\n\n".encode()
        broken = Reply(body=body, content_type="text/event-stream")
        good = {"chat": CHAT, "responses": RESPONSES, "messages": MESSAGES}[wire]["text"]
        async with talking(wire, in_turn(broken, good)) as talk:
            await talk.ask()
        assert [retry.status for retry in talk.retries] == [status]

    async def test_what_a_failed_response_used_is_told(self) -> None:
        failed = responses_server.failed("server_error")
        reply = Reply(body={**failed.body, "usage": {"input_tokens": 7, "output_tokens": 3}})
        options = {"policy": RetryPolicy(attempts=1)}
        async with talking("responses", in_turn(reply), **options) as talk:
            with pytest.raises(ModelError) as caught:
                await talk.ask()
        assert caught.value.usage == Usage(input_tokens=7, output_tokens=3)

    async def test_an_absurdly_large_stream_is_refused(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.models.clients.endpoint.MAX_ANSWER_BYTES", 1_000)
        large = completion("x" * 2_000, usage=CHAT_USAGE)
        async with talking("chat", in_turn(large)) as talk:
            with pytest.raises(ModelError, match="larger than"):
                await talk.ask()


def chunks(*deltas: Json) -> Json:
    stream = ChatStream()
    for delta in deltas:
        stream.add({"choices": [{"index": 0, "delta": delta}]})
    return stream.answer()["choices"][0]["message"]


class TestChunksAsServersSendThem:
    def test_a_name_or_id_that_stands_in_every_chunk_is_not_repeated(self) -> None:
        piece = {"index": 0, "id": "a", "type": "function"}
        message = chunks(
            {"tool_calls": [{**piece, "function": {"name": "run", "arguments": '{"x"'}}]},
            {"tool_calls": [{**piece, "function": {"name": "run", "arguments": ": 1}"}}]},
        )
        function = {"name": "run", "arguments": '{"x": 1}'}
        assert message["tool_calls"] == [{"id": "a", "type": "function", "function": function}]

    @for_each("index", [{"index": 0}, {}], ids=["the same index", "no index"])
    def test_calls_are_told_apart_by_their_ids(self, index: Json) -> None:
        message = chunks(
            {"tool_calls": [{**index, "id": "a", "function": {"name": "x", "arguments": "{}"}}]},
            {"tool_calls": [{**index, "id": "b", "function": {"name": "y", "arguments": "{}"}}]},
        )
        assert [call["id"] for call in message["tool_calls"]] == ["a", "b"]

    def test_thinking_blocks_without_places_end_with_their_signature(self) -> None:
        message = chunks(
            {"thinking_blocks": [{"type": "thinking", "thinking": "Let me "}]},
            {"thinking_blocks": [{"type": "thinking", "thinking": "see."}]},
            {"thinking_blocks": [{"type": "thinking", "thinking": "", "signature": "c2ln"}]},
            {"thinking_blocks": [{"type": "thinking", "thinking": "Again."}]},
        )
        assert message["thinking_blocks"] == [
            {"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"},
            {"type": "thinking", "thinking": "Again."},
        ]

    def test_text_may_follow_parts(self) -> None:
        message = chunks(
            {"content": ""},
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}]},
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "."}]}]},
            {"content": "So"},
            {"content": "."},
        )
        assert message["content"] == [
            {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
            {"type": "text", "text": "So."},
        ]


def test_a_call_that_was_cut_off_keeps_its_broken_arguments() -> None:
    stream = MessagesStream()
    begun = {"type": "tool_use", "id": "t", "name": "write", "input": {}}
    for event in (
        {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": begun},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": '{"code": "pri'},
        },
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}},
        {"type": "message_stop"},
    ):
        stream.add(event)
    assert stream.answer()["content"] == [{**begun, "input": '{"code": "pri'}]


FIELDS = st.sampled_from(
    [
        *("choices", "delta", "index", "content", "tool_calls", "function", "arguments", "id"),
        *("error", "usage", "type", "message", "content_block", "partial_json", "text", "response"),
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.thorough
@given(st.lists(st.dictionaries(FIELDS, JSON, max_size=5), max_size=6))
def test_any_stream_is_an_answer_or_malformed(events: list[Json]) -> None:
    for assembler_of in (ChatStream, MessagesStream):
        assembler = assembler_of()
        try:
            for event in events:
                assembler.add(event)
            assert isinstance(assembler.answer(), dict)
        except MalformedAnswerError:
            pass


@given(st.lists(st.text(alphabet="ab\n", min_size=1), max_size=5), st.integers(1, 7))
def test_events_are_the_same_however_their_bytes_arrive(texts: list[str], size: int) -> None:
    datas = [text.replace("\n", "") for text in texts if text.strip()]
    whole = "".join(f": ping\r\nevent: x\r\ndata: {data}\r\n\r\n" for data in datas).encode()
    reader = EventReader()
    events = [
        event for at in range(0, len(whole), size) for event in reader.feed(whole[at : at + size])
    ]
    assert [*events, *reader.end()] == [data.encode() for data in datas]
