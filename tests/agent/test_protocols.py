"""Every endpoint gets tools, one way or another: the real client at servers that have none."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from chat_server import ChatServer, Script, completion, tool_call
from for_each import for_each
from scripted import Played
from text_model import REFUSALS, WAYS, Write, caller, refusing, talker

from harness.agent.attempt import StopReason
from harness.agent.events import Event, Refused, ToolProtocolChanged
from harness.agent.tool_use import ToolUse
from harness.models.clients.openai_chat import OpenAIChat
from harness.models.providers import ToolProtocol
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

    async def play_at(
        server: ChatServer, tool_use: ToolUse | None = None, recorded: Sequence[Event] = ()
    ) -> Played:
        client = OpenAIChat("served", model="m", base_url=server.base_url, api_key="none")
        try:
            return await play(
                through=lambda _: client,
                tool_use=tool_use or ToolUse("auto"),
                view=bundled,
                recorded=recorded,
            )
        finally:
            await client.close()

    return play_at


@asynccontextmanager
async def serving(script: Script) -> AsyncIterator[ChatServer]:
    async with ChatServer(script) as server:
        yield server


def with_native(server: ChatServer) -> list[bool]:
    return ["tools" in request.body for request in server.requests]


@for_each("who", REFUSALS)
async def test_an_endpoint_that_refuses_tools_gets_the_loop_in_text(
    play_at: Play, solutions: Mapping[str, str], who: str
) -> None:
    shared = ToolUse("auto")
    async with serving(refusing(talker(solutions), *REFUSALS[who])) as server:
        played = await play_at(server, shared)
        other = await play_at(server, shared)
        again = await play_at(server, shared, recorded=played.events)
    assert with_native(server) == [True, False, False]  # the samples share what one has learnt
    for each in (played, other, again):
        assert each.attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED, each.attempt.error
        assert each.attempt.code == solutions["Quorum Signals"].strip()
        assert (each.attempt.tool_protocol, each.attempt.model_calls) == ("text", 1)
    assert (played.attempt.fallback, other.attempt.fallback) == (False, False)
    opening = [message["content"] for message in server.requests[1].body["messages"]]
    assert opening == [message["content"] for message in server.requests[2].body["messages"]]
    (refused,) = [event for event in played.events if isinstance(event, Refused)]
    assert (refused.turn, refused.refusal) == (1, "tools")
    assert REFUSALS[who][1][:50] in refused.cause
    changed = [event for event in played.events if isinstance(event, ToolProtocolChanged)]
    assert [(each.turn, each.protocol) for each in changed] == [(0, "text")]


@for_each("protocol", ["native", "auto"])
@for_each("write", WAYS.values(), ids=WAYS)
async def test_calls_written_as_text_are_carried_out_natively_too(
    play_at: Play, solutions: Mapping[str, str], write: Write, protocol: ToolProtocol
) -> None:
    async with serving(caller(solutions, write)) as server:
        played = await play_at(server, ToolUse(protocol))
    attempt = played.attempt
    assert attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
    assert (attempt.tool_protocol, attempt.fallback, attempt.nudges) == ("native", False, 0)
    assert (attempt.tool_calls, attempt.malformed_tool_calls) == (4, 0)
    assert with_native(server) == [True] * 2
    for before, after in pairwise(request.body["messages"] for request in server.requests):
        assert after[: len(before)] == before
        assert [message["role"] for message in after[-2:]] == ["assistant", "user"]
    assert (
        server.requests[1].body["messages"][-1]["content"].startswith("Result of write_solution:")
    )


@for_each("protocol", ["native", "auto"])
async def test_two_answers_without_a_call_lead_to_the_loop_in_text(
    play_at: Play, solutions: Mapping[str, str], protocol: ToolProtocol
) -> None:
    async with serving(talker(solutions)) as server:
        played = await play_at(server, ToolUse(protocol))
        again = await play_at(server, ToolUse(protocol), recorded=played.events)
    assert with_native(server) == [True, True, False]
    attempt = played.attempt
    assert (attempt.tool_protocol, attempt.fallback) == ("text", True)
    assert (attempt.model_calls, attempt.nudges, attempt.loop.renewed) == (3, 1, 1)
    assert attempt.code == again.attempt.code == solutions["Quorum Signals"].strip()
    assert attempt.chosen_by == "passed_public_tests"
    assert len(server.requests[-1].body["messages"]) == 2


async def test_natively_a_refusal_is_the_providers_error(
    play_at: Play, solutions: Mapping[str, str]
) -> None:
    async with serving(refusing(talker(solutions), *REFUSALS["Ollama"])) as server:
        played = await play_at(server, ToolUse("native"))
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
