"""Streams that break or are written oddly: half an answer is never taken for one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from chat_server import ChatServer, Json, Reply, completion, in_turn
from for_each import for_each
from messages_server import MessagesServer
from odd_streams import COMPLETION, GOOD, MESSAGE, ODD, PROGRAM, RESPONSE, USAGE, Odd
from responses_server import ResponsesServer

from harness.models.clients.anthropic_messages import AnthropicMessages
from harness.models.clients.client import Client
from harness.models.clients.event_stream import StreamFormat, events_in
from harness.models.clients.openai_chat import OpenAIChat
from harness.models.clients.openai_responses import OpenAIResponses
from harness.models.clients.retry import Pace
from harness.models.faults import MalformedAnswerError
from harness.models.protocol import ModelError, ModelSettings, ModelTurn, Retry, UserMessage

WIRES: dict[str, tuple[type[ChatServer], type[Client]]] = {
    "chat": (ChatServer, OpenAIChat),
    "responses": (ResponsesServer, OpenAIResponses),
    "messages": (MessagesServer, AnthropicMessages),
}
BROKEN = {name: odd for name, odd in ODD.items() if odd[1].right == "again"}
# Once an answer has ended, nobody waits long for an error after it.
ONE_END = {name: odd for name, odd in ODD.items() if "after the reason stop" not in name}
CHAT_BROKEN = ODD["chat: no reason, then the end mark"][1]


@dataclass
class Talk:
    """A client at a server that streams one thing, and in one piece says another."""

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
async def talking(
    wire: str, streamed: list[Reply], whole: Reply, *, pace: Pace | None = None
) -> AsyncIterator[Talk]:
    async def at_once(seconds: float) -> None:
        del seconds

    def script(_body: Json, number: int) -> Reply:
        streams = server.requests[number].stream
        return streamed[min(number, len(streamed) - 1)] if streams else whole

    server_of, client_of = WIRES[wire]
    async with server_of(script) as server:
        model = client_of(
            "m",
            model="m",
            base_url=server.base_url,
            api_key="key",
            pace=pace or Pace(sleep=at_once),
        )
        try:
            yield Talk(server, model)
        finally:
            await model.close()


def reply_of(odd: Odd) -> Reply:
    return Reply(body=b"".join(odd.events), content_type=odd.content_type)


def is_right(odd: Odd, turn: ModelTurn) -> bool:
    match odd.right:
        case "whole" | "again":
            return turn.text == PROGRAM and turn.stop.reason == "end_turn"
        case "cut off":
            return turn.cut_off and PROGRAM.startswith(turn.text)
        case "refused":
            return turn.stop.reason == "content_filter"
        case "calls":
            return [(call.name, call.arguments) for call in turn.tool_calls] == [*odd.calls]


@for_each(("wire", "odd"), ODD.values(), ids=ODD)
async def test_a_stream_is_read_whole_or_asked_again(wire: str, odd: Odd) -> None:
    async with talking(wire, [reply_of(odd)], GOOD[wire]) as talk:
        turn = await talk.ask()
    assert is_right(odd, turn)
    assert [*dict.fromkeys(talk.streams)] == ([True, False] if odd.right == "again" else [True])
    assert len(talk.streams) <= 3
    assert odd.right == "refused" or turn.usage is not None


@for_each(("wire", "odd"), ONE_END.values(), ids=ONE_END)
async def test_a_stream_with_long_pauses_is_read_alike(
    wire: str, odd: Odd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pause is longer than a client waits for the end of a stream after the answer's end."""
    monkeypatch.setattr("harness.models.clients.event_stream.AFTER_ANSWER_S", 0.0)

    async def pause() -> None:
        await asyncio.sleep(0.001)

    paused = replace(reply_of(odd), events=odd.events, before_event=pause)
    async with talking(wire, [paused], GOOD[wire]) as talk:
        assert is_right(odd, await talk.ask())


@for_each(("wire", "odd"), BROKEN.values(), ids=BROKEN)
async def test_a_stream_whose_connection_breaks_is_asked_again(wire: str, odd: Odd) -> None:
    size = len(b"".join(odd.events)) - 1
    cut = replace(reply_of(odd), events=odd.events, cut_after=size)
    async with talking(wire, [cut, GOOD[wire]], GOOD[wire]) as talk:
        assert is_right(odd, await talk.ask())
    assert len(talk.retries) == 1


class TestOneRequest:
    """In turn: a stream, a stream again, one piece, and then nothing more."""

    async def test_after_two_broken_streams_it_is_asked_in_one_piece(self) -> None:
        replies = [GOOD["chat"], reply_of(CHAT_BROKEN)]
        async with talking("chat", replies, GOOD["chat"]) as talk:
            for _ in range(2):
                assert (await talk.ask()).text == PROGRAM
            assert talk.streams == [True, True, True, False]
            await talk.ask()
        assert talk.streams[4:] == [True, True, False], "others are still streamed"
        assert all(retry.malformed for retry in talk.retries)
        assert all(retry.cut for retry in talk.retries)

    async def test_after_a_broken_answer_in_one_piece_nothing_is_graded(self) -> None:
        half = replace(GOOD["chat"], cut_after=200)
        async with talking("chat", [reply_of(CHAT_BROKEN)], half) as talk:
            with pytest.raises(ModelError):
                await talk.ask()
        assert talk.streams[0]
        assert not any(talk.streams[1:])

    async def test_what_a_broken_stream_cost_is_told(self) -> None:
        odd = ODD["chat: no reason, usage, then the end mark"][1]
        async with talking("chat", [reply_of(odd)], GOOD["chat"]) as talk:
            await talk.ask()
        (retry,) = talk.retries
        assert retry.usage is not None
        assert retry.usage.total_tokens == USAGE["total_tokens"]


async def test_a_server_that_never_says_why_an_answer_ended_is_known_after_the_first() -> None:
    silent = completion(PROGRAM, finish_reason="null", usage=USAGE)
    never = Reply(body=b"".join((*ODD["chat: no reason, then the end mark"][1].events,)))
    never = replace(never, content_type="text/event-stream")
    async with talking("chat", [never], silent) as talk:
        turns = [await talk.ask() for _ in range(3)]
    assert talk.streams == [True, False, False, False]
    (said,) = talk.retries
    assert "from here on answers come in one piece" in said.cause
    assert [(turn.text, turn.stop.provider_word) for turn in turns] == [(PROGRAM, None)] * 3


async def test_a_server_that_streams_whatever_it_is_asked_is_read() -> None:
    no_usage = tuple(event for event in COMPLETION if b'"usage"' not in event)
    streams = Reply(body=b"".join(no_usage), content_type="text/event-stream")
    async with talking("chat", [streams], streams) as talk:
        turns = [await talk.ask() for _ in range(3)]
    assert [turn.text for turn in turns] == [PROGRAM] * 3
    assert talk.streams == [True, False, False]
    assert talk.retries == []


async def test_an_answer_in_one_piece_that_holds_an_error_is_asked_again() -> None:
    choice = {"index": 0, "message": {"content": "half of"}, "finish_reason": None}
    half = Reply(body={"choices": [choice], "error": {"message": "the slot was lost"}})
    async with ChatServer(in_turn(half, GOOD["chat"])) as server:
        model = OpenAIChat("m", model="m", base_url=server.base_url, api_key="key")
        turn = await model.generate((UserMessage(content="hi"),), (), ModelSettings())
        await model.close()
    assert turn.text == PROGRAM


@for_each(
    ("stream", "whole"),
    [
        (OpenAIChat.STREAM, COMPLETION),
        (AnthropicMessages.STREAM, MESSAGE),
        (OpenAIResponses.STREAM, RESPONSE),
    ],
    ids=["chat", "messages", "responses"],
)
@for_each("rest", [b"", b"data: [DONE]\n\n", b"error: gone\n\ndata: [DONE]\n\n", b"data:\n\n"])
def test_no_beginning_of_a_stream_is_an_answer(
    stream: StreamFormat, whole: tuple[bytes, ...], rest: bytes
) -> None:
    complete = events_in(b"".join(whole), stream, 10**6)
    for end in range(len(whole)):
        try:
            part = events_in(b"".join(whole[:end]) + rest, stream, 10**6)
        except MalformedAnswerError:
            continue
        without_usage = {**complete, "usage": None} == {**part, "usage": None}
        assert without_usage or part.get("error")


def test_the_streams_that_users_saw_are_read_rightly() -> None:
    """Each file holds what a server sent."""
    ends = {
        "error_field_then_done": None,
        "done_without_finish_reason": None,
        "finish_reason_empty_text_cut": None,
        "finish_reason_empty_text": "stop",
        "empty_data_keep_alive_late": "stop",
        "length_then_error_chunk": "length",
        "index_zero_no_ids": "tool_calls",
    }
    folder = Path(__file__).parent / "streams"
    assert {path.stem for path in folder.iterdir()} == set(ends)
    for name, end in ends.items():
        body = (folder / f"{name}.sse").read_bytes()
        try:
            answer = events_in(body, OpenAIChat.STREAM, 10**6)
        except MalformedAnswerError:
            answer = {"error": "no end"}
        given = answer["choices"][0]["finish_reason"] if "choices" in answer else None
        assert given == end, name
        assert (end is None) == ("error" in answer), name
