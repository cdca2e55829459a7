import json
import subprocess
from pathlib import Path

import pytest
from for_each import for_each
from program import PROGRAM, environment, harness

NOWHERE = ["-m", "some-model", "--base-url", "http://127.0.0.1:9/v1"]

# What is typed, the exit code, and what the one line must say.
CASES = {
    "a missing file": (["run", "-b", "livecodebench:no.jsonl", *NOWHERE], 2, "no.jsonl: no such"),
    "a folder for a file": (["run", "-b", "livecodebench:.", *NOWHERE], 2, ". is a directory"),
    "an unknown benchmark": (
        ["run", "-b", "livecodebnch", *NOWHERE],
        2,
        "did you mean 'livecodebench'",
    ),
    "an unknown model": (["run", "-m", "claude-none"], 2, "--base-url"),
    "a model without its key": (["run", "-m", "gpt-4o"], 2, "OPENAI_API_KEY"),
    "no model for named problems": (["run", "-b", "jsonl:own.jsonl"], 2, "-m MODEL"),
    "an unusable URL": (["run", "-m", "x", "--base-url", "nonsense"], 2, "base URL"),
    "an unknown mode": (["run", "--mode", "both"], 2, "agentic, single_shot"),
    "two modes": (["run", "--agentic-mode", "--mode", "single_shot"], 2, "contradict"),
    "an unknown prompt set": (["run", "--prompt", "none"], 2, "no prompt set or folder 'none'"),
    "an unknown flag": (["run", "--agentic"], 2, "--agentic"),
    "an unknown command": (["rum"], 2, "rum"),
    "no number": (["run", "-n", "many"], 2, "--sample-size"),
    "a number out of range": (["run", "--max-turns", "0"], 2, "--max-turns"),
    "no date": (["run", "--min-release-date", "soon"], 2, "--min-release-date"),
    "time without end": (["run", "--test-timeout", "inf"], 2, "--test-timeout"),
    "memory beyond any machine": (["run", "--memory", "99999999999"], 2, "--memory"),
    "a price that is not a number": (["run", "--price", "nan,1"], 2, "price"),
    "an empty model name": (["run", "-m", ""], 2, "--model is empty"),
    "a price too many": (["run", "--price", "1,2,3,4"], 2, "2.5,10"),
    "a URL with a query": (["run", "-m", "x", "--base-url", "http://h/v1?k=1"], 2, "base URL"),
    "no price": (["run", "--price", "cheap"], 2, "2.5,10"),
    "an unknown sampling": (["run", "--sampling", "worst"], 2, "--sampling"),
    "an unknown platform": (["run", "--filter-platform", "leetcod"], 2, "leetcode"),
    "an unknown task": (["run", "-t", "quorum-signal"], 2, "quorum-signals"),
    "nothing selected": (["run", "--min-release-date", "2099-01-01"], 3, "2099-01-01"),
    "no recordings": (["run", "-m", "replay:nowhere"], 2, "directory of a run"),
    "no such function": (["run", "-m", "python:json:nothing"], 2, "nothing"),
    "a run that is none": (["run", "--resume", "nowhere"], 2, "no such run"),
    "a setting changed on resume": (["run", "--resume", "x", "--max-turns", "3"], 2, "--max-turns"),
    "tests off in the loop": (["run", "--agentic-mode", "--no-run-tests"], 2, "single shot"),
    "no such release": (["problems", "--source", "huggingface:v9"], 2, "release_v1"),
    "comparing nothing": (["compare", "a", "b"], 2, "no such run"),
    "reading nothing": (["transcript", "a"], 2, "transcripts"),
    "showing nothing": (["problems", "quorum-signal"], 2, "quorum-signals"),
}


@for_each("case", CASES)
def test_bad_input_gets_one_line_that_says_what_to_do(case: str, tmp_path: Path) -> None:
    arguments, code, message = CASES[case]
    done = harness(tmp_path, *arguments)
    assert done.returncode == code, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert message in lines[0]
    assert not done.stdout
    assert not list(tmp_path.iterdir()), "nothing is left behind"


YAML = {
    "unknown key": ("bechmark: fixture", "did you mean 'benchmark'"),
    "value out of range": ("concurrency: 0", "concurrency"),
    "not a mapping": ("- fixture", "keys and values"),
    "not YAML": ("a: [", "not valid YAML"),
    "YAML without end": ("[" * 5_000, "nested too deeply"),
    "not text": ("\x00\x01", "spec.yaml"),
}


@for_each("case", YAML)
def test_a_bad_yaml_file_is_named_with_its_key(case: str, tmp_path: Path) -> None:
    text, message = YAML[case]
    (tmp_path / "spec.yaml").write_text(text)
    done = harness(tmp_path, "run", "-c", "spec.yaml")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert "spec.yaml" in done.stderr
    assert message in done.stderr


def _row(**changes: object) -> str:
    row: dict[str, object] = {
        "question_title": "Echo",
        "question_content": "Print the line.",
        "platform": "atcoder",
        "question_id": "abc1",
        "contest_id": "abc",
        "contest_date": "2024-01-01T00:00:00",
        "starter_code": "",
        "difficulty": "easy",
        "public_test_cases": json.dumps([{"input": "a", "output": "a", "testtype": "stdin"}]),
        "private_test_cases": "[]",
        "metadata": "{}",
    }
    return json.dumps({**row, **changes})


def test_a_malformed_row_is_named_by_file_line_and_field(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(f"{_row()}\n{_row(question_id='abc2', difficulty=7)}\n")
    done = harness(tmp_path, "problems", "livecodebench:rows.jsonl")
    assert done.returncode == 2
    assert "rows.jsonl:2: field 'difficulty'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_bad_rows_can_be_skipped_and_are_counted(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(f"{_row()}\nnonsense\n{_row(question_id='abc3')}\n")
    done = harness(tmp_path, "problems", "livecodebench:rows.jsonl", "--set", "skip_bad_rows=true")
    assert done.returncode == 0, done.stderr
    assert "2 problems of 2" in done.stdout
    assert "1 bad row skipped" in done.stdout
    assert "rows.jsonl:2" in done.stdout


def test_a_row_whose_hidden_tests_cannot_be_read_is_found_before_the_model_is_asked(
    tmp_path: Path,
) -> None:
    (tmp_path / "rows.jsonl").write_text(f"{_row(private_test_cases='AAAA')}\n")
    (tmp_path / "mine.py").write_text("def solve(problem): open('asked', 'w').close()")
    flags = ["-b", "livecodebench:rows.jsonl", "-m", "python:mine:solve", "--out", "r"]
    done = harness(tmp_path, "run", *flags)
    assert done.returncode == 4
    assert "rows.jsonl:1: field 'private_test_cases'" in done.stderr
    assert not (tmp_path / "asked").exists()


def test_ids_of_any_length_can_be_run_and_read(tmp_path: Path) -> None:
    long = "mine/" + "ж" * 300
    row = {"id": long, "statement": "Echo."}
    row["tests"] = [{"input": "1", "output": "1", "public": True}]
    (tmp_path / "p.jsonl").write_text(json.dumps(row))
    (tmp_path / "mine.py").write_text("def solve(problem): return 'print(input())'")
    flags = ["-b", "jsonl:p.jsonl", "-m", "python:mine:solve", "--out", "r"]
    assert harness(tmp_path, "run", *flags).returncode == 0
    assert "accepted" in harness(tmp_path, "transcript", "r").stdout
    assert "=== verdict: accepted" in harness(tmp_path, "transcript", "r", long).stdout


def test_a_template_that_breaks_on_one_problem_is_found_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "system.j2").write_text("x")
    (tmp_path / "mine" / "user.j2").write_text(
        "{% if problem.platform == 'apps' %}{{ nope }}{% endif %}"
    )
    asked = ("-b", "fixture", "-m", "x", "--base-url", "http://127.0.0.1:9/v1")
    done = harness(tmp_path, "run", *asked, "--prompt", "mine", "--out", "r")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert "'nope' is undefined" in done.stderr
    assert not (tmp_path / "r").exists()


@pytest.mark.thorough
@pytest.mark.parametrize("command", ["problems", "run -n 3 --out r"])
def test_a_reader_who_leaves_is_no_error(command: str, tmp_path: Path) -> None:
    script = f'"$0" {command} 2>&1 | true; test ! -d r || wc -l < r/results.jsonl'
    done = subprocess.run(
        ["sh", "-c", script, PROGRAM],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "Traceback" not in done.stdout + done.stderr
    if "--out" in command:
        assert done.stdout.strip() == "3"
