"""`--test-timeout reference*FACTOR`: limits of time that follow a problem's own references."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from json_lines import json_lines
from program import Done, harness, results

BURN = (
    "import time\nend = time.process_time() + {}\n"
    "while time.process_time() < end: pass\nprint(input())"
)
REFERENCE_S = 0.26
SLOW_S = 10 * REFERENCE_S  # within the ten seconds that a problem of one's own has
SLOW = BURN.format(SLOW_S)
ECHO = {
    "id": "own/echo",
    "statement": "Print the input.",
    "tests": [{"input": "1\n", "output": "1\n", "public": True}],
    "references": ["print(input())"],
}
BURNING = {**ECHO, "references": [BURN.format(0.6), BURN.format(REFERENCE_S), "print(2)"]}
SPEC = "jsonl:own.jsonl"
OK, A_REFERENCE_IS_WRONG = 0, 1


def put(folder: Path, *rows: dict[str, Any]) -> None:
    (folder / "own.jsonl").write_text(json_lines(rows))


@pytest.fixture
def slow_solution(tmp_path: Path) -> Path:
    """A problem, a slow solution of it, and a model that always gives that one."""
    put(tmp_path, ECHO)
    row = {"problem_id": "own/echo", "code": SLOW}
    (tmp_path / "solutions.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "mine.py").write_text(f"def solve(problem): return {SLOW!r}\n")
    return tmp_path


def at_home(folder: Path, *arguments: str) -> Done:
    return harness(folder, *arguments, HF_HOME=str(folder / "home"))


def verify(folder: Path, *flags: str, code: int = OK) -> None:
    done = at_home(folder, "verify", SPEC, *flags)
    assert done.returncode == code, done.stderr


def grade(folder: Path, *flags: str) -> Done:
    files = ("--problems", SPEC, "--solutions", "solutions.jsonl")
    return at_home(folder, "grade", *files, "--json", *flags)


def verdict(done: Done) -> str:
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)["results"]
    return result["verdict"]


def run(folder: Path, *flags: str) -> Done:
    return at_home(folder, "run", "-b", SPEC, "-m", "python:mine:solve", "--out", "r", *flags)


def limits(folder: Path) -> Any:
    return json.loads((folder / "r" / "run.json").read_text())["test_limits"]


@pytest.mark.thorough
def test_a_solution_ten_times_slower_than_the_reference_is_too_slow(slow_solution: Path) -> None:
    put(slow_solution, BURNING)
    assert verdict(grade(slow_solution)) == "accepted"
    verify(slow_solution, code=A_REFERENCE_IS_WRONG)
    done = grade(slow_solution, "--test-timeout", "reference*4")
    assert verdict(done) == "time_limit"
    assert "no verified reference" not in done.stderr


@pytest.mark.thorough
def test_a_run_has_them_keeps_them_and_goes_on_with_them(slow_solution: Path) -> None:
    put(slow_solution, BURNING)
    verify(slow_solution, code=A_REFERENCE_IS_WRONG)
    done = run(slow_solution, "--test-timeout", "reference*4")
    assert done.returncode == 0, done.stderr
    (result,) = results(slow_solution / "r")
    assert result["verdict"] == "time_limit"
    kept = limits(slow_solution)["own"]
    assert (kept["cpu_s"], kept["test_timeout"]) == (10.0, "reference*4")
    (seconds,) = kept["by_problem"].values()
    assert seconds == round(seconds, 1)
    assert 4 * REFERENCE_S <= seconds < 4 * 2 * REFERENCE_S, "of the quicker one that is accepted"

    shutil.rmtree(slow_solution / "home")
    (slow_solution / "r" / "results.jsonl").write_text("")
    done = at_home(slow_solution, "run", "--resume", "r")
    assert done.returncode == 0, done.stderr
    (again,) = results(slow_solution / "r")
    assert again["verdict"] == "time_limit"
    assert again["tests"][0]["cpu_s"] < 2 * seconds
    assert "verified reference" not in done.stderr, "nothing that could be changed any more"


def test_a_run_whose_limits_are_lost_is_not_gone_on_with(slow_solution: Path) -> None:
    (slow_solution / "mine.py").write_text("def solve(problem): return 'print(1)'\n")
    verify(slow_solution)
    assert run(slow_solution, "--test-timeout", "reference*4").returncode == 0
    manifest = json.loads((slow_solution / "r" / "run.json").read_text())
    for damaged in ({}, {"own": {}}, {"own": {"by_problem": {"own/echo": "x"}}}, {"own": None}):
        manifest["test_limits"] = damaged
        (slow_solution / "r" / "run.json").write_text(json.dumps(manifest))
        done = at_home(slow_solution, "run", "--resume", "r")
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert "which limits of time" in line


def test_a_reference_limit_is_at_least_a_second(slow_solution: Path) -> None:
    verify(slow_solution)
    (slow_solution / "mine.py").write_text("def solve(problem): return 'print(1)'\n")
    assert run(slow_solution, "--test-timeout", "reference*4").returncode == 0
    assert limits(slow_solution)["own"]["by_problem"] == {"own/echo": 1.0}


def test_a_reference_limit_is_at_most_a_week(slow_solution: Path) -> None:
    verify(slow_solution)
    (slow_solution / "mine.py").write_text("def solve(problem): return 'print(1)'\n")
    assert run(slow_solution, "--test-timeout", "reference*1e12").returncode == 0
    assert limits(slow_solution)["own"]["by_problem"] == {"own/echo": 7 * 86_400}


@pytest.mark.thorough
def test_a_file_can_say_it(slow_solution: Path) -> None:
    verify(slow_solution)
    (slow_solution / "spec.yaml").write_text("test_timeout: reference*4\n")
    done = run(slow_solution, "-c", "spec.yaml")
    assert done.returncode == 0, done.stderr
    assert results(slow_solution / "r")[0]["verdict"] == "time_limit"


class TestMissingReferences:
    @pytest.mark.thorough
    def test_problems_without_one_keep_their_source_s_limit(self, slow_solution: Path) -> None:
        bare = {**ECHO, "id": "own/bare", "references": []}
        wrong = {**ECHO, "id": "own/wrong", "references": ["print(2)"]}
        put(slow_solution, ECHO, bare, wrong)
        verify(slow_solution, code=A_REFERENCE_IS_WRONG)
        (slow_solution / "mine.py").write_text("def solve(problem): return 'print(1)'\n")
        done = run(slow_solution, "--test-timeout", "reference*4")
        assert done.returncode == 0, done.stderr
        assert (
            "2 of 3 problems have no verified reference; they keep their source's limit; "
            f"run: harness verify {SPEC}\n"
        ) in done.stderr
        assert limits(slow_solution)["own"]["by_problem"] == {"own/echo": 1.0}
        assert limits(slow_solution)["own"]["cpu_s"] == 10.0

    def test_a_file_of_solutions_for_one_of_them(self, slow_solution: Path) -> None:
        put(slow_solution, ECHO, {**ECHO, "id": "own/new"})
        verify(slow_solution, "--task", "own/echo")
        rows = [{"problem_id": name, "code": "print(1)"} for name in ("own/echo", "own/new")]
        (slow_solution / "solutions.jsonl").write_text(json_lines(rows))
        done = grade(slow_solution, "--test-timeout", "reference*4")
        assert done.returncode == 0
        assert "1 of 2 problems has no verified reference; it keeps its source's" in done.stderr

    @pytest.mark.parametrize("command", [grade, run])
    def test_reference_limits_without_verified_references_name_the_command_to_run(
        self, command: Any, slow_solution: Path
    ) -> None:
        done = command(slow_solution, "--test-timeout", "reference*4")
        assert done.returncode == 2
        (line,) = (line for line in done.stderr.splitlines() if "sandbox level" not in line)
        assert (
            f"none of these problems has a verified reference; run first: harness verify {SPEC}"
            in line
        )
        assert not (slow_solution / "r").exists()

    @pytest.mark.thorough
    def test_what_was_verified_by_another_rule_or_for_other_data_does_not_count(
        self, slow_solution: Path
    ) -> None:
        verify(slow_solution, "--rule", "tokens")
        flags = ("--test-timeout", "reference*4")
        assert grade(slow_solution, *flags).returncode == 2
        assert verdict(grade(slow_solution, *flags, "--rule", "tokens")) == "time_limit"
        verify(slow_solution)
        assert grade(slow_solution, *flags).returncode == 0
        put(slow_solution, {**ECHO, "tests": [{"input": "2", "output": "2", "public": True}]})
        assert grade(slow_solution, *flags).returncode == 2

    @pytest.mark.thorough
    def test_limits_of_the_verification_itself_do_not_matter(self, slow_solution: Path) -> None:
        verify(slow_solution, "--test-timeout", "5", "--set", "isolate_tests=true")
        assert verdict(grade(slow_solution, "--test-timeout", "reference*4")) == "time_limit"


@pytest.mark.parametrize("value", ["reference*", "reference*-1", "reference*x"])
@pytest.mark.parametrize("command", [grade, run])
def test_a_value_that_cannot_be_is_one_line(command: Any, value: str, slow_solution: Path) -> None:
    done = command(slow_solution, "--test-timeout", value)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "--test-timeout" in line
    assert value in line
    assert "give reference*FACTOR, as reference*4, with a factor of more than 0" in line
    assert not (slow_solution / "r").exists()
