"""Problems without hidden tests are named where results are shown: run, grade and verify."""

import json
from pathlib import Path
from typing import Any

import pytest
from contest_packages import write_package
from for_each import for_each
from json_lines import json_lines
from own_problems import DOUBLE, ECHO
from program import harness

PUBLIC_ONLY = {**ECHO, "id": "own/shown", "tests": [{**ECHO["tests"][0], "public": True}]}
NOTE = "No hidden tests: 1 problem (judged by public tests only)"


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    texts = (json.dumps(row) + "\n" for row in (ECHO, PUBLIC_ONLY))
    (tmp_path / "own.jsonl").write_text("".join(texts))
    (tmp_path / "all.jsonl").write_text(json.dumps(ECHO) + "\n")
    names = ("own/echo", "own/shown")
    solutions = ({"problem_id": name, "code": "print(input())"} for name in names)
    (tmp_path / "solutions.jsonl").write_text(json_lines(solutions))
    return tmp_path


def commands(benchmark: str) -> dict[str, tuple[str, ...]]:
    return {
        "run": ("run", "-b", benchmark, "-m", "references", "--mode", "single_shot"),
        "grade": ("grade", "--problems", benchmark, "--solutions", "solutions.jsonl"),
        "verify": ("verify", benchmark),
    }


def summary_of(done: Any) -> Any:
    value = json.loads(done.stdout)
    return value.get("summary", value)


@pytest.mark.thorough
@pytest.mark.parametrize("command", ["run", "grade", "verify"])
def test_the_last_screen_and_the_summary_say_how_many(command: str, rows: Path) -> None:
    arguments = commands("jsonl:own.jsonl")[command]
    done = harness(rows, *arguments)
    assert NOTE in " ".join(done.stdout.split()), done.stdout + done.stderr
    assert summary_of(harness(rows, *arguments, "--json"))["no_hidden"] == 1


@pytest.mark.parametrize("command", ["run", "verify"])
def test_nothing_is_said_where_all_have_some(command: str, rows: Path) -> None:
    done = harness(rows, *commands("jsonl:all.jsonl")[command])
    assert done.stdout
    assert "No hidden tests" not in done.stdout


@for_each("command", ["run", "verify"])
def test_a_package_without_secret_data_is_named(command: str, tmp_path: Path) -> None:
    folder = write_package(tmp_path / "parts")
    for path in (folder / "data/secret/group").iterdir():
        path.unlink()
    done = harness(tmp_path, *commands("icpc:parts")[command])
    assert NOTE in " ".join(done.stdout.split()), done.stdout + done.stderr


def test_verify_counts_problems_without_references(tmp_path: Path) -> None:
    row = {**DOUBLE, "references": []}
    (tmp_path / "own.jsonl").write_text(json.dumps(row) + "\n")
    assert NOTE in " ".join(harness(tmp_path, "verify", "jsonl:own.jsonl").stdout.split())
