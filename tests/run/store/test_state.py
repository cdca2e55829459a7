"""How far a run is and why it is no further: the same words everywhere."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from program import harness
from runs_made import request, result, start, write_run, write_transcript
from visitor import Visitor

from harness.run.store.directory import RunDirectory
from harness.run.summary.loaded_run import read_run

MODEL = """
def solve(problem):
    open("asked", "a").write(".")
    return "```python\\nprint(1)\\n```"
"""
NOT_FOUND = "HTTP 404: model not found"


def ended(reason: str, error: str = "") -> dict[str, Any]:
    return {
        "event": "sample_end",
        "stop_reason": reason,
        "chosen_by": "none",
        "usage": {},
        "error": error,
    }


@pytest.fixture
def failed(tmp_path: Path) -> Path:
    """A run of three samples, all of which the provider refused."""
    problems = ["p/a", "p/b", "p/c"]
    run = write_run(tmp_path / "r", [], problems=problems)
    for problem in problems:
        events = [
            start(problem),
            request(1, ("user", "?")),
            ended("model_error", NOT_FOUND + "\nmore"),
        ]
        write_transcript(run, problem, events)
    return run


def test_a_run_that_failed_is_stopped_and_says_why(failed: Path) -> None:
    state = read_run(failed).state
    assert (state.word, state.pending) == ("stopped", {"model_error": 3})
    assert state.text == f"stopped 0/3: {NOT_FOUND}"


@pytest.mark.thorough
@pytest.mark.usefixtures("failed")
def test_every_command_and_page_says_the_same(tmp_path: Path) -> None:
    visitor = Visitor(tmp_path)
    for page in (visitor.page("/"), visitor.run()):
        assert re.search(rf">stopped</span.{{0,600}}>\s*{NOT_FOUND}", page, re.DOTALL)
        assert "under way" not in page
    assert visitor.run().count(">model error<") == 5  # three rows, a chip, and a choice
    assert NOT_FOUND in visitor.sample("p/a")
    visitor.client.close()
    assert f"stopped 0/3: {NOT_FOUND}" in harness(tmp_path, "ls", ".").stdout
    shown = harness(tmp_path, "show", "r").stdout
    assert f"the most frequent cause: {NOT_FOUND}" in shown
    assert "3 of 3 samples are pending: model error (3)" in shown
    assert "not run" not in shown
    data = json.loads(harness(tmp_path, "show", "r", "--json").stdout)
    assert data["summary"]["pending"] == {"model_error": 3}
    assert data["state"]["cause"] == NOT_FOUND


def test_pending_samples_are_counted_by_why(tmp_path: Path) -> None:
    run = write_run(tmp_path / "r", [result("p/a")], problems=[f"p/{x}" for x in "abcdef"])
    write_transcript(run, "p/b", [start("p/b"), request(1, ("user", "?"))])
    write_transcript(run, "p/c", [start("p/c"), ended("cost_limit")])
    (run / "transcripts" / "p%2Fd-0.jsonl").write_bytes(b"\xff garbage\n")
    read = read_run(run)
    assert read.state.pending == {"interrupted": 2, "not_run": 2, "cost_limit": 1}
    assert read.state.text == "pending 5: 2 interrupted, 2 not run, 1 cost limit"
    assert read.summary.pending == read.state.pending


def test_what_the_sandbox_said_is_kept(tmp_path: Path) -> None:
    run = write_run(tmp_path / "r", [], problems=["p/a"])
    event = {"event": "not_graded", "verdict": "sandbox_error", "cause": "the fork server hung up"}
    write_transcript(run, "p/a", [start("p/a"), event])
    assert read_run(run).state.text == "stopped 0/1: the fork server hung up"


def test_a_run_with_a_live_process_is_running(failed: Path) -> None:
    write_transcript(failed, "p/b", [start("p/b"), request(1, ("user", "?"))])
    directory = RunDirectory.resume(failed)
    state = read_run(failed).state
    directory.close()
    assert (state.word, state.text) == ("running", "running 0/3")
    assert state.pending == {"model_error": 2, "under_way": 1}


def test_a_run_with_all_samples_graded_is_done(tmp_path: Path) -> None:
    run = write_run(tmp_path / "r", [result("p/a")])
    assert read_run(run).state.text == "done"


def test_an_infrastructure_failure_is_in_the_transcript(tmp_path: Path) -> None:
    checker = "def check(i, e, a): raise OSError('no disk')"
    row = {"id": "a", "statement": "Echo.", "tests": [{"input": "1", "output": "1"}]}
    (tmp_path / "p.jsonl").write_text(json.dumps({**row, "checker": checker}))
    (tmp_path / "mine.py").write_text(MODEL)
    flags = ["-b", "jsonl:p.jsonl", "-m", "python:mine:solve", "--out", "r"]
    for command in (["run", *flags], ["run", "--resume", "r"]):
        done = harness(tmp_path, *command)
        assert done.returncode == 4, done.stderr
        state = read_run(tmp_path / "r").state
        assert (state.word, state.pending) == ("stopped", {"checker_error": 1})
        assert "no disk" in state.cause
        assert (tmp_path / "asked").read_text() == "."


@pytest.mark.thorough
def test_a_garbage_line_in_a_transcript_is_said_and_nothing_is_asked_again(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MODEL)
    flags = ["-n", "1", "-m", "python:mine:solve", "--out", "r"]
    assert harness(tmp_path, "run", *flags).returncode == 0
    (path,) = (tmp_path / "r" / "transcripts").iterdir()
    events = path.read_bytes().splitlines(keepends=True)
    response = next(n for n, line in enumerate(events) if b'"response"' in line)
    path.write_bytes(b"".join([*events[:response], b"garbage\n", *events[response : response + 1]]))
    (tmp_path / "r" / "results.jsonl").write_bytes(b"")
    done = harness(tmp_path, "run", "--resume", "r")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "asked").read_text() == "."
    assert "line 3 of its transcript cannot be read; 4 of 4 events are used" in done.stderr
    assert [each.name for each in (tmp_path / "r" / "transcripts").iterdir()] == [path.name]
    assert (
        "line 3 of the transcript cannot be read"
        in harness(tmp_path, "transcript", "r", json.loads(events[0])["sample"]).stdout
    )
