"""`--tool-protocol`: whole runs against endpoints with and without tools, and what is kept."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, Json, Reply, Script, Solver, failure
from for_each import for_each
from json_lines import json_lines
from program import harness, results, run
from text_model import REFUSALS, WITHOUT_TOOLS, caller, refusing, talker

TITLES = 4
FLAGS = ("-b", "fixture", "-n", str(TITLES), "--agentic-mode")
TWO = ("-n", "2")
ONE_BY_ONE = ("--concurrency", "1", "--workers", "1")


@pytest.fixture(scope="session")
def solutions(bundled_rows: list[dict[str, Any]]) -> dict[str, str]:
    return {row["title"]: row["references"][0] for row in bundled_rows}


async def _run(
    folder: Path, script: Script, *flags: str
) -> tuple[ChatServer, int | None, str, str]:
    async with ChatServer(script) as server:
        where = ["-m", "served", "--base-url", server.base_url, "--out", "r"]
        code, out, err = await run(folder, "run", *where, *FLAGS, *flags)
    return server, code, out, err


def _outcomes(run_directory: Path) -> list[tuple[Any, ...]]:
    keys = ("sample", "verdict", "stop_reason", "code", "tool_protocol", "fallback", "tool_calls")
    return sorted(tuple(result[key] for key in keys) for result in results(run_directory))


def _flags(run_directory: Path) -> set[tuple[str, bool]]:
    return {
        (result["tool_protocol"], result.get("fallback", False))
        for result in results(run_directory)
    }


def _spec(run_directory: Path) -> dict[str, Any]:
    return json.loads((run_directory / "run.json").read_text())["spec"]


def _refused(server: ChatServer) -> int:
    return sum("tools" in request.body for request in server.requests)


@for_each("who", ["vLLM", "LiteLLM"])
async def test_auto_falls_back_to_text_for_the_whole_run(
    tmp_path: Path, solutions: dict[str, str], who: str
) -> None:
    script = refusing(caller(solutions), *REFUSALS[who])
    server, code, out, err = await _run(
        tmp_path, script, *TWO, "--concurrency", "1", "--workers", "1"
    )
    assert code == 0, err
    assert _refused(server) == 1
    assert {result["verdict"] for result in results(tmp_path / "r")} == {"accepted"}
    assert _flags(tmp_path / "r") == {("text", False)}
    assert "without native tools" not in out  # it is so of all
    assert "fallback" not in out
    assert REFUSALS[who][1][:40] in err
    assert _spec(tmp_path / "r")["tool_protocol"] == "auto"
    transcripts = [path.read_text() for path in (tmp_path / "r" / "transcripts").iterdir()]
    assert all('"event":"tool_protocol"' in text for text in transcripts)
    assert sum('"event":"refused"' in text for text in transcripts) == 1


@pytest.mark.thorough
async def test_samples_under_way_fall_back_too(tmp_path: Path, solutions: dict[str, str]) -> None:
    script = refusing(caller(solutions), *REFUSALS["Ollama"])
    server, code, _, err = await _run(tmp_path, script, "--concurrency", "8")
    assert code == 0, err
    assert _refused(server) <= TITLES  # no sample is refused twice, however slow this machine
    assert _flags(tmp_path / "r") == {("text", False)}


@pytest.mark.thorough
async def test_auto_is_native_where_tools_are_taken(tmp_path: Path, solver: Solver) -> None:
    server, code, out, err = await _run(tmp_path, solver)
    assert code == 0, err
    assert _refused(server) == len(server.requests)
    assert _flags(tmp_path / "r") == {("native", False)}
    assert "handed in" not in out


async def test_native_shows_the_providers_words_and_tries_nothing_else(
    tmp_path: Path, solutions: dict[str, str]
) -> None:
    script = refusing(caller(solutions), *REFUSALS["OpenRouter"])
    server, code, _, err = await _run(tmp_path, script, *TWO, "--tool-protocol", "native")
    assert code == 4
    assert "No endpoints found that support tool use" in err
    assert _refused(server) == len(server.requests) == 2
    assert results(tmp_path / "r") == []
    assert _spec(tmp_path / "r")["tool_protocol"] == "native"


@for_each("who", WITHOUT_TOOLS)
async def test_a_server_that_was_started_without_tools_is_no_reason_to_ask_in_text(
    tmp_path: Path, solutions: dict[str, str], who: str
) -> None:
    script = refusing(caller(solutions), *WITHOUT_TOOLS[who])
    server, code, _, err = await _run(tmp_path, script, *TWO)
    assert code == 4
    assert "give --tool-protocol text" in err
    assert _refused(server) == len(server.requests) == 2  # none is retried, none is in text
    assert results(tmp_path / "r") == []


async def test_a_model_of_another_protocol_stops_the_run_and_names_the_flag(tmp_path: Path) -> None:
    message = "Function tools are not supported in /v1/chat/completions. Please use /v1/responses."
    server, code, _, err = await _run(
        tmp_path, lambda *_: failure(400, message), "--concurrency", "1", "--workers", "1"
    )
    assert code == 4
    assert "give --api responses" in err
    assert len(server.requests) == 1  # the others would be refused as well
    assert results(tmp_path / "r") == []


@pytest.mark.thorough
async def test_text_never_tries_native(tmp_path: Path, solver: Solver) -> None:
    """The solver calls natively wherever it is offered tools; here it is offered none."""
    spec = tmp_path / "spec.yaml"
    spec.write_text("tool_protocol: text\n")
    server, code, _, err = await _run(tmp_path, solver, "-c", str(spec))
    assert code == 0, err
    assert _refused(server) == 0
    assert "native" not in {result["tool_protocol"] for result in results(tmp_path / "r")}
    assert _spec(tmp_path / "r")["tool_protocol"] == "text"


def _mixed(solutions: dict[str, str]) -> Script:
    """Calls tools but for one problem, for which it only ever talks, and then gives wrong code."""
    call, talk = caller(solutions), talker(dict.fromkeys(solutions, "print(0)"))
    silent = next(iter(solutions))

    def script(body: Json, number: int) -> Reply:
        answers = talk if silent in str(body["messages"][1]["content"]) else call
        reply = answers(body, number)
        assert isinstance(reply, Reply)
        return reply

    return script


@pytest.fixture
async def mixed(tmp_path: Path, solutions: dict[str, str]) -> tuple[Path, str]:
    _, code, out, err = await _run(tmp_path, _mixed(solutions))
    assert code == 0, err
    return tmp_path, out


@pytest.mark.thorough
async def test_a_fallback_is_flagged_and_the_rate_without_it_stands_beside(
    mixed: tuple[Path, str],
) -> None:
    folder, out = mixed
    flagged = [result for result in results(folder / "r") if result["fallback"]]
    assert len(flagged) == 1
    assert (flagged[0]["tool_protocol"], flagged[0]["tool_calls"]) == ("text", 0)
    assert flagged[0]["verdict"] != "accepted"
    summary = json.loads((folder / "r" / "summary.json").read_text())
    assert summary["fallback"] == 1
    assert summary["tool_protocols"] == {"native": TITLES - 1, "text": 1}
    assert summary["pass_at_1"]["value"] == (TITLES - 1) / TITLES
    assert (summary["without_fallback"]["value"], summary["without_fallback"]["problems"]) == (1, 3)
    rows = {line.strip().split("  ")[0]: line for line in out.splitlines()}
    assert "100.0" in rows["without fallback"]
    assert "75.0" in rows["solved"]
    assert "1 sample asked without tools: none called, or none read" in out


@pytest.mark.thorough
async def test_a_run_with_text_tools_replays_the_same(mixed: tuple[Path, str]) -> None:
    folder, out = mixed
    done = harness(folder, "run", "-m", "replay:r", "--out", "again", *FLAGS)
    assert done.returncode == 0, done.stderr
    assert _outcomes(folder / "again") == _outcomes(folder / "r")
    rates = [line for line in done.stdout.splitlines() if "solved" in line or "without" in line]
    assert rates == [line for line in out.splitlines() if "solved" in line or "without" in line]
    assert len(rates) == 3
    (fell_back,) = (sample for sample, *_, fallback, _ in _outcomes(folder / "r") if fallback)
    shown = harness(folder, "transcript", "again", fell_back)
    assert "programs come in text" in shown.stdout


@pytest.mark.thorough
async def test_results_from_before_there_was_a_choice_are_still_read(
    mixed: tuple[Path, str],
) -> None:
    folder, _ = mixed
    path = folder / "r" / "results.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        for key in ("tool_protocol", "fallback", "refused"):
            line.pop(key, None)
    path.write_text(json_lines(lines))
    shutil.copytree(folder / "r", folder / "again")
    done = harness(folder, "compare", "r", "again")
    assert done.returncode == 0, done.stderr


@for_each("given", ["xml", "NATIVE"])
def test_an_unknown_tool_protocol_is_refused_in_one_line(tmp_path: Path, given: str) -> None:
    done = harness(tmp_path, "run", "--agentic-mode", "--tool-protocol", given)
    assert done.returncode == 2
    assert "--tool-protocol" in done.stderr
    assert "'auto', 'native' or 'text'" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def _prompts(folder: Path, in_text: str) -> None:
    folder.mkdir()
    (folder / "system.j2").write_text("My own words.")
    native = 'Solve "{{ problem.title }}".'
    (folder / "user.j2").write_text(f"{{% if tools %}}{native}{{% else %}}{in_text}{{% endif %}}")


@pytest.mark.thorough
async def test_a_fallback_asks_with_the_users_own_prompt(
    tmp_path: Path, solutions: dict[str, str]
) -> None:
    _prompts(tmp_path / "mine", "# {{ problem.title }}\n\n{{ problem.statement }}")
    server, code, _, err = await _run(tmp_path, talker(solutions), "--prompt", "mine")
    assert code == 0, err
    assert _flags(tmp_path / "r") == {("text", True)}
    assert {result["verdict"] for result in results(tmp_path / "r")} == {"accepted"}
    systems = [request.body["messages"][0]["content"] for request in server.requests]
    assert systems.count("My own words.") == TITLES


async def test_a_broken_prompt_for_a_fallback_is_found_before_the_run(tmp_path: Path) -> None:
    _prompts(tmp_path / "mine", "{{ problem.nothing }}")
    server, code, _, err = await _run(tmp_path, talker({}), "--prompt", "mine")
    assert (code, server.requests) == (2, [])
    assert "user.j2" in err
    assert "nothing" in err
