"""Each flag has an effect, seen where a user would see it: the provider's side, or the results."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, Reply, Solver, completion
from for_each import for_each
from marks import TIMES, Marks, overlap
from program import finish, harness, results, run, start

SOLVE = "```python\nimport sys\nprint(sys.stdin.read())\n```"


def _fixed(text: str) -> Any:
    return lambda _body, _number: completion(
        text, usage={"prompt_tokens": 7, "completion_tokens": 3}
    )


async def _served(folder: Path, script: Any, *flags: str) -> tuple[ChatServer, str, str]:
    async with ChatServer(script) as server:
        base = ["-m", "served", "--base-url", server.base_url, "--out", "r"]
        code, out, err = await run(folder, "run", *base, *flags)
    assert code == 0, err
    return server, out, err


@pytest.mark.thorough
async def test_sampling_settings_reach_the_provider_and_only_when_given(tmp_path: Path) -> None:
    flags = ["--temperature", "0.25", "--max-tokens", "77", "--reasoning-effort", "low"]
    server, _, _ = await _served(tmp_path, _fixed(SOLVE), "-b", "fixture", "-n", "1", *flags)
    body = server.requests[0].body
    assert (body["temperature"], body["max_tokens"]) == (0.25, 77)
    assert body["reasoning_effort"] == "low"
    (tmp_path / "plain").mkdir()
    server, _, _ = await _served(tmp_path / "plain", _fixed(SOLVE), "-b", "fixture", "-n", "1")
    sent = server.requests[0].body.keys()
    assert not {"temperature", "max_tokens", "reasoning_effort"} & sent


@pytest.mark.thorough
async def test_the_model_is_the_one_named_or_that_of_the_environment(tmp_path: Path) -> None:
    async with ChatServer(_fixed(SOLVE)) as server:
        flags = ["-b", "fixture", "-n", "1", "--base-url", server.base_url]
        code, _, err = await run(tmp_path, "run", *flags, MODEL_ID="org/from-environment")
        assert code == 0, err
        code, _, err = await run(tmp_path, "run", *flags, "-m", "org/given", MODEL_ID="org/other")
        assert code == 0, err
    assert [request.body["model"] for request in server.requests] == [
        "org/from-environment",
        "org/given",
    ]


async def test_a_password_in_the_url_is_used_but_not_kept(tmp_path: Path) -> None:
    async with ChatServer(_fixed(SOLVE)) as server:
        url = server.base_url.replace("http://", "http://user:planted@")
        flags = ["-b", "fixture", "-n", "1", "-m", "x", "--base-url", url, "--out", "r"]
        code, out, err = await run(tmp_path, "run", *flags)
    assert code == 0, err
    assert len(server.requests) == 1
    kept = [path.read_text() for path in (tmp_path / "r").rglob("*") if path.is_file()]
    assert "planted" not in "".join([out, err, *kept])


async def test_agentic_mode_offers_the_three_tools_and_single_shot_none(
    tmp_path: Path, solver: Solver
) -> None:
    flags = ["-b", "fixture", "-n", "1"]
    server, _, _ = await _served(tmp_path, solver, *flags, "--agentic-mode")
    offered = [tool["function"]["name"] for tool in server.requests[0].body["tools"]]
    assert offered == ["read_problem", "write_solution", "run_tests"]
    (tmp_path / "single").mkdir()
    server, _, _ = await _served(tmp_path / "single", solver, *flags)
    assert not server.requests[0].body.get("tools")
    assert len(server.requests) == 1


@pytest.mark.thorough
async def test_iterating_repairs_what_a_single_shot_cannot(tmp_path: Path, solver: Solver) -> None:
    flags = ["-b", "fixture", "-n", "8"]
    await _served(tmp_path, solver, *flags, "--agentic-mode")
    assert {result["verdict"] for result in results(tmp_path / "r")} == {"accepted"}
    (tmp_path / "single").mkdir()
    await _served(tmp_path / "single", solver, *flags)
    assert "accepted" not in {result["verdict"] for result in results(tmp_path / "single" / "r")}


async def test_max_turns_bounds_the_model_calls_of_a_sample(tmp_path: Path) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "read_problem", "arguments": "{}"}}
    server, _, _ = await _served(
        tmp_path,
        lambda _body, number: completion(None, [{**call, "id": f"c{number}"}]),
        *("-b", "fixture", "-n", "1", "--agentic-mode", "--max-turns", "4"),
    )
    assert len(server.requests) == 4
    assert results(tmp_path / "r")[0]["stop_reason"] == "turn_limit"


@pytest.mark.thorough
async def test_sample_timeout_ends_a_sample_that_is_still_graded(tmp_path: Path) -> None:
    _, _, _ = await _served(
        tmp_path,
        lambda _body, _number: Reply(completion("late").body, silence_s=60),
        *("-b", "fixture", "-n", "1", "--agentic-mode", "--sample-timeout", "0.5"),
    )
    result = results(tmp_path / "r")[0]
    assert (result["stop_reason"], result["verdict"]) == ("time_limit", "no_solution")


@pytest.mark.thorough
async def test_concurrency_bounds_the_requests_in_flight(tmp_path: Path) -> None:
    flying = most = 0

    def script(_body: dict[str, Any], _number: int) -> Reply:
        nonlocal flying, most
        flying += 1
        most = max(most, flying)

        async def land() -> None:
            nonlocal flying
            flying -= 1

        return Reply(completion(SOLVE).body, silence_s=0.05, until=land)

    await _served(tmp_path, script, "-b", "fixture", "--concurrency", "3")
    assert most == 3


async def test_prompt_names_a_folder_of_the_users_own(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "system.j2").write_text("Be terse.")
    (folder / "user.j2").write_text("Do {{ problem.id }}.")
    server, _, _ = await _served(
        tmp_path, _fixed(SOLVE), "-b", "fixture", "-n", "1", "--prompt", "mine"
    )
    contents = [message["content"] for message in server.requests[0].body["messages"]]
    assert contents[0] == "Be terse."
    assert contents[1].startswith("Do fixture/")
    assert json.loads((tmp_path / "r" / "run.json").read_text())["prompt"]["name"] == "mine"


async def test_price_turns_tokens_into_dollars_and_without_it_cost_is_unknown(
    tmp_path: Path,
) -> None:
    flags = ["-b", "fixture", "-n", "2", "--no-run-tests", "--json"]
    _, out, _ = await _served(tmp_path, _fixed(SOLVE), *flags, "--price", "2,10")
    assert json.loads(out)["cost"] == pytest.approx(2 * (7 * 2 + 3 * 10) / 1e6)
    (tmp_path / "plain").mkdir()
    _, out, _ = await _served(tmp_path / "plain", _fixed(SOLVE), *flags)
    assert json.loads(out)["cost"] is None


async def test_an_answer_without_code_or_without_words_is_graded_as_no_solution(
    tmp_path: Path,
) -> None:
    def script(_body: Any, number: int) -> Reply:
        return completion("" if number else "I would rather not.")

    flags = ["-b", "fixture", "-n", "2", "--concurrency", "1"]
    await _served(tmp_path, script, *flags)
    assert [result["verdict"] for result in results(tmp_path / "r")] == ["no_solution"] * 2


async def test_infrastructure_is_pending_not_wrong_and_exits_4(tmp_path: Path) -> None:
    async with ChatServer(lambda _b, n: Reply(b"{}", status=400) if n else completion(SOLVE)) as s:
        flags = ["-b", "fixture", "-n", "2", "-m", "x", "--base-url", s.base_url, "--out", "r"]
        code, out, err = await run(tmp_path, "run", *flags, "--json", "--concurrency", "1")
    assert code == 4, err
    summary = json.loads(out)
    assert (summary["graded"], summary["pending"]) == (1, {"model_error": 1})
    assert summary["pass_at_1"]["problems"] == 1
    assert len(results(tmp_path / "r")) == 1
    assert "--resume r" in err
    async with ChatServer(_fixed(SOLVE)) as server:
        again = ["run", "--resume", "r", "--base-url", server.base_url]
        code, _, err = await run(tmp_path, *again)
    assert (code, len(server.requests)) == (0, 1), err
    assert len(results(tmp_path / "r")) == 2


def _run(folder: Path, *flags: str) -> list[dict[str, Any]]:
    done = harness(folder, "run", "--out", "r", *flags)
    assert done.returncode == 0, done.stderr
    return results(folder / "r")


def _unjudged(folder: Path, *flags: str) -> list[dict[str, Any]]:
    """Return a result of each bundled problem that the flags choose; nothing is judged."""
    (folder / "mine.py").write_text("def solve(problem): return 'pass'")
    return _run(folder, "-b", "fixture", "-m", "python:mine:solve", "--no-run-tests", *flags)


@pytest.mark.thorough
def test_test_timeout_and_memory_bound_a_test(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def slow(problem): return 'while True: pass'\n"
        "def large(problem): return 'x = bytearray(150 << 20)'\n"
    )
    flags = ["-b", "fixture", "-t", "dry-beds"]
    first = _run(tmp_path, *flags, "-m", "python:mine:slow", "--test-timeout", "0.3")[0]
    assert first["verdict"] == "time_limit"
    assert 0.3 <= first["tests"][-1]["cpu_s"] < 3
    (tmp_path / "r").rename(tmp_path / "r1")
    assert _run(tmp_path, *flags, "-m", "python:mine:large")[0]["verdict"] == "wrong_answer"
    (tmp_path / "r").rename(tmp_path / "r2")
    large = _run(tmp_path, *flags, "-m", "python:mine:large", "--memory", "128")[0]
    assert large["verdict"] == "memory_limit"


def test_a_python_function_can_be_the_model(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def solve(problem):\n    assert 'tests' not in problem\n"
        "    return '```python\\nprint(1)\\n```'\n"
    )
    result = _run(tmp_path, "-b", "fixture", "-t", "dry-beds", "-m", "python:mine:solve")[0]
    assert result["code"] == "print(1)"


def test_samples_and_sample_size_bound_a_run(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def solve(problem): return 'print(1)'")
    flags = ["-b", "fixture", "-n", "3", "-k", "2", "-m", "python:mine:solve"]
    samples = Counter(result["problem_id"] for result in _run(tmp_path, *flags))
    assert list(samples.values()) == [2, 2, 2]


def test_the_flag_no_run_tests_grades_nothing(tmp_path: Path) -> None:
    done = harness(tmp_path, "run", "--no-run-tests", "-n", "4", "--json")
    summary = json.loads(done.stdout)
    assert (summary["ungraded"], summary["graded"], summary["pass_at_1"]) == (4, 0, None)


@pytest.mark.thorough
def test_isolated_tests_are_not_confirmed_again(tmp_path: Path) -> None:
    done = harness(tmp_path, "run", "--set", "isolate_tests=true", "-n", "6", "--json")
    summary = json.loads(done.stdout)
    assert (summary["judged_again"]["confirmed"], summary["judged_again"]["rechecked"]) == (
        [0, 0],
        [0, 0],
    )
    assert summary["graded"] == 6


@pytest.mark.thorough
async def test_workers_are_as_many_as_said(tmp_path: Path) -> None:
    """Of two samples both are judged at once by two workers, and one after the other by one."""
    row = {"statement": "?", "tests": [{"input": "", "output": "", "public": True}]}
    (tmp_path / "own.jsonl").write_text(json.dumps(row))
    flags = ["-b", "jsonl:own.jsonl", "-k", "2", "-m", "python:mine:solve"]
    marks = Marks()
    (tmp_path / "mine.py").write_text(f"def solve(problem): return {marks.sleeper!r}")
    stay = ["--set", "wall_timeout=600", "--out", "two"]
    process = await start(tmp_path, "run", *flags, "--workers", "2", *stay)
    try:
        await asyncio.to_thread(marks.wait_for_both, 60)
    finally:
        process.kill()
        await finish(process)
    (tmp_path / "mine.py").write_text(f"def solve(problem): return {TIMES!r}")
    done = harness(tmp_path, "run", *flags, "--workers", "1", "--out", "one")
    assert done.returncode == 0, done.stderr
    ends = [path.read_text().splitlines()[-1] for path in (tmp_path / "one/transcripts").iterdir()]
    assert not overlap(json.loads(end)["grade"]["tests"][0]["got"] for end in ends)


SELECTIONS = {
    "-t": (["-t", "dry-beds"], lambda r: r["problem_id"] == "fixture/dry-beds"),
    "--filter-difficulty": (["--filter-difficulty", "hard"], lambda r: r["difficulty"] == "hard"),
    "--difficulties": (
        ["--difficulties", "medium,hard"],
        lambda r: r["difficulty"] in {"medium", "hard"},
    ),
    "--filter-platform": (["--filter-platform", "apps"], lambda r: r["platform"] == "apps"),
    "--platforms": (
        ["--platforms", "apps,atcoder"],
        lambda r: r["platform"] in {"apps", "atcoder"},
    ),
    "--min-release-date": (
        ["--min-release-date", "2025-12-01"],
        lambda r: r["release_date"] >= "2025-12-01",
    ),
    "--max-release-date": (
        ["--max-release-date", "2025-12-01"],
        lambda r: r["release_date"] <= "2025-12-01",
    ),
}


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return _unjudged(tmp_path_factory.mktemp("all"))


@for_each("flag", SELECTIONS)
def test_a_filter_keeps_what_it_says_and_all_of_it(
    flag: str, tmp_path: Path, everything: list[dict[str, Any]]
) -> None:
    flags, keeps = SELECTIONS[flag]
    kept = {result["sample"] for result in _unjudged(tmp_path, *flags)}
    assert kept == {result["sample"] for result in everything if keeps(result)}
    assert 0 < len(kept) < len(everything)


def test_tags_filter_by_all_of_them(tmp_path: Path, bundled_rows: list[dict[str, Any]]) -> None:
    tags = next(row["tags"] for row in bundled_rows if len(row["tags"]) > 1)[:2]
    flags = [word for tag in tags for word in ("--filter-tags", tag)]
    kept = {result["problem_id"] for result in _unjudged(tmp_path, *flags)}
    assert kept == {row["id"] for row in bundled_rows if set(tags) <= set(row["tags"])}


@pytest.mark.thorough
def test_sampling_is_decided_by_the_seed(tmp_path: Path) -> None:
    def drawn(name: str, *flags: str) -> list[str]:
        done = harness(tmp_path, "run", "-n", "6", "--no-run-tests", "--out", name, *flags)
        assert done.returncode == 0, done.stderr
        return sorted(result["sample"] for result in results(tmp_path / name))

    random = [drawn(f"a{seed}", "--sampling", "random", "--seed", str(seed)) for seed in range(4)]
    assert drawn("again", "--sampling", "random", "--seed", "3") == random[3]
    assert len({tuple(samples) for samples in random}) > 1
    assert drawn("first") != random[3]
    assert len(drawn("stratified", "--sampling", "stratified")) == 6


def test_a_yaml_file_is_a_spec_and_flags_win(tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text(
        "filter_platform: [apps]\nmode: agentic\nmax-turns: 1\nsample_size: 3\n"
    )
    done = harness(tmp_path, "run", "-c", "spec.yaml", "--max-turns", "2", "--out", "r")
    assert done.returncode == 0, done.stderr
    spec = json.loads((tmp_path / "r" / "run.json").read_text())["spec"]
    assert (spec["mode"], spec["max_turns"]) == ("agentic", 2)
    assert {result["platform"] for result in results(tmp_path / "r")} == {"apps"}


def test_a_dry_run_says_what_would_be_done_and_does_nothing(tmp_path: Path) -> None:
    flags = ["-b", "fixture", "-n", "3", "-m", "x", "--base-url", "http://127.0.0.1:9/v1"]
    done = harness(tmp_path, "run", *flags, "--agentic-mode", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "3 problems" in done.stderr
    assert "dry run: a real run would send up to 30 requests to 127.0.0.1:9" in done.stderr
    assert "bill" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_json_is_all_there_is_on_stdout(tmp_path: Path) -> None:
    done = harness(tmp_path, "run", "-n", "2", "--json")
    assert json.loads(done.stdout)["graded"] == 2
    assert "[2/2]" in done.stderr


@pytest.mark.thorough
def test_known_issues_can_be_left_out(tmp_path: Path, test_data: Path) -> None:
    rows = test_data / "lcb_codegen_public1055" / "test_public_only.jsonl.gz"
    counts = [
        harness(tmp_path, "problems", f"livecodebench:{rows}", *flags).stdout.splitlines()[-1]
        for flags in ([], ["--exclude-known-issues"])
    ]
    assert counts == ["1,055 problems of 1,055", "1,044 problems of 1,055"]


def test_problems_shows_a_problem_without_its_hidden_tests(
    tmp_path: Path, bundled_rows: list[dict[str, Any]]
) -> None:
    row = next(row for row in bundled_rows if row["id"] == "fixture/dry-beds")
    shown = harness(tmp_path, "problems", "dry-beds").stdout
    assert row["statement"].splitlines()[0] in shown
    hidden = [test for test in row["tests"] if not test["public"]]
    assert f"{len(hidden)} hidden" in shown
    longest = max(hidden, key=lambda test: len(test["input"]))
    assert longest["input"] not in shown


async def test_extraction_is_ours_or_upstream_s(tmp_path: Path) -> None:
    answer = f"{SOLVE}\nFor example:\n```\n1\n```"
    flags = ["-b", "fixture", "-n", "1"]
    for extract, rule in (("harness", "longest block that parses"), ("lcb", "last two fences")):
        (tmp_path / extract).mkdir()
        await _served(tmp_path / extract, _fixed(answer), *flags, "--set", f"extract={extract}")
        (only,) = results(tmp_path / extract / "r")
        assert only["extraction"] == rule
    assert only["code"] == "1"
    wrong = harness(tmp_path, "run", *flags, "-m", "replay:bundled", "--set", "extract=magic")
    assert wrong.returncode == 2
    assert "--set extract magic: known are harness, lcb for code generation" in wrong.stderr
