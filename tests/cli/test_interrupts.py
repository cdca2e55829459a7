"""Whatever stops a run, each sample ends up in the results exactly once."""

import asyncio
import json
import random
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, Reply, Solver, completion
from program import environment, finish, harness, results, run, start

FLAGS = ["-b", "fixture", "--agentic-mode", "-m", "served", "--out", "r"]


def _titled(solver: Solver, asked: Counter[str], latency_s: float = 0.02) -> Any:
    def script(body: dict[str, Any], number: int) -> Reply:
        asked[solver.title_in(body) or ""] += 1
        return Reply(solver(body, number).body, silence_s=latency_s)

    return script


@pytest.mark.parametrize("seed", range(5))
async def test_kill_9_at_any_moment_then_resume(
    seed: int, tmp_path: Path, solver: Solver, bundled_rows: list[dict[str, Any]]
) -> None:
    requests = random.Random(seed).randint(1, 3 * len(bundled_rows) // 2)
    async with ChatServer(_titled(solver, Counter())) as server:
        process = await start(tmp_path, "run", *FLAGS, "--base-url", server.base_url)
        await server.arrived(requests)
        process.kill()
        await finish(process)
    before = results(tmp_path / "r")
    asked: Counter[str] = Counter()
    async with ChatServer(_titled(solver, asked)) as server:
        resume = ["run", "--resume", "r", "--base-url", server.base_url]
        code, _, err = await run(tmp_path, *resume)
    assert code == 0, err
    after = results(tmp_path / "r")
    assert after[: len(before)] == before
    assert sorted(r["problem_id"] for r in after) == sorted(row["id"] for row in bundled_rows)
    assert {r["verdict"] for r in after} == {"accepted"}
    committed = {result["title"] for result in before}
    assert not committed & asked.keys(), "what was committed is not asked again"


async def test_a_torn_last_line_is_cut_off_and_its_sample_runs_again(tmp_path: Path) -> None:
    done = harness(tmp_path, "run", "--agentic-mode", "--out", "r")
    assert done.returncode == 0, done.stderr
    path = tmp_path / "r" / "results.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    lost = results_of(whole)[-1]
    again = harness(tmp_path, "run", "--resume", "r")
    assert again.returncode == 0, again.stderr
    now = results(tmp_path / "r")
    assert [r["sample"] for r in now] == [r["sample"] for r in results_of(whole)]
    assert (now[-1]["verdict"], now[-1]["code"]) == (lost["verdict"], lost["code"])


def results_of(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


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


@pytest.mark.parametrize("word", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_the_first_interrupt_finishes_what_is_under_way(
    word: signal.Signals, tmp_path: Path, solver: Solver
) -> None:
    told = asyncio.Event()

    def script(body: dict[str, Any], number: int) -> Reply:
        return Reply(solver(body, number).body, until=told.wait)

    async with ChatServer(script) as server:
        flags = [*FLAGS, "--concurrency", "2", "--base-url", server.base_url]
        process = await start(tmp_path, "run", *flags)
        await server.arrived(2)
        process.send_signal(word)
        assert process.stderr is not None
        async with asyncio.timeout(30):
            while b"interrupted" not in await process.stderr.readline():
                pass
        told.set()
        code, _, err = await finish(process)
    assert code == 130
    assert "harness run --resume r" in err
    done = results(tmp_path / "r")
    assert 2 <= len(done) < 20
    asked: Counter[str] = Counter()
    async with ChatServer(_titled(solver, asked, 0)) as server:
        code, _, err = await run(tmp_path, "run", "--resume", "r", "--base-url", server.base_url)
    assert code == 0, err
    assert len(results(tmp_path / "r")) == 20
    assert not asked.keys() & {result["title"] for result in done}


async def test_the_second_interrupt_stops_at_once_and_loses_nothing_committed(
    tmp_path: Path,
) -> None:
    async with ChatServer(lambda _b, _n: Reply(completion("late").body, silence_s=300)) as server:
        process = await start(tmp_path, "run", *FLAGS, "--base-url", server.base_url)
        await server.arrived(1)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        async with asyncio.timeout(30):
            while b"interrupted" not in await process.stderr.readline():
                pass
        process.send_signal(signal.SIGINT)
        code, _, err = await finish(process)
    assert code == 130
    assert "Traceback" not in err
    assert results(tmp_path / "r") == []
    assert json.loads((tmp_path / "r" / "summary.json").read_text())["pending"] == {"not_run": 20}


async def test_what_has_changed_since_is_not_continued(tmp_path: Path) -> None:
    row = {"id": "mine/a", "statement": "Echo.", "tests": []}
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
    row = {"id": "mine/a", "statement": "Echo.", "tests": []}
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


async def test_an_interrupt_is_heard_even_when_the_model_never_waits(tmp_path: Path) -> None:
    process = await start(tmp_path, "run", "-n", "1", "-k", "100000", "--out", "r")
    assert process.stderr is not None
    async with asyncio.timeout(30):
        while not (await process.stderr.readline()).startswith(b"[1/"):
            pass
    process.send_signal(signal.SIGINT)
    code, _, err = await finish(process)
    assert code == 130, err
    assert len(results(tmp_path / "r")) < 100_000
