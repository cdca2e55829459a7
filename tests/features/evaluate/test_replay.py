"""A run played again needs no provider, ends where it ended, and is the same each time."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, Reply, Solver, completion, failure
from program import results, run

TIMES = ("seconds", "answer_seconds", "cpu_s", "wall_s", "peak_bytes")
Script = Callable[[dict[str, Any], int], Reply]


def timeless(value: Any) -> Any:
    """A result without what the clock had a say in."""
    if isinstance(value, dict):
        return {key: timeless(each) for key, each in value.items() if key not in TIMES}
    return [timeless(each) for each in value] if isinstance(value, list) else value


def lines(folder: Path) -> list[str]:
    """The results of a run, without times, in the order of the samples."""
    return sorted(json.dumps(timeless(each)) for each in results(folder))


async def play(folder: Path, out: str, *flags: str) -> list[str]:
    command = ["run", "-b", "fixture", "-n", "2", "-m", "replay:r", "--out", out, *flags]
    code, _, err = await run(folder, *command)
    assert code == 0, err
    return lines(folder / out)


def counted(script: Script) -> Script:
    def answer(body: dict[str, Any], number: int) -> Reply:
        reply = script(body, number)
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        return reply if reply.status != 200 else Reply({**reply.body, "usage": usage})

    return answer


def too_long(solver: Solver) -> Script:
    """The second request does not fit the window, nor does a new conversation with the program."""

    def script(body: dict[str, Any], number: int) -> Reply:
        roles = [message["role"] for message in body["messages"]]
        if "assistant" in roles or "## Your program" in str(body["messages"][-1]["content"]):
            return failure(400, "maximum context length", "context_length_exceeded")
        return solver(body, number)

    return script


CASES: dict[str, tuple[str, list[str]]] = {
    "public_tests_passed": ("solver", []),
    "turn_limit": ("solver", ["--max-turns", "1"]),
    "tool_call_limit": ("solver", ["--set", "max_tool_calls=1"]),
    "cost_limit": ("solver", ["--price", "1e6,1e6", "--set", "max_cost_per_sample=150"]),
    "token_limit": ("solver", ["--set", "max_tokens_per_sample=100"]),
    "context_limit": ("too long", []),
}


@pytest.mark.thorough
@pytest.mark.parametrize("stop_reason", CASES)
async def test_a_replay_ends_where_the_run_ended_and_is_the_same_each_time(
    stop_reason: str, tmp_path: Path, solver: Solver
) -> None:
    which, flags = CASES[stop_reason]
    script = counted(solver if which == "solver" else too_long(solver))
    async with ChatServer(script) as server:
        command = ["run", "-b", "fixture", "-n", "2", "-m", "served", "--agentic-mode", *flags]
        code, _, err = await run(tmp_path, *command, "--base-url", server.base_url, "--out", "r")
    assert code == 0, err
    # What a limit of tool calls refused is in no answer of the model's: it has to be said again.
    again = ["--agentic-mode", *(flags if stop_reason == "tool_call_limit" else [])]
    first = await play(tmp_path, "a", *again)
    assert first == await play(tmp_path, "b", *again)
    kept = ("sample", "code", "verdict", "stop_reason", "model_calls", "chosen_by", "usage")
    was = [{key: each[key] for key in kept} for each in results(tmp_path / "r")]
    now = [{key: each[key] for key in kept} for each in map(json.loads, first)]
    assert {each["stop_reason"] for each in was} == {stop_reason}
    order = lambda each: each["sample"]  # noqa: E731 - a key
    assert sorted(now, key=order) == sorted(was, key=order)


@pytest.mark.thorough
@pytest.mark.parametrize("mode", ["single_shot", "best_of_k_public", "self_repair"])
async def test_a_replay_is_the_same_in_every_mode(
    mode: str, tmp_path: Path, solver: Solver
) -> None:
    def script(body: dict[str, Any], number: int) -> Reply:
        title = solver.title_in(body)
        assert title is not None
        code = solver.programs(title)[number % 2]
        return completion(f"```python\n{code}\n```")

    async with ChatServer(counted(script)) as server:
        command = ["run", "-b", "fixture", "-n", "2", "-m", "served", "--mode", mode]
        code, _, err = await run(tmp_path, *command, "--base-url", server.base_url, "--out", "r")
    assert code == 0, err
    other = ["run", "-b", "fixture", "-m", "replay:r", "--agentic-mode"]
    code, _, err = await run(tmp_path, *other)
    assert code == 2
    assert f"replay:r is a run of {mode}: give --mode {mode}, or another model" in err
    first = await play(tmp_path, "a", "--mode", mode)
    assert first == await play(tmp_path, "b", "--mode", mode)
    assert [json.loads(line)["code"] for line in first] == [
        json.loads(line)["code"] for line in lines(tmp_path / "r")
    ]
