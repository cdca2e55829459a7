"""A conversation that the provider refuses goes on in another way, on each of the three wires."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import messages_server
import responses_server
from chat_server import ChatServer, Json, Reply, completion, tool_call
from every_wire import WIRES
from for_each import for_each
from scripted import Played, rebuild

from harness.agent.attempt import StopReason
from harness.agent.events import NewConversation, ReasoningLeftOut, Refused
from harness.models.clients.anthropic_messages import AnthropicMessages
from harness.models.clients.client import Client
from harness.models.clients.openai_chat import OpenAIChat
from harness.models.clients.openai_responses import OpenAIResponses
from harness.run.store.transcript import EVENT

Play = Callable[..., Awaitable[Played]]

RIGHT = "a, b = map(int, input().split())\nprint(a + b)\n"
WRONG = "print(3)\n"
CLIENTS: dict[str, type[Client]] = {
    "chat": OpenAIChat,
    "responses": OpenAIResponses,
    "messages": AnthropicMessages,
}
SIGNATURE = (
    "messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a "
    "different conversation. Remove the block."
)
ENCRYPTED = "The encrypted content for item rs_1 could not be verified."
HISTORY: dict[str, Json] = {
    "chat": {"message": f"Provider returned error: {SIGNATURE}", "code": 400},
    "responses": {"code": "invalid_encrypted_content", "message": ENCRYPTED},
    "messages": {"type": "invalid_request_error", "message": SIGNATURE},
}
LENGTH: Json = {
    "type": "invalid_request_error",
    "code": "context_length_exceeded",
    "message": "prompt is too long: 208310 tokens > 200000 maximum",
}
MARK = {"chat": "Hm.", "responses": "rs_1", "messages": "Hm."}
"""What stands in a request with the answer's reasoning, and in none without."""


def hands_in(wire: str, code: str) -> Reply:
    """An answer that reasons, writes a program and runs the tests."""
    calls = [("write_solution", {"code": code}), ("run_tests", {})]
    if wire == "chat":
        made = [tool_call(name, given, f"c{at}") for at, (name, given) in enumerate(calls)]
        usage = {"prompt_tokens": 5, "completion_tokens": 5}
        return completion(None, made, message={"reasoning_content": "Hm."}, usage=usage)
    if wire == "responses":
        items = [
            responses_server.called(name, json.dumps(given), f"c{at}")
            for at, (name, given) in enumerate(calls)
        ]
        return responses_server.response(responses_server.reasoning("rs_1"), *items)
    blocks = [
        messages_server.tool_use(name, given, f"c{at}") for at, (name, given) in enumerate(calls)
    ]
    return messages_server.message(messages_server.thinking("Hm."), *blocks)


class Provider:
    """Takes a conversation with an answer only as `refusal` says; a new one it always takes."""

    def __init__(self, wire: str, refusal: str) -> None:
        self._wire = wire
        self._refusal = refusal

    def __call__(self, body: Json, number: int) -> Reply:
        text = json.dumps(body, ensure_ascii=False)
        answered = '"assistant"' in text or "function_call" in text
        if not answered:
            return hands_in(self._wire, RIGHT if number else WRONG)
        if self._refusal == "length":
            return Reply(body={"type": "error", "error": LENGTH}, status=400)
        if MARK[self._wire] in text or self._refusal == "any history":
            return Reply(body={"type": "error", "error": HISTORY[self._wire]}, status=400)
        return hands_in(self._wire, RIGHT)


@asynccontextmanager
async def talking(wire: str, refusal: str) -> AsyncIterator[tuple[ChatServer, Client]]:
    async with WIRES[wire].server(Provider(wire, refusal)) as server:
        client = CLIENTS[wire]("m", model="m", base_url=server.base_url, api_key="key")
        try:
            yield server, client
        finally:
            await client.close()


@for_each("wire", WIRES)
@for_each(
    ("refusal", "outcome"),
    [
        ("reasoning", (["history"], 1, 0)),
        ("any history", (["history", "history"], 1, 1)),
        ("length", (["length"], 0, 1)),
    ],
)
async def test_a_refused_conversation_goes_on_in_another_way(
    play: Play, wire: str, refusal: str, outcome: tuple[list[str], int, int]
) -> None:
    """`outcome`: what was refused, how often reasoning was left out, new conversations."""
    refused, left_out, renewed = outcome
    async with talking(wire, refusal) as (server, client):
        played = await play(through=lambda _: client)
        assert len(server.requests) == 2 + len(refused)
        attempt = played.attempt
        assert attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED, attempt.error
        assert (attempt.code, attempt.model_calls, attempt.written) == (RIGHT, 2, 2)
        assert (attempt.loop.without_reasoning, attempt.loop.renewed) == (left_out, renewed)
        events = [EVENT.validate_json(e.model_dump_json(by_alias=True)) for e in played.events]
        assert [e.refusal for e in events if isinstance(e, Refused)] == refused
        assert sum(isinstance(e, ReasoningLeftOut) for e in events) == left_out
        assert sum(isinstance(e, NewConversation) for e in events) == renewed
        assert rebuild(events) == [sent.messages for sent in played.heard]
        last = json.dumps(server.requests[-1].body)
        assert MARK[wire] not in last
        if renewed:
            assert "## Your program" in last
            assert "1 of 2 public tests passed." in last
        sent = len(server.requests)
        whole = await play(through=lambda _: client, recorded=events)
        assert len(server.requests) == sent  # nothing is asked again
        assert _timeless(whole) == _timeless(played)
        at = max(place for place, event in enumerate(events) if isinstance(event, Refused)) + 1
        rest = await play(through=lambda _: client, recorded=events[:at])
        assert len(server.requests) == sent + 1  # none that was refused
        assert rest.attempt.code == RIGHT
        assert MARK[wire] not in json.dumps(server.requests[-1].body)


def _timeless(played: Played) -> object:
    revisions = [each.model_copy(update={"seconds": 0}) for each in played.attempt.revisions]
    return played.attempt.model_copy(update={"revisions": tuple(revisions)})


async def test_a_new_conversation_that_is_refused_is_the_end_and_the_sample_is_graded(
    play: Play,
) -> None:
    def script(body: Json, number: int) -> Reply:
        del body
        error = {"type": "error", "error": LENGTH}
        return hands_in("chat", WRONG) if number == 0 else Reply(body=error, status=400)

    async with ChatServer(script) as server:
        client = OpenAIChat("m", model="m", base_url=server.base_url, api_key="key")
        played = await play(through=lambda _: client)
        await client.close()
    assert len(server.requests) == 3
    assert played.attempt.stop_reason is StopReason.CONTEXT_LIMIT
    assert played.attempt.code == WRONG
