"""What a run makes of what servers say instead of an answer."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, Reply, completion, failure, in_turn, tool_call
from for_each import for_each
from program import results, run

SOLVE = "```python\nprint(0)\n```"
TEN = {"prompt_tokens": 7, "completion_tokens": 3}
CENT_A_TOKEN = ["--price", "10000,10000"]
TOO_LONG = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
OVERFLOWS = {
    "a list of errors": Reply(body=[{"error": {"code": 400, "message": TOO_LONG}}], status=400),
    "a failed server": failure(500, "the request exceeds the available context size"),
}


def served(server: ChatServer, *flags: str) -> list[str]:
    place = ["-b", "fixture", "-m", "m", "--base-url", server.base_url, "--concurrency", "1"]
    return ["run", *place, "--out", "r", *flags]


@for_each("overflow", OVERFLOWS.values(), ids=OVERFLOWS)
async def test_a_conversation_that_grows_too_long_begins_anew_and_is_graded(
    overflow: Reply, tmp_path: Path
) -> None:
    def script(body: dict[str, Any], number: int) -> Reply:
        results_in = [m["content"] for m in body["messages"] if m["role"] == "tool"]
        if sum(len(text) > 200 for text in results_in) > 3:
            return overflow
        if len(results_in) > 6:
            return overflow
        calls = [tool_call("read_problem", {}, f"c{number}_{each}") for each in range(2)]
        return completion(None, calls, usage=TEN)

    async with ChatServer(script) as server:
        code, out, err = await run(tmp_path, *served(server, "--agentic-mode", "-n", "1", "--json"))
    assert code == 0, err
    summary = json.loads(out)
    assert (summary["pending"], summary["graded"]) == ({}, 1)
    (result,) = results(tmp_path / "r")
    assert (result["stop_reason"], result["verdict"]) == ("turn_limit", "no_solution")
    assert result["loop"]["renewed"] > 0
    (transcript,) = (tmp_path / "r" / "transcripts").glob("*.jsonl")
    kinds = [json.loads(line)["event"] for line in transcript.read_text().splitlines()]
    assert {"refused", "new_conversation"} <= set(kinds)


async def test_a_budget_holds_where_the_server_counts_no_tokens(tmp_path: Path) -> None:
    zero = completion(SOLVE, usage={"prompt_tokens": 0, "completion_tokens": 0})
    async with ChatServer(in_turn(zero)) as server:
        flags = [*CENT_A_TOKEN, "--no-run-tests", "-n", "5", "--max-cost", "3"]
        _, _, err = await run(tmp_path, *served(server, *flags))
        asked = len(server.requests)
    assert asked == 1
    assert "--max-cost is reached" in err


@pytest.mark.thorough
async def test_a_call_that_the_provider_could_not_read_is_read(tmp_path: Path) -> None:
    """Groq refuses a malformed call with status 400, and sends what the model wrote."""
    wrote = json.dumps({"name": "write_solution", "arguments": {"code": "print(0)"}})
    error = {"message": "Failed to call a function.", "code": "tool_use_failed"}
    refused = Reply(body={"error": {**error, "failed_generation": wrote}}, status=400)
    async with ChatServer(in_turn(refused, completion("I give up.", usage=TEN))) as server:
        code, _, err = await run(tmp_path, *served(server, "--agentic-mode", "-n", "1"))
    assert code == 0, err
    (result,) = results(tmp_path / "r")
    assert (result["code"], result["written"]) == ("print(0)", 1)


async def test_a_wrong_key_under_status_400_stops_the_run_at_once(tmp_path: Path) -> None:
    message = "API key not valid. Please pass a valid API key."
    wrong = Reply(body=[{"error": {"code": 400, "message": message}}], status=400)
    async with ChatServer(in_turn(wrong)) as server:
        code, out, err = await run(tmp_path, *served(server, "-n", "5"))
        asked = len(server.requests)
    assert (code, asked) == (4, 1)
    assert f"HTTP 400: {message}" in " ".join((out + err).split())


async def test_the_last_screen_tells_a_local_servers_speed(tmp_path: Path) -> None:
    async with ChatServer(in_turn(completion(SOLVE, usage=TEN))) as server:
        code, out, err = await run(tmp_path, *served(server, "-n", "2"))
    assert code == 0, err
    (speed,) = re.findall(r"server +([\d,.]+) tokens a second", out)
    samples = results(tmp_path / "r")
    seconds = sum(result["answer_seconds"] for result in samples)
    assert seconds > 0
    assert float(speed.replace(",", "")) == pytest.approx(6 / seconds, abs=0.06)
