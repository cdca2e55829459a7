"""Commands check the examples that were read off statements before they grade anybody."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from program import Done, finish, harness, results, start

from harness.grading.example_check import VettingError
from harness.grading.jobs import Options
from harness.run.session.judging_session import JudgingSession, vet
from harness.sandbox.pool import SandboxPool
from harness.sandbox.program import SandboxError
from harness.sources.files.rows import open_rows
from harness.sources.leetcode.leetcode import read_rows
from harness.terminal.progress import TerminalReporter
from harness.terminal.summary_table import console

DOUBLE = "def double(n):\n    return 2 * n\n"
EXAMPLES = (
    "**Input:** n = 2\n**Output:** 4\n\n**Input:** n = 3\n**Output:** 7\n\n"
    "**Input:** n = 5\n**Output:** 10\n"
)
DROPPED = "dropped 3 of 5 examples, which their own solutions fail (2 problems, 1 of them left"


def row(number: int, slug: str, content: str, code: str) -> dict[str, Any]:
    return {
        "id": number,
        "slug": slug,
        "title": slug,
        "difficulty": "Easy",
        "content": content,
        "python": f"```python\n{code}```",
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    two = "**Input:** n = 1\n**Output:** 1\n\n**Input:** n = 2\n**Output:** 2\n"
    rows = [row(1, "double", EXAMPLES, DOUBLE), row(2, "crash", two, "def crash(n): return n[0]\n")]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    (tmp_path / "mine.py").write_text(
        "def solve(problem):\n    return 'def double(n): return 2 * n\\ndef crash(n): return n'\n"
    )
    return tmp_path


def command(folder: Path, *arguments: str | Path, code: int = 0, **env: str) -> Done:
    done = harness(folder, *arguments, **({"HF_HOME": str(folder / "hf")} | env))
    assert done.returncode == code, done.stderr
    return done


def run(folder: Path, out: str, *flags: str, **env: str) -> Done:
    model = ("-b", "leetcode:rows.jsonl", "-m", "python:mine:solve")
    return command(folder, "run", *model, "--json", "--out", out, *flags, **env)


async def test_an_interrupt_ends_the_checking_and_what_was_found_is_remembered(
    folder: Path,
) -> None:
    slow = "def slow(n):\n    while True:\n        pass\n"
    with (folder / "rows.jsonl").open("a") as file:
        file.write(json.dumps(row(3, "slow", EXAMPLES, slow)) + "\n")
    process = await start(
        folder, "verify", "leetcode:rows.jsonl", "--workers", "1", HF_HOME=str(folder / "hf")
    )
    assert process.stderr is not None
    async for line in process.stderr:
        if line.startswith(b"[2/3] own solutions"):
            process.send_signal(signal.SIGTERM)
    code, out, _ = await finish(process)
    assert (code, out) == (130, "")
    memory = (folder / "hf/assets/harness/vetted/examples.jsonl").read_text()
    assert [json.loads(each)["kept"] for each in memory.split()] == [[0, 2], []]


def test_a_sandbox_that_fails_stops_the_command_and_drops_no_example(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise SandboxError("no process can be made")

    monkeypatch.setattr(SandboxPool, "call", fail)
    monkeypatch.setattr(
        "harness.run.session.judging_session.default_folder", lambda: folder / "vetted"
    )
    problems = read_rows(map(open_rows, [folder / "rows.jsonl"])).problems
    with pytest.raises(VettingError, match="could not be checked: no process can be made") as error:
        vet(problems, JudgingSession(Options()), TerminalReporter(console(error=True)))
    assert error.value.exit_code == 4
    assert not (folder / "vetted").exists()


class TestRun:
    def test_wrong_examples_judge_nobody_and_a_problem_without_right_ones_is_ungraded(
        self, folder: Path
    ) -> None:
        done = run(folder, "r")
        summary = json.loads(done.stdout)
        assert (summary["graded"], summary["ungraded"]) == (1, 1)
        found = {each["problem_id"]: each for each in results(folder / "r")}
        assert found["leetcode/double"]["verdict"] == "accepted"
        assert found["leetcode/double"]["public_total"] == 2
        assert found["leetcode/crash"]["verdict"] == "ungraded"
        assert done.stderr.count(DROPPED) == 1
        assert "own solutions accepted" in done.stderr

    def test_the_next_run_knows_and_says_the_same(self, folder: Path) -> None:
        first, second = run(folder, "r"), run(folder, "s")
        assert "own solutions accepted" not in second.stderr
        assert DROPPED in second.stderr
        hashes = [json.loads((folder / name / "run.json").read_text()) for name in "rs"]
        assert hashes[0]["problems"] == hashes[1]["problems"]
        assert json.loads(first.stdout)["graded"] == json.loads(second.stdout)["graded"]
        assert (folder / "hf/assets/harness/vetted/examples.jsonl").exists()

    def test_it_can_be_resumed(self, folder: Path) -> None:
        run(folder, "r")
        lines = (folder / "r" / "results.jsonl").read_text().splitlines(keepends=True)
        (folder / "r" / "results.jsonl").write_text(lines[0])
        command(folder, "run", "--resume", "r", "--json", HF_HOME=str(folder / "elsewhere"))
        assert len(results(folder / "r")) == 2

    def test_only_what_is_selected_is_checked(self, folder: Path) -> None:
        done = run(folder, "r", "-t", "double")
        assert "dropped 1 of 3 examples, which their own solutions fail (1 problem)" in done.stderr

    def test_what_is_not_graded_is_not_checked(self, folder: Path) -> None:
        done = run(folder, "r", "--no-run-tests")
        assert "dropped" not in done.stderr
        assert not (folder / "hf/assets/harness/vetted").exists()

    def test_a_cache_that_cannot_be_written_is_warned_of_once(self, folder: Path) -> None:
        (folder / "taken").touch()
        done = run(folder, "r", HF_HOME=str(folder / "taken"))
        assert done.stderr.count("the examples will be checked again the next time") == 1
        assert DROPPED in done.stderr

    def test_other_sources_have_nothing_to_check(self, folder: Path) -> None:
        command(folder, "run", "-n", "1", "--out", "r")
        assert not (folder / "hf/assets/harness/vetted").exists()


def test_grade_judges_by_right_examples_alone(folder: Path) -> None:
    lines = [
        {"problem_id": "double", "code": DOUBLE},
        {"problem_id": "crash", "code": "def crash(n): return n"},
        {"problem_id": "double", "code": "def double(n): return {2: 4, 3: 7}.get(n)"},
    ]
    (folder / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    arguments = ("grade", "--problems", "leetcode:rows.jsonl", "--solutions", "s.jsonl", "--json")
    done = command(folder, *arguments)
    verdicts = [each["verdict"] for each in json.loads(done.stdout)["results"]]
    assert verdicts == ["accepted", "ungraded", "wrong_answer"]
    assert DROPPED in done.stderr


def test_verify_finds_nothing_wrong_with_what_is_left(folder: Path) -> None:
    done = command(folder, "verify", "leetcode:rows.jsonl", "--json")
    summary = json.loads(done.stdout)["summary"]
    assert summary["unsound"] == []
    assert summary["without_tests"] == ["leetcode/crash"]
    assert DROPPED in done.stderr


def test_listing_runs_nothing_and_says_of_a_problem_that_its_tests_are_unchecked(
    folder: Path,
) -> None:
    done = command(folder, "problems", "leetcode:rows.jsonl")
    assert "2 problems of 2" in done.stdout
    assert "unchecked" not in done.stdout
    done = command(folder, "problems", "double", "-b", "leetcode:rows.jsonl")
    assert "tests:        3 public, 0 hidden; unchecked" in done.stdout
    assert "dropped" not in done.stderr
    assert not (folder / "hf/assets/harness/vetted").exists()
