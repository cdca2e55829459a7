"""Conversations that a provider refuses for its own earlier answers, over real HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import messages_server
import pytest
import responses_server
from chat_server import ChatServer, Json, Reply, Script, completion, in_turn, tool_call
from for_each import for_each
from messages_server import MessagesServer
from responses_server import ResponsesServer

from harness.models.clients.anthropic_messages import AnthropicMessages
from harness.models.clients.client import Client
from harness.models.clients.openai_chat import OpenAIChat
from harness.models.clients.openai_responses import OpenAIResponses
from harness.models.protocol import (
    HistoryRefusedError,
    Message,
    ModelSettings,
    SystemMessage,
    ToolMessage,
    UserMessage,
)

CLIENTS: dict[str, tuple[type[ChatServer], type[Client]]] = {
    "chat": (ChatServer, OpenAIChat),
    "responses": (ResponsesServer, OpenAIResponses),
    "messages": (MessagesServer, AnthropicMessages),
}
SIGNATURE = (
    "messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a "
    "different conversation. Remove the block."
)
NOT_FOUND = "Item with id 'rs_0' not found. Items are not persisted when `store` is set to false."
ENCRYPTED = "The encrypted content for item rs_0 could not be verified."
BEHIND_A_GATEWAY = {
    "message": "Provider returned error",
    "code": 400,
    "metadata": {"raw": f'{{"message": "{SIGNATURE}"}}', "provider_name": "a provider"},
}


def failed(error: Json, status: int = 400) -> Reply:
    return Reply(body={"type": "error", "error": error}, status=status)


def streamed(event: Json) -> Reply:
    body = responses_server.sent(iter([event]))
    return Reply(body=b"".join(body), content_type="text/event-stream")


BROKEN = {"code": "invalid_encrypted_content", "message": ENCRYPTED}
REFUSALS: dict[str, tuple[str, Reply]] = {
    "a signature": ("messages", failed({"type": "invalid_request_error", "message": SIGNATURE})),
    "a signature under status 200": (
        "messages",
        failed({"type": "invalid_request_error", "message": SIGNATURE}, status=200),
    ),
    "a signature in a stream": (
        "messages",
        streamed(
            {"type": "error", "error": {"type": "invalid_request_error", "message": SIGNATURE}}
        ),
    ),
    "a signature behind a gateway": ("chat", failed(BEHIND_A_GATEWAY)),
    "a signature behind a gateway that fails": ("chat", failed(BEHIND_A_GATEWAY, status=502)),
    "a signature in a stream of chunks": (
        "chat",
        streamed({"choices": [], "error": {"message": SIGNATURE}}),
    ),
    "an item that is not found": ("responses", failed({"message": NOT_FOUND, "code": None})),
    "an item that is not found at status 404": (
        "responses",
        failed({"message": NOT_FOUND}, status=404),
    ),
    "encrypted content": ("responses", failed(BROKEN)),
    "encrypted content in a failed response": (
        "responses",
        responses_server.failed(BROKEN["code"], ENCRYPTED),
    ),
    "encrypted content in an error of a stream": (
        "responses",
        streamed({"type": "error", **BROKEN}),
    ),
}


@asynccontextmanager
async def talking(wire: str, script: Script) -> AsyncIterator[tuple[ChatServer, Client]]:
    server_of, client_of = CLIENTS[wire]
    async with server_of(script) as server:
        client = client_of("m", model="m", base_url=server.base_url, api_key="key")
        try:
            yield server, client
        finally:
            await client.close()


@for_each("name", REFUSALS)
async def test_a_refused_history_is_an_error_of_its_own_and_asked_once(name: str) -> None:
    wire, reply = REFUSALS[name]
    retries: list[Any] = []
    async with talking(wire, in_turn(reply)) as (server, client):
        with pytest.raises(HistoryRefusedError) as caught:
            await client.generate([UserMessage(content="hi")], (), ModelSettings(), retries.append)
    assert len(server.requests) == 1
    assert retries == []
    assert (caught.value.stops_run, caught.value.unavailable) == (False, False)


CALLS = [("write_solution", {"code": "print(1)"}), ("run_tests", {})]
THOUGHT: dict[str, list[Reply]] = {
    "chat": [
        completion(
            "So.",
            [
                {**tool_call(name, arguments, f"c{place}"), "extra_content": {"google": "c2ln"}}
                for place, (name, arguments) in enumerate(CALLS)
            ],
            message={"reasoning_content": "Hm.", "reasoning_details": [{"data": "gAAA"}]},
        ),
        completion("", message={"reasoning_content": "Hm, hm."}, finish_reason="length"),
        completion("Done.", message={"thinking_blocks": [{"signature": "c2ln"}]}),
    ],
    "responses": [
        responses_server.response(
            responses_server.reasoning("rs_1"),
            responses_server.said("So.", item_id="msg_1"),
            responses_server.reasoning("rs_2"),
            *(
                responses_server.called(name, "{}", f"c{place}")
                for place, (name, _) in enumerate(CALLS)
            ),
        ),
        responses_server.incomplete("max_output_tokens", responses_server.reasoning("rs_3")),
        responses_server.response(
            responses_server.reasoning("rs_4"), responses_server.said("Done.", item_id="msg_2")
        ),
    ],
    "messages": [
        messages_server.message(
            messages_server.thinking("Hm."),
            "\n\n",
            messages_server.redacted("data"),
            "So.",
            *(
                messages_server.tool_use(name, arguments, f"c{place}")
                for place, (name, arguments) in enumerate(CALLS)
            ),
        ),
        messages_server.message(messages_server.thinking("Hm, hm."), stop_reason="max_tokens"),
        messages_server.message(messages_server.thinking("Hm!"), "Done."),
    ],
}


@for_each("wire", THOUGHT)
async def test_a_conversation_without_its_reasoning_is_taken(wire: str) -> None:
    """The server is as strict as the real one; nothing but reasoning is lost."""
    answers = THOUGHT[wire]
    history: list[Message] = [SystemMessage(content="Be good."), UserMessage(content="Solve.")]
    plain: list[Message] = list(history)
    async with talking(wire, in_turn(*answers)) as (server, client):
        for _ in answers:
            turn = await client.generate(history, (), ModelSettings())
            assert turn.reasoning
            said = turn.message()
            results = [
                ToolMessage(call_id=call.id, name=call.name, content="ok")
                for call in said.tool_calls
            ]
            rest = results or [UserMessage(content="Go on.")]
            history += [said, *rest]
            plain += [said.model_copy(update={"reasoning": ()}), *rest]
        turn = await client.generate(plain, (), ModelSettings())
    assert turn.text == "Done."
    sent = str(server.requests[-1].body)
    assert all(text in sent for text in ("So.", "Done.", "write_solution", "run_tests", "c0", "c1"))
    kept = ("Hm", "rs_", "gAAAA", "c2ln", "reasoning_", "'type': 'thinking'", "'type': 'redacted")
    assert not [text for text in kept if text in sent]
