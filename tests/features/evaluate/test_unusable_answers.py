"""Answers of no use that were paid for, as a user's budget and summary see them."""

import json
from pathlib import Path

import pytest
from chat_server import ChatServer, completion, failure, in_turn
from program import harness, results, run

SOLVE = "```python\nprint(0)\n```"
TEN = {"prompt_tokens": 7, "completion_tokens": 3}
CENT_A_REQUEST = ["--price", "1000,1000"]  # of ten tokens
USELESS = completion("half of i", finish_reason="error", usage=TEN)


def served(server: ChatServer, *flags: str) -> list[str]:
    place = ["-b", "fixture", "-m", "m", "--base-url", server.base_url, "--concurrency", "1"]
    return ["run", *place, *CENT_A_REQUEST, "--no-run-tests", "--out", "r", *flags]


@pytest.mark.thorough
async def test_unusable_answers_count_in_the_budget_and_end_the_run(tmp_path: Path) -> None:
    async with ChatServer(in_turn(USELESS)) as server:
        flags = served(server, "-n", "3", "--max-cost", "0.025")
        code, _, err = await run(tmp_path, *flags)
    assert code == 4
    assert len(server.requests) == 3  # of the first sample; each of the others would take as many
    assert "--max-cost is reached: $0.0300 of $0.0250" in err


@pytest.mark.thorough
async def test_a_sample_that_was_asked_again_tells_all_it_used(tmp_path: Path) -> None:
    async with ChatServer(in_turn(USELESS, completion(SOLVE, usage=TEN))) as server:
        code, out, err = await run(tmp_path, *served(server, "-n", "1", "--json"))
    assert code == 0, err
    assert len(server.requests) == 2
    assert json.loads(out)["usage"]["input_tokens"] == 14
    (transcript,) = (tmp_path / "r" / "transcripts").glob("*.jsonl")
    events = [json.loads(line) for line in transcript.read_text().splitlines()]
    (retry,) = [each for each in events if each["event"] == "retry"]
    assert (retry["usage"]["input_tokens"], retry["usage"]["output_tokens"]) == (7, 3)


@pytest.mark.thorough
async def test_what_a_content_filter_refuses_twice_is_refused(tmp_path: Path) -> None:
    filtered = failure(400, "The prompt was filtered.", "content_filter")
    async with ChatServer(in_turn(filtered)) as server:
        flags = [each for each in served(server, "-n", "2", "--json") if each != "--no-run-tests"]
        flags.append("--agentic-mode")
        code, out, err = await run(tmp_path, *flags)
    assert code == 0, err
    summary = json.loads(out)
    assert (summary["refused"], summary["pending"]) == (2, {})
    assert summary["verdicts"] == {"no_solution": 2}
    assert [len(server.requests), *(each["model_calls"] for each in results(tmp_path / "r"))] == [
        4,
        2,
        2,
    ]
    done = harness(tmp_path, "transcript", "r", results(tmp_path / "r")[0]["problem_id"])
    assert "The prompt was filtered." in done.stdout
