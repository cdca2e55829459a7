"""Whatever stops a run, each sample ends up in the results exactly once."""

import asyncio
import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, Reply, Solver, completion, failure
from crashes import Asked, kill_and_go_on
from for_each import for_each
from program import environment, finish, harness, heard, results, run, start

FLAGS = ["-b", "fixture", "--agentic-mode", "-m", "served", "--out", "r"]


@pytest.mark.thorough
@pytest.mark.parametrize(("seed", "each"), [(0, 1), (2, 2)])
async def test_kill_9_at_any_moment_loses_nothing_and_asks_nothing_twice(
    seed: int, each: int, tmp_path: Path, solver: Solver, bundled_rows: list[dict[str, Any]]
) -> None:
    titles = {row["id"]: row["title"] for row in bundled_rows}
    seen = await kill_and_go_on(
        tmp_path,
        Asked(solver),
        titles,
        kills=4,
        samples_per_problem=each,
        seed=seed,
        longest_s=0.8,
    )
    assert seen.again == [], "what was recorded is not requested again"
    wanted = sorted(f"{row['id']}#{index}" for row in bundled_rows for index in range(each))
    assert seen.results == wanted
    assert seen.needed <= seen.requests


async def test_a_sample_goes_on_at_the_turn_where_it_was(tmp_path: Path, solver: Solver) -> None:
    turns: list[int] = []

    def script(body: dict[str, Any], number: int) -> Reply:
        total = sum(message["role"] == "assistant" for message in body["messages"])
        turns.append(total)
        if total == 1 and len(turns) == 2:
            return failure(400, "not today")
        return solver(body, number)

    async with ChatServer(script) as server:
        flags = [*FLAGS, "-n", "1", "--base-url", server.base_url]
        assert (await run(tmp_path, "run", *flags))[0] == 4
        code, _, err = await run(tmp_path, "run", *flags)
    assert code == 0, err
    assert turns == [0, 1, 1]
    (result,) = results(tmp_path / "r")
    assert (result["verdict"], result["model_calls"]) == ("accepted", 2)
    events = events_of(tmp_path / "r")
    resumed = [event for event in events if event["event"] == "resumed"]
    assert [(event["turn"], event.get("cause", "")) for event in resumed] == [(1, "")]
    assert [event["event"] for event in events].count("sample_start") == 1


@pytest.mark.thorough
async def test_a_run_whose_tool_has_changed_is_refused(tmp_path: Path, solver: Solver) -> None:
    (tmp_path / "mine.py").write_text(TOOL.format(description="One thing."))
    answers = iter([solver, None])

    def script(body: dict[str, Any], number: int) -> Reply:
        answer = next(answers, solver)
        return failure(400, "not today") if answer is None else answer(body, number)

    async with ChatServer(script) as server:
        flags = [*FLAGS, "-n", "1", "--tool", "mine:Mine", "--base-url", server.base_url]
        assert (await run(tmp_path, "run", *flags))[0] == 4
        (tmp_path / "mine.py").write_text(TOOL.format(description="Another."))
        code, _, err = await run(tmp_path, "run", *flags)
    assert code == 2
    assert "what the model is told of its tools has changed since this run began" in err


TOOL = """
from harness.tools.toolbox import NoArguments

class Mine:
    name = "mine"
    description = "{description}"
    arguments = NoArguments

    async def call(self, workspace, arguments):
        return "done"
"""


def events_of(run: Path) -> list[dict[str, Any]]:
    """The events of a run's only transcript."""
    (path,) = (run / "transcripts").glob("*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_torn_last_line_is_cut_off_and_its_sample_runs_again(
    written_runs: Callable[..., Path],
) -> None:
    folder = written_runs("agentic")
    path = folder / "agentic" / "results.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    lost = results_of(whole)[-1]
    again = harness(folder, "run", "--resume", "agentic")
    assert again.returncode == 0, again.stderr
    now = results(folder / "agentic")
    assert [r["sample"] for r in now] == [r["sample"] for r in results_of(whole)]
    assert (now[-1]["verdict"], now[-1]["code"]) == (lost["verdict"], lost["code"])


def results_of(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


@pytest.mark.thorough
async def test_a_finished_run_has_nothing_left_to_do(tmp_path: Path) -> None:
    harness(tmp_path, "run", "-n", "3", "--out", "r")
    before = (tmp_path / "r" / "results.jsonl").read_bytes()
    done = harness(tmp_path, "run", "--resume", "r")
    assert done.returncode == 0
    assert (tmp_path / "r" / "results.jsonl").read_bytes() == before


async def test_a_second_process_on_one_run_is_refused(tmp_path: Path, solver: Solver) -> None:
    released = asyncio.Event()

    def script(body: dict[str, Any], number: int) -> Reply:
        return Reply(solver(body, number).body, until=released.wait)

    async with ChatServer(script) as server:
        process = await start(tmp_path, "run", *FLAGS, "-n", "2", "--base-url", server.base_url)
        await server.arrived(1)
        code, _, err = await run(tmp_path, "run", "--resume", "r", "--base-url", server.base_url)
        assert (code, "another process" in err) == (2, True)
        released.set()
        assert (await finish(process))[0] == 0


@for_each("word", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_the_first_interrupt_asks_nothing_more_and_keeps_answers_under_way(
    word: signal.Signals, tmp_path: Path, solver: Solver
) -> None:
    release = asyncio.Event()

    def script(body: dict[str, Any], number: int) -> Reply:
        return Reply(solver(body, number).body, until=release.wait)

    async with ChatServer(script) as server:
        flags = [*FLAGS, "-n", "3", "--concurrency", "2", "--base-url", server.base_url]
        process = await start(tmp_path, "run", *flags)
        await server.arrived(2)
        process.send_signal(word)
        await heard(process, "interrupted")
        release.set()
        code, _, err = await finish(process)
        assert len(server.requests) == 2
    assert code == 130
    assert "harness run --resume r" in err
    asked = Asked(solver)
    async with ChatServer(asked) as server:
        code, _, err = await run(tmp_path, "run", "--resume", "r", "--base-url", server.base_url)
    assert code == 0, err
    assert len(results(tmp_path / "r")) == 3
    assert asked.total == 2 * 3 - 2, "the two answers that came are not asked for again"


@pytest.mark.thorough
async def test_a_sample_that_needs_no_further_answer_is_graded_after_the_first_interrupt(
    tmp_path: Path, solver: Solver
) -> None:
    release = asyncio.Event()

    def script(body: dict[str, Any], number: int) -> Reply:
        return Reply(solver(body, number).body, until=release.wait)

    async with ChatServer(script) as server:
        flags = ["-b", "fixture", "-m", "served", "--out", "r", "--concurrency", "2"]
        process = await start(tmp_path, "run", *flags, "--base-url", server.base_url)
        await server.arrived(2)
        process.send_signal(signal.SIGINT)
        await heard(process, "interrupted")
        release.set()
        code, _, err = await finish(process)
    assert code == 130, err
    assert len(results(tmp_path / "r")) == 2


async def test_a_request_that_waits_to_be_sent_again_holds_no_interrupt_up(
    tmp_path: Path,
) -> None:
    refused = failure(429, "slowly", headers={"retry-after": "100"})
    async with ChatServer(lambda _body, _number: refused) as server:
        flags = [*FLAGS, "-n", "1", "--base-url", server.base_url]
        process = await start(tmp_path, "run", *flags)
        await heard(process, "retry 1")
        process.send_signal(signal.SIGINT)
        code, _, err = await finish(process)
    assert code == 130, err


async def test_the_second_interrupt_stops_at_once_and_loses_nothing_committed(
    tmp_path: Path,
) -> None:
    async with ChatServer(lambda _b, _n: Reply(completion("late").body, silence_s=300)) as server:
        flags = [*FLAGS, "-n", "4", "--base-url", server.base_url]
        process = await start(tmp_path, "run", *flags)
        await server.arrived(1)
        process.send_signal(signal.SIGINT)
        await heard(process, "interrupted")
        process.send_signal(signal.SIGINT)
        code, _, err = await finish(process)
    assert code == 130
    assert "Traceback" not in err
    assert results(tmp_path / "r") == []
    pending = json.loads((tmp_path / "r" / "summary.json").read_text())["pending"]
    assert set(pending) <= {"not_run", "interrupted"}
    assert sum(pending.values()) == 4


async def test_what_has_changed_since_is_not_continued(tmp_path: Path) -> None:
    row = {"id": "mine/a", "statement": "Echo."}
    row["tests"] = [{"input": "1", "output": "1", "public": True}]
    (tmp_path / "p.jsonl").write_text(json.dumps(row))
    (tmp_path / "mine.py").write_text("def solve(problem): return 'print(input())'")
    flags = ["-b", "jsonl:p.jsonl", "-m", "python:mine:solve", "--out", "r"]
    done = harness(tmp_path, "run", *flags)
    assert done.returncode == 0, done.stderr
    (tmp_path / "p.jsonl").write_text(json.dumps({**row, "statement": "Echo it."}))
    done = harness(tmp_path, "run", "--resume", "r")
    assert done.returncode == 2
    assert "mine/a has changed" in done.stderr


async def test_problems_that_moved_are_found_by_their_new_place(tmp_path: Path) -> None:
    row = {"id": "mine/a", "statement": "Echo."}
    row["tests"] = [{"input": "1", "output": "1", "public": True}]
    (tmp_path / "p.jsonl").write_text(json.dumps(row))
    (tmp_path / "mine.py").write_text("def solve(problem): raise OSError('not now')")
    flags = ["-b", "jsonl:p.jsonl", "-m", "python:mine:solve", "--out", "r"]
    assert harness(tmp_path, "run", *flags).returncode == 4
    (tmp_path / "p.jsonl").rename(tmp_path / "q.jsonl")
    (tmp_path / "mine.py").write_text("def solve(problem): return 'print(input())'")
    assert harness(tmp_path, "run", "--resume", "r").returncode == 2
    done = harness(tmp_path, "run", "--resume", "r", "-b", "jsonl:q.jsonl")
    assert done.returncode == 0, done.stderr
    assert [result["verdict"] for result in results(tmp_path / "r")] == ["accepted"]


def test_environment_of_the_tests_is_bare() -> None:
    assert "OPENAI_API_KEY" not in environment()


@pytest.mark.thorough
async def test_an_interrupt_is_heard_even_when_the_model_never_waits(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def solve(problem): return 'print(0)'")
    flags = ["-m", "python:mine:solve", "-b", "fixture", "-n", "1", "-k", "100000", "--out", "r"]
    process = await start(tmp_path, "run", *flags)
    assert process.stderr is not None
    async with asyncio.timeout(60):
        while not (line := await process.stderr.readline()).startswith(b"[1/"):
            assert line, "the run has ended"
    process.send_signal(signal.SIGINT)
    code, _, err = await finish(process)
    assert code == 130, err
    assert len(results(tmp_path / "r")) < 100_000
