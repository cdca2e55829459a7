"""`harness ls`: the runs there are, and how scores went."""

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from for_each import for_each
from program import harness, start
from terminal import on_terminal
from written import FIRST, PLAYED

GOOD = "def solve(problem):\n    return ''\n"


@pytest.fixture(scope="module")
def listed_runs(written_runs: Callable[..., Path]) -> Path:
    """A good run, then one of a model that knows nothing, of the same problems; and another."""
    made = written_runs("agentic")
    (made / "own.py").write_text(GOOD)
    (made / "runs").mkdir()
    (made / "agentic").rename(made / "runs" / "monday")
    for arguments in (
        (*FIRST, "-m", "python:own:solve", "--out", "runs/tuesday"),
        (*PLAYED, "-n", "3", "--out", "runs/deeper/few"),
    ):
        done = harness(made, "run", *arguments)
        assert done.returncode == 0, done.stderr
    return made


def test_runs_are_listed_with_what_they_are(listed_runs: Path) -> None:
    done = harness(listed_runs, "ls")
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line for line in done.stdout.splitlines() if line.startswith("│")]
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]
    runs = {row[0]: row[1:6] for row in rows}
    assert runs == {
        "monday": ["replay:written", "agentic", "default", "20", "75.0 %"],
        "tuesday": ["python:own:solve", "single_shot", "default", "20", "0.0 %"],
        "deeper/few": ["replay:written", "single_shot", "default", "3", runs["deeper/few"][4]],
    }
    assert {row[-1] for row in rows} == {"done"}


def test_a_trend_marks_the_regression(listed_runs: Path) -> None:
    done = harness(listed_runs, "ls", "runs", "--trend")
    assert done.returncode == 0
    tuesday = next(line for line in done.stdout.splitlines() if "tuesday" in line)
    assert "regression" in tuesday
    assert "-75.0" in tuesday
    assert "monday" in tuesday  # against it
    assert "regression" not in next(
        line for line in done.stdout.splitlines() if "deeper/few" in line
    )
    data = json.loads(harness(listed_runs, "ls", "--trend", "--json").stdout)
    marks = {run["path"]: run.get("word") for each in data["trends"] for run in each["runs"]}
    assert marks["runs/tuesday"] == "regression"
    assert marks["runs/monday"] is None


def test_json_has_the_runs_in_full(listed_runs: Path) -> None:
    data = json.loads(harness(listed_runs, "ls", "--json").stdout)
    assert set(data) == {"schema_version", "runs"}
    monday = next(run for run in data["runs"] if run["path"] == "runs/monday")
    assert monday["pass_at_1"]["value"] == 0.75
    assert (monday["state"], monday["cost"]) == ("done", None)


def test_the_test_that_marks_is_named_in_the_help(listed_runs: Path) -> None:
    text = " ".join(harness(listed_runs, "ls", "--help").stdout.split())
    assert "score test" in text


async def test_a_run_that_goes_on_is_under_way(tmp_path: Path) -> None:
    program = (
        "import time\ndef solve(problem):\n    open('asked', 'w').close()\n    time.sleep(60)\n"
    )
    (tmp_path / "own.py").write_text(program)
    os.mkfifo(tmp_path / "asked")
    process = await start(tmp_path, "run", "-m", "python:own:solve", "-n", "2", "--out", "runs/r")
    try:
        async with asyncio.timeout(60):
            await asyncio.to_thread((tmp_path / "asked").read_text)
        assert "running 0/2" in harness(tmp_path, "ls").stdout
    finally:
        process.kill()
        await process.communicate()
    assert "pending 2: 2 interrupted" in harness(tmp_path, "ls").stdout


def test_no_folder_and_no_runs_are_said(tmp_path: Path) -> None:
    done = harness(tmp_path, "ls")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "runs is not a folder" in done.stderr
    (tmp_path / "runs").mkdir()
    assert harness(tmp_path, "ls").stdout == "no runs in runs\n"


@for_each("columns", [60, 100])
def test_the_list_folds_nothing_on_a_terminal(listed_runs: Path, columns: int) -> None:
    for flags in ((), ("--trend",)):
        session = on_terminal(listed_runs, "ls", *flags, columns=columns, lines=40)
        assert (session.code, session.wrapped) == (0, 0)
        assert "monday" in session.end
