"""Every endpoint gets tools, one way or another: the real client at servers that have none."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from chat_server import ChatServer, Script, completion, tool_call
from scripted import Played
from text_model import REFUSALS, WAYS, Write, caller, refusing, talker

from harness.agent.attempt import StopReason
from harness.agent.events import Retried, ToolProtocolChanged
from harness.models.clients.openai_chat import OpenAIChat
from harness.models.text_tools.instructions import ToolProtocol, with_tools
from harness.problem import ProblemView
from harness.sources.benchmarks import load

Play = Callable[..., Awaitable[Played]]
PROBLEM = "fixture/quorum-signals"


@pytest.fixture(scope="module")
def solutions() -> dict[str, str]:
    """The bundled problems' references by title."""
    path = Path(__file__).parents[2] / "fixtures" / "problems.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return {row["title"]: row["references"][0] for row in rows}


@pytest.fixture(scope="module")
def bundled() -> ProblemView:
    return next(p for p in load("fixture").problems if p.id == PROBLEM).view()


@pytest.fixture
def play_at(play: Play, bundled: ProblemView) -> Play:
    """Plays the bundled problem through the real client at a server."""

    async def play_at(server: ChatServer, protocol: ToolProtocol = "auto") -> Played:
        client = OpenAIChat("served", model="m", base_url=server.base_url, api_key="none")
        try:
            return await play(through=lambda _: with_tools(client, protocol), view=bundled)
        finally:
            await client.close()

    return play_at


@asynccontextmanager
async def serving(script: Script) -> AsyncIterator[ChatServer]:
    async with ChatServer(script) as server:
        yield server


def with_native(server: ChatServer) -> list[bool]:
    return ["tools" in request.body for request in server.requests]


@pytest.mark.parametrize("who", REFUSALS)
async def test_an_endpoint_that_refuses_tools_is_told_of_them_in_text(
    play_at: Play, solutions: Mapping[str, str], who: str
) -> None:
    async with serving(refusing(caller(solutions), *REFUSALS[who])) as server:
        played = await play_at(server)
    attempt = played.attempt
    assert attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED, attempt.error
    assert (attempt.tool_protocol, attempt.fallback) == ("text", False)
    assert (attempt.model_calls, attempt.tool_calls, attempt.written) == (3, 5, 2)
    assert with_native(server) == [True, False, False, False]
    (retried,) = [event for event in played.events if isinstance(event, Retried)]
    assert REFUSALS[who][1][:50] in retried.cause
    (changed,) = [event for event in played.events if isinstance(event, ToolProtocolChanged)]
    assert (changed.turn, changed.protocol) == (1, "text")


@pytest.mark.parametrize("write", WAYS.values(), ids=WAYS)
async def test_open_models_are_understood_in_their_own_ways(
    play_at: Play, solutions: Mapping[str, str], write: Write
) -> None:
    async with serving(caller(solutions, write)) as server:
        played = await play_at(server, "text")
    assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
    assert (played.attempt.tool_protocol, played.attempt.malformed_tool_calls) == ("text", 0)
    assert not any(with_native(server))
    for before, after in pairwise(request.body["messages"] for request in server.requests):
        assert after[: len(before)] == before
        assert [message["role"] for message in after[-2:]] == ["assistant", "user"]


@pytest.mark.parametrize("write", WAYS.values(), ids=WAYS)
async def test_a_server_that_leaves_calls_in_the_text_loses_none(
    play_at: Play, solutions: Mapping[str, str], write: Write
) -> None:
    async with serving(caller(solutions, write)) as server:
        played = await play_at(server)
    assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
    assert (played.attempt.tool_protocol, played.attempt.nudges) == ("text", 0)
    assert with_native(server) == [True, False, False]


async def test_tools_that_are_ignored_end_in_a_single_shot(
    play_at: Play, solutions: Mapping[str, str]
) -> None:
    async with serving(talker(solutions)) as server:
        played = await play_at(server)
    attempt = played.attempt
    assert (attempt.tool_protocol, attempt.fallback) == ("none", True)
    assert (attempt.chosen_by, attempt.model_calls) == ("prose", 4)
    assert attempt.code.strip() == solutions["Quorum Signals"].strip()
    assert with_native(server) == [True, True, False, False]
    assert len(server.requests[-1].body["messages"]) == 2


async def test_natively_a_refusal_is_the_providers_error(
    play_at: Play, solutions: Mapping[str, str]
) -> None:
    async with serving(refusing(caller(solutions), *REFUSALS["Ollama"])) as server:
        played = await play_at(server, "native")
    assert played.attempt.stop_reason is StopReason.MODEL_ERROR
    assert "gemma:2b does not support tools" in played.attempt.error
    assert with_native(server) == [True]


async def test_natively_odd_calls_all_get_a_result_and_a_chance(
    play_at: Play, solutions: Mapping[str, str]
) -> None:
    code = solutions["Quorum Signals"]
    twice = json.dumps(json.dumps({"code": code}))
    odd = [
        tool_call("run_tests", {}, "a"),
        tool_call("compile", {}, "b"),
        tool_call("write_solution", '{"code": "x', "c"),
        tool_call("write_solution", {"source": code}, "d"),
        tool_call("write_solution", twice, "e"),
    ]

    def script(body: dict[str, object], number: int) -> object:
        del body
        again = [tool_call("run_tests", {}, "f")]
        return completion(None, odd if number == 0 else again)

    async with serving(script) as server:  # pyright: ignore[reportArgumentType]
        played = await play_at(server)
    assert played.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
    assert played.attempt.tool_protocol == "native"
    results = [m for m in server.requests[1].body["messages"] if m["role"] == "tool"]
    assert [result["tool_call_id"] for result in results] == list("abcde")
    assert [result.is_error for result in played.results] == [True] * 3 + [False] * 3
