"""Answers that are of no use: what they cost is told, and a key that is refused is not asked on."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import messages_server
import pytest
import responses_server
from chat_server import ChatServer, Json, Reply, Script, completion, failure, in_turn
from for_each import for_each
from messages_server import MessagesServer
from responses_server import ResponsesServer

from harness.models.clients.anthropic_messages import AnthropicMessages
from harness.models.clients.client import Client
from harness.models.clients.openai_chat import OpenAIChat
from harness.models.clients.openai_responses import OpenAIResponses
from harness.models.clients.retry import Pace, RetryPolicy
from harness.models.faults import RejectedError
from harness.models.protocol import (
    ContextOverflowError,
    ModelError,
    ModelSettings,
    ModelTurn,
    Retry,
    Usage,
    UserMessage,
)

PAID = Usage(input_tokens=700, output_tokens=30)
IN_AND_OUT = {"input_tokens": 700, "output_tokens": 30}


@dataclass(frozen=True)
class Wire:
    """A protocol, a good answer of it, and one that is of no use."""

    server: type[ChatServer]
    client: type[Client]
    good: Callable[[], Reply]
    useless: Callable[[Json | None], Reply]
    usage: Json


def _broken_off(usage: Json | None) -> Reply:
    return completion("half of i", finish_reason="error", usage=usage)


def _no_text(usage: Json | None) -> Reply:
    return messages_server.message({"type": "text"}, usage=usage)


def _no_parts(usage: Json | None) -> Reply:
    return responses_server.response({"type": "message"}, usage=usage)


WIRES = {
    "chat": Wire(
        ChatServer,
        OpenAIChat,
        lambda: completion("hi"),
        _broken_off,
        {"prompt_tokens": 700, "completion_tokens": 30},
    ),
    "responses": Wire(
        ResponsesServer,
        OpenAIResponses,
        lambda: responses_server.response(responses_server.said("hi")),
        _no_parts,
        IN_AND_OUT,
    ),
    "messages": Wire(
        MessagesServer,
        AnthropicMessages,
        lambda: messages_server.message("hi"),
        _no_text,
        IN_AND_OUT,
    ),
}
every_wire = pytest.mark.parametrize("wire", WIRES.values(), ids=WIRES.keys())


@dataclass
class Talk:
    server: ChatServer
    model: Client
    retries: list[Retry] = field(default_factory=list)

    async def ask(self) -> ModelTurn:
        hello = (UserMessage(content="hello"),)
        return await self.model.generate(hello, (), ModelSettings(), self.retries.append)


@asynccontextmanager
async def talking(wire: Wire, script: Script, **options: Any) -> AsyncIterator[Talk]:
    async def sleep(seconds: float) -> None:
        del seconds

    async with wire.server(script) as server:
        model = wire.client(
            "m",
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


class TestWhatItCost:
    @every_wire
    async def test_a_retry_tells_it(self, wire: Wire) -> None:
        script = in_turn(wire.useless(wire.usage), failure(500), wire.good())
        async with talking(wire, script) as talk:
            assert (await talk.ask()).text == "hi"
        assert [retry.usage for retry in talk.retries] == [PAID, None]

    @every_wire
    async def test_the_error_after_unusable_answers_has_their_cost(self, wire: Wire) -> None:
        async with talking(wire, in_turn(wire.useless(wire.usage))) as talk:
            with pytest.raises(ModelError) as caught:
                await talk.ask()
        assert caught.value.usage == PAID
        assert len(talk.retries) == 2

    @every_wire
    async def test_usage_that_is_not_told_is_unknown(self, wire: Wire) -> None:
        # Anthropic's server here counts by itself where it finds nothing
        usage: Json | None = {} if wire.server is MessagesServer else None
        async with talking(wire, in_turn(wire.useless(usage), wire.good())) as talk:
            await talk.ask()
        assert [retry.usage for retry in talk.retries] == [None]

    async def test_an_error_in_the_place_of_an_answer_may_tell_it(self) -> None:
        wire = WIRES["chat"]
        odd = Reply(body={"error": {"message": "oh"}, "usage": wire.usage})
        async with talking(wire, in_turn(odd), policy=RetryPolicy(attempts=1)) as talk:
            with pytest.raises(ModelError) as caught:
                await talk.ask()
        assert caught.value.usage == PAID

    async def test_a_failed_response_has_its_cost(self) -> None:
        failed = responses_server.failed("context_length_exceeded")
        reply = Reply(body={**failed.body, "usage": IN_AND_OUT})
        async with talking(WIRES["responses"], in_turn(reply)) as talk:
            with pytest.raises(ContextOverflowError) as caught:
                await talk.ask()
        assert caught.value.usage == PAID


class TestKeyThatIsRefused:
    @every_wire
    @pytest.mark.parametrize("status", [401, 403, 404])
    async def test_a_refused_key_is_tried_once(self, wire: Wire, status: int) -> None:
        async with talking(wire, in_turn(failure(status, "who is this?"))) as talk:
            messages: list[str] = []
            for _ in range(3):
                with pytest.raises(RejectedError, match="who is this") as caught:
                    await talk.ask()
                assert caught.value.status == status
                assert caught.value.stops_run
                messages.append(str(caught.value))
        assert len(talk.server.requests) == 1
        assert len(set(messages)) == 1

    async def test_a_key_refused_after_a_good_answer_is_tried_again(self) -> None:
        wire = WIRES["chat"]
        script = in_turn(wire.good(), failure(401), failure(401), wire.good())
        async with talking(wire, script) as talk:
            await talk.ask()
            for _ in range(2):
                with pytest.raises(RejectedError):
                    await talk.ask()
            assert (await talk.ask()).text == "hi"

    async def test_a_refused_key_is_tried_again_once_another_request_is_answered(self) -> None:
        wire, refused = WIRES["chat"], asyncio.Event()

        def script(_body: Json, number: int) -> Reply:
            if number == 0:
                return Reply(body=wire.good().body, until=refused.wait)
            return failure(401) if number == 1 else wire.good()

        async with talking(wire, script) as talk:
            slow = asyncio.create_task(talk.ask())
            await talk.server.arrived(1)
            with pytest.raises(RejectedError):
                await talk.ask()
            refused.set()
            await slow
            assert (await talk.ask()).text == "hi"

    async def test_other_refusals_may_be_of_one_request(self) -> None:
        wire = WIRES["chat"]
        async with talking(wire, in_turn(failure(400), wire.good())) as talk:
            with pytest.raises(RejectedError) as caught:
                await talk.ask()
            assert not caught.value.stops_run
            assert (await talk.ask()).text == "hi"

    @for_each(
        "refusal",
        [
            failure(400, "The model `gpt-6` does not exist", "model_not_found"),
            failure(400, "Invalid model name passed in model=x"),
            failure(402, "Insufficient credits"),
            failure(429, "You exceeded your current quota", "insufficient_quota"),
        ],
        ids=["code", "words", "credits", "quota"],
    )
    async def test_a_missing_model_or_an_empty_account_concerns_every_request(
        self, refusal: Reply
    ) -> None:
        async with talking(WIRES["chat"], in_turn(refusal)) as talk:
            for _ in range(2):
                with pytest.raises(RejectedError) as caught:
                    await talk.ask()
                assert caught.value.stops_run
        assert len(talk.server.requests) == 1

    @for_each(("status", "stops"), [(401, True), (403, False), (404, False)])
    async def test_after_an_answer_only_the_key_and_the_account_concern_every_request(
        self, status: int, stops: bool
    ) -> None:
        wire = WIRES["chat"]
        async with talking(wire, in_turn(wire.good(), failure(status))) as talk:
            await talk.ask()
            with pytest.raises(RejectedError) as caught:
                await talk.ask()
        assert caught.value.stops_run == stops
