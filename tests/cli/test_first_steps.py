"""What a new user trips over, and what is said then: one line that says what to do."""

import json
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each
from json_lines import json_lines
from own_problems import ECHO, TESTED, UNTESTED
from program import Done, harness
from written import link_written

from harness.registry import COMMANDS


def line(done: Done, code: int = 2) -> str:
    assert done.returncode == code, done.stderr
    (only,) = done.stderr.strip().splitlines()
    return only


def own(folder: Path, *rows: dict[str, Any]) -> list[str]:
    (folder / "own.jsonl").write_text(json_lines(rows))
    (folder / "mine.py").write_text(
        "def right(problem):\n    open('asked', 'a').close()\n    return 'print(input())'\n"
    )
    return ["run", "-b", "jsonl:own.jsonl", "-m", "python:mine:right", "--out", "r"]


def test_replay_of_more_samples_than_recorded_is_refused_before_the_run(tmp_path: Path) -> None:
    played = link_written(tmp_path)
    done = harness(tmp_path, "run", *played, "-n", "2", "-k", "6", "--out", "r")
    assert "replay:written has at most 5 recorded of a problem" in line(done)
    assert "give -k 5, or name a model with -m" in done.stderr
    assert "--resume" not in done.stderr
    assert not (tmp_path / "r").exists()


@pytest.mark.thorough
def test_a_recording_that_lacks_a_sample_advises_no_resume(tmp_path: Path) -> None:
    assert harness(tmp_path, "run", "-n", "1", "--out", "a").returncode == 0
    done = harness(tmp_path, "run", "-m", "replay:a", "-n", "2", "--out", "b")
    assert done.returncode == 4
    assert "a recording cannot answer more when it is resumed: name a model" in done.stderr
    assert "--resume" not in done.stdout + done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("command", [("--resume", "r"), ("--out", "r")])
def test_fewer_problems_of_a_run_are_refused_for_what_they_are(
    command: tuple[str, str], tmp_path: Path
) -> None:
    assert harness(tmp_path, "run", "-n", "3", "--out", "r").returncode == 0
    notice = line(harness(tmp_path, "run", *command, "-n", "2"))
    assert "which the selection now leaves out: a run may get more problems, not fewer" in notice
    assert "no longer among" not in notice


@for_each(
    ("key", "near"),
    [("modle", "model"), ("mdoe", "mode"), ("promt", "prompt"), ("max_turn", "max_turns")],
)
def test_a_key_with_letters_swapped_is_that_key(key: str, near: str, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(f"{key}: x\n")
    done = harness(tmp_path, "run", "-c", "s.yaml")
    assert f"unknown key {key!r}; did you mean {near!r}?" in line(done)


def test_the_bundled_problems_by_name_play_the_recordings_as_without(tmp_path: Path) -> None:
    done = harness(tmp_path, "run", "-b", "fixture", "-n", "1", "--json")
    assert done.returncode == 0, done.stderr
    assert "model replay:bundled" in done.stderr
    other = harness(tmp_path, "run", "-b", "apps", "-n", "1")
    assert "no model is named" in line(other)
    assert "did you mean 'apps'?" in line(harness(tmp_path, "run", "-b", "aps", "-n", "1"))


def test_a_misspelt_problem_is_answered_with_those_that_there_are(tmp_path: Path) -> None:
    notice = line(harness(tmp_path, "run", "-t", "two-smu"))
    assert "no problem is called 'two-smu'; there are fixture/" in notice
    assert notice.endswith("and 53 more")
    near = line(harness(tmp_path, "run", "-t", "dry-bedz"))
    assert near.endswith("no problem is called 'dry-bedz'; did you mean fixture/dry-beds?")


@for_each("command", [(), ("prompts",)])
def test_a_bare_command_prints_its_help(command: tuple[str, ...], tmp_path: Path) -> None:
    done = harness(tmp_path, *command)
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout == harness(tmp_path, *command, "--help").stdout
    assert "\n  list        " in done.stdout or "\n  run         " in done.stdout


def test_a_misspelt_command_is_told_the_nearest(tmp_path: Path) -> None:
    assert "Did you mean 'run'?" in line(harness(tmp_path, "runn"))


@for_each("command", [each.name for each in COMMANDS])
def test_a_command_without_arguments_is_no_bug(command: str, tmp_path: Path) -> None:
    if command in {"run", "experiment", "view", "serve"}:  # these begin to work
        return
    done = harness(tmp_path, command)
    assert "Traceback" not in done.stderr
    assert done.returncode in {0, 2}


def test_a_missing_argument_is_named_as_the_help_names_it(tmp_path: Path) -> None:
    assert "'RUN'" in line(harness(tmp_path, "show"))
    usage = harness(tmp_path, "transcript", "--help").stdout.splitlines()[0]
    assert usage == "Usage: harness transcript [OPTIONS] RUN [SAMPLE]"


@for_each(
    ("checker", "reason"),
    [
        ("def check(i, e, a):\n    return a ==\n", "not valid Python: invalid syntax (line 2)"),
        ("def check(i, e, a)\n    return 1\n", "not valid Python: expected ':' (line 1)"),
        ("check = '\0'", "not valid Python: source code string cannot contain null bytes"),
        ("check = " + "-" * 100_000 + "1", "not valid Python"),
        ("ok = 1", "defines no function 'check'"),
    ],
)
def test_a_checker_that_is_no_python_is_found_before_the_model_is_asked(
    checker: str, reason: str, tmp_path: Path
) -> None:
    done = harness(tmp_path, *own(tmp_path, {**ECHO, "checker": checker}))
    notice = line(done)
    assert "own.jsonl:1: field 'checker': " in notice
    assert reason in notice
    assert not (tmp_path / "asked").exists()


def test_problems_without_any_test_are_refused_before_the_model_is_asked(tmp_path: Path) -> None:
    (tmp_path / "bare.jsonl").write_text(json_lines([UNTESTED]))
    command = ["apps:bare.jsonl" if "own" in word else word for word in own(tmp_path, ECHO)]
    notice = line(harness(tmp_path, *command), 3)
    assert "no problem that is selected has a test, so nothing could be graded" in notice
    assert not (tmp_path / "asked").exists()
    assert harness(tmp_path, *command, "--no-run-tests").returncode == 0
    (tmp_path / "s.jsonl").write_text(json.dumps({"problem_id": "apps/7", "code": "x"}) + "\n")
    graded = harness(tmp_path, "grade", "--problems", "apps:bare.jsonl", "--solutions", "s.jsonl")
    assert "has a test, so nothing could be graded" in line(graded, 3)


def test_a_run_needs_one_problem_with_tests(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json_lines([UNTESTED, TESTED]))
    command = ["apps:rows.jsonl" if "own" in word else word for word in own(tmp_path, ECHO)]
    done = harness(tmp_path, *command, "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["graded"], summary["ungraded"]) == (1, 1)


def test_a_wrong_day_is_told_how_a_day_is_written(tmp_path: Path) -> None:
    notice = line(harness(tmp_path, "run", "--min-release-date", "May"))
    assert notice == "harness: --min-release-date: must be a day such as 2025-01-31 (given: May)"


@for_each("command", ["run", "verify", "regrade", "grade", "time"])
def test_memory_out_of_range_is_refused_alike_everywhere(command: str, tmp_path: Path) -> None:
    given = {
        "run": ["run"],
        "verify": ["verify", "fixture"],
        "regrade": ["grade", "r"],
        "grade": ["grade", "--problems", "fixture", "--solutions", "s"],
        "time": ["verify", "fixture", "--time"],
    }
    notice = line(harness(tmp_path, *given[command], "--memory", "1"))
    assert notice == "harness: --memory: must be at least 64 (given: 1)"
