"""The flags that say how programs are kept in, how long they may take, and how many are run."""

import json
import platform
import time
from pathlib import Path
from typing import Any

import pytest
from program import ON_ANOTHER_MACHINE, WITHOUT_NAMESPACES, harness, results, started_by

from harness.sandbox.isolation import MISSING, PROMISED, Level
from harness.sandbox.strongest import choose

ECHO = {
    "id": "own/echo",
    "statement": "Print the input.",
    "tests": [{"input": f"{n}\n", "output": f"{n}\n", "public": n == 1} for n in range(1, 5)],
    "references": ["print(input())"],
}
RIGHT = "print(input())"
WRONG_TWICE = "n = int(input())\nprint(n if n % 2 else 0)"
SPINS_AT_2 = "n = int(input())\nwhile n == 2: pass\nprint(n)"
SLEEPS = "import time\ntime.sleep(60)\nprint(input())"

COMMANDS = {
    "run": ["run", "-b", "jsonl:own.jsonl", "-m", "python:mine:solve", "--out", "r"],
    "grade": ["grade", "--problems", "jsonl:own.jsonl", "--solutions", "solutions.jsonl"],
    "verify": ["verify", "jsonl:own.jsonl"],
}


@pytest.fixture
def one_problem(tmp_path: Path) -> Path:
    """A problem of one's own, a solution, and a model that always gives it."""
    (tmp_path / "own.jsonl").write_text(json.dumps(ECHO) + "\n")
    write(tmp_path, RIGHT)
    return tmp_path


def write(folder: Path, code: str) -> None:
    row = {"problem_id": "own/echo", "code": code}
    (folder / "solutions.jsonl").write_text(json.dumps(row) + "\n")
    answer = f"```python\n{code}\n```"
    (folder / "mine.py").write_text(f"def solve(problem): return {answer!r}\n")


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"__pycache__"}


def graded(folder: Path, *flags: str) -> dict[str, Any]:
    done = harness(folder, *COMMANDS["grade"], "--json", *flags)
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)["results"]
    return result


def vector(folder: Path, code: str, *flags: str) -> list[str]:
    write(folder, code)
    return [test["verdict"] for test in graded(folder, *flags)["tests"]]


class TestRequireIsolation:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_require_isolation_accepts_an_available_level(
        self, command: str, one_problem: Path
    ) -> None:
        level = choose().isolation.level
        done = harness(one_problem, *COMMANDS[command], "--require-isolation", level)
        assert done.returncode == 0, done.stderr
        assert ("sandbox level" in done.stderr) == (level is not Level.NAMESPACES)

    @pytest.mark.parametrize("command", COMMANDS)
    def test_an_unknown_level_is_refused_and_nothing_written(
        self, command: str, one_problem: Path
    ) -> None:
        before = files(one_problem)
        done = harness(one_problem, *COMMANDS[command], "--require-isolation", "absolute")
        assert (done.returncode, done.stdout) == (2, "")
        (line,) = done.stderr.splitlines()
        assert "--require-isolation" in line
        for word in ("absolute", "seccomp", "landlock", "namespaces"):
            assert word in line
        assert files(one_problem) == before

    @pytest.mark.parametrize("command", COMMANDS)
    def test_require_isolation_beyond_what_there_is_is_refused_and_nothing_written(
        self, command: str, one_problem: Path
    ) -> None:
        before = files(one_problem)
        flags = [*COMMANDS[command], "--require-isolation", "namespaces"]
        done = started_by(WITHOUT_NAMESPACES, one_problem, *flags)
        assert (done.returncode, done.stdout) == (2, "")
        line = done.stderr.splitlines()[-1]
        assert "no sandbox of level namespaces or above" in line
        assert "namespaces (direct): " in line
        assert "Traceback" not in done.stderr
        assert files(one_problem) == before


class TestWeakerLevel:
    @pytest.mark.thorough
    @pytest.mark.parametrize("command", COMMANDS)
    def test_a_weaker_sandbox_says_once_what_it_lacks(
        self, command: str, one_problem: Path
    ) -> None:
        done = started_by(WITHOUT_NAMESPACES, one_problem, *COMMANDS[command])
        assert done.returncode == 0, done.stderr
        text = " ".join(done.stderr.split())
        assert text.count("sandbox level landlock") == 1
        assert text.count(MISSING[Level.LANDLOCK]) == 1
        assert "sandbox level" not in done.stdout

    @pytest.mark.thorough
    def test_a_weaker_sandbox_is_kept_with_the_run_and_marks_its_results(
        self, one_problem: Path
    ) -> None:
        done = started_by(WITHOUT_NAMESPACES, one_problem, *COMMANDS["run"])
        assert done.returncode == 0, done.stderr
        sandbox = json.loads((one_problem / "r" / "run.json").read_text())["sandbox"]
        assert (sandbox["level"], sandbox["means"]) == ("landlock", None)
        assert set(sandbox["layers"]) >= PROMISED[Level.LANDLOCK]
        assert "namespaces (direct): " in sandbox["why_no_stronger"]
        assert [each["isolation"] for each in results(one_problem / "r")] == ["landlock"]


def test_the_sandbox_is_kept_with_the_run_and_marks_its_results(one_problem: Path) -> None:
    choice = choose()
    done = harness(one_problem, *COMMANDS["run"])
    assert done.returncode == 0, done.stderr
    sandbox = json.loads((one_problem / "r" / "run.json").read_text())["sandbox"]
    assert (sandbox["level"], sandbox["means"]) == (choice.isolation.level, choice.isolation.means)
    assert sandbox["layers"] == choice.findings.in_force
    assert [each["isolation"] for each in results(one_problem / "r")] == [choice.isolation.level]
    assert graded(one_problem)["isolation"] == choice.isolation.level


class TestUnsafe:
    def test_unsafe_no_sandbox_uses_a_sandbox_if_there_is_one(self, one_problem: Path) -> None:
        level = choose().isolation.level
        assert graded(one_problem, "--unsafe-no-sandbox")["isolation"] == level

    @pytest.fixture
    def elsewhere(self) -> str:
        if platform.machine() != "x86_64":
            pytest.skip("only this machine can say that it is another")
        return ON_ANOTHER_MACHINE

    @pytest.mark.parametrize("command", ["run", "verify"])
    def test_nothing_is_judged_without_a_sandbox_unless_unsafe(
        self, command: str, elsewhere: str, one_problem: Path
    ) -> None:
        before = files(one_problem)
        done = started_by(elsewhere, one_problem, *COMMANDS[command])
        assert (done.returncode, done.stdout) == (2, "")
        assert "no sandbox" in done.stderr.splitlines()[-1]
        assert files(one_problem) == before

    @pytest.mark.thorough
    def test_unsafe_no_sandbox_marks_a_run(self, elsewhere: str, one_problem: Path) -> None:
        done = started_by(elsewhere, one_problem, *COMMANDS["run"], "--unsafe-no-sandbox")
        assert done.returncode == 0, done.stderr
        text = " ".join(done.stderr.split())
        assert text.count("sandbox level none") == 1
        assert MISSING[Level.NONE] in text
        (result,) = results(one_problem / "r")
        assert (result["isolation"], result["verdict"]) == ("none", "accepted")
        run = json.loads((one_problem / "r" / "run.json").read_text())
        assert (run["sandbox"]["level"], run["spec"]["unsafe_no_sandbox"]) == ("none", True)

    @pytest.mark.thorough
    def test_unsafe_no_sandbox_marks_grades(self, elsewhere: str, one_problem: Path) -> None:
        flags = [*COMMANDS["grade"], "--json", "--unsafe-no-sandbox"]
        done = started_by(elsewhere, one_problem, *flags)
        assert done.returncode == 0, done.stderr
        (result,) = json.loads(done.stdout)["results"]
        assert (result["isolation"], result["verdict"]) == ("none", "accepted")

    @pytest.mark.thorough
    def test_unsafe_no_sandbox_marks_verified_references(
        self, elsewhere: str, one_problem: Path
    ) -> None:
        flags = [*COMMANDS["verify"], "--json", "--unsafe-no-sandbox"]
        done = started_by(elsewhere, one_problem, *flags)
        assert done.returncode == 0, done.stderr
        assert '"isolation": "none"' in json.dumps(json.loads(done.stdout))


class TestWallTimeout:
    @pytest.mark.thorough
    def test_wall_timeout_ends_a_sleeping_program(self, one_problem: Path) -> None:
        write(one_problem, SLEEPS)
        start = time.monotonic()
        result = graded(one_problem, "--set", "wall_timeout=0.4")
        assert time.monotonic() - start < 30
        assert result["verdict"] == "time_limit"
        (test,) = result["tests"]
        assert 0.4 <= test["wall_s"] < 10
        assert test["cpu_s"] < 0.4
        assert "limit of wall time" in test["error"]
        assert result["judged_again"]["retimed"] == [1, 0]

    @pytest.mark.thorough
    def test_a_run_uses_and_keeps_its_wall_timeout(self, one_problem: Path) -> None:
        write(one_problem, SLEEPS)
        done = harness(one_problem, *COMMANDS["run"], "--set", "wall_timeout=0.4")
        assert done.returncode == 0, done.stderr
        (result,) = results(one_problem / "r")
        assert result["verdict"] == "time_limit"
        run = json.loads((one_problem / "r" / "run.json").read_text())
        assert run["spec"]["wall_timeout"] == 0.4
        assert [limits["wall_s"] for limits in run["test_limits"].values()] == [0.4]

    @pytest.mark.parametrize(
        ("command", "seconds"),
        [("run", "0"), ("run", "nan"), ("grade", "-1"), ("grade", "inf"), ("verify", "1e9")],
    )
    def test_a_bad_wall_timeout_is_refused(
        self, command: str, seconds: str, one_problem: Path
    ) -> None:
        done = harness(one_problem, *COMMANDS[command], "--set", f"wall_timeout={seconds}")
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert "--set wall_timeout" in line
        assert not (one_problem / "r").exists()


class TestHowManyAreRun:
    def test_few_tests_are_all_run_after_a_wrong_answer(self, one_problem: Path) -> None:
        wrong = ["accepted", "wrong_answer", "accepted", "wrong_answer"]
        assert vector(one_problem, WRONG_TWICE) == wrong
        assert vector(one_problem, WRONG_TWICE, "--all-tests") == wrong

    def test_fail_fast_stops_at_the_first(self, one_problem: Path) -> None:
        assert vector(one_problem, WRONG_TWICE, "--fail-fast") == ["accepted", "wrong_answer"]
        assert vector(one_problem, RIGHT, "--fail-fast") == ["accepted"] * 4

    @pytest.mark.thorough
    def test_a_limit_stops_unless_all_are_wanted(self, one_problem: Path) -> None:
        short = ["--test-timeout", "0.3"]
        assert vector(one_problem, SPINS_AT_2, *short) == ["accepted", "time_limit"]
        assert vector(one_problem, SPINS_AT_2, *short, "--all-tests") == [
            *("accepted", "time_limit", "accepted", "accepted")
        ]

    def test_a_run_uses_and_keeps_all_tests_and_fail_fast(self, one_problem: Path) -> None:
        write(one_problem, WRONG_TWICE)
        for flag, tests, kept in (
            ("--all-tests", 4, True),
            ("--fail-fast", 2, False),
        ):
            out = one_problem / f"r{flag}"
            command = [*COMMANDS["run"][:-1], str(out), *([flag] if flag else [])]
            done = harness(one_problem, *command)
            assert done.returncode == 0, done.stderr
            (result,) = results(out)
            assert len(result["tests"]) == tests
            assert json.loads((out / "run.json").read_text())["spec"]["all_tests"] is kept


class TestYaml:
    SPEC = (
        "benchmark: jsonl:own.jsonl\nmodel: python:mine:solve\nwall-timeout: 0.4\n"
        "all_tests: true\nrequire_isolation: seccomp\nunsafe-no-sandbox: false\n"
    )

    @pytest.mark.thorough
    def test_yaml_keys_of_isolation_and_tests_are_the_flags(self, one_problem: Path) -> None:
        write(one_problem, "n = int(input())\nimport time\nif n == 2: time.sleep(60)\nprint(n)")
        (one_problem / "spec.yaml").write_text(self.SPEC)
        done = harness(one_problem, "run", "-c", "spec.yaml", "--out", "r")
        assert done.returncode == 0, done.stderr
        spec = json.loads((one_problem / "r" / "run.json").read_text())["spec"]
        assert (spec["wall_timeout"], spec["all_tests"]) == (0.4, True)
        assert (spec["require_isolation"], spec["unsafe_no_sandbox"]) == ("seccomp", False)
        (result,) = results(one_problem / "r")
        assert [test["verdict"] for test in result["tests"]] == [
            *("accepted", "time_limit", "accepted", "accepted")
        ]

    def test_flags_of_isolation_and_tests_win_over_yaml(self, one_problem: Path) -> None:
        write(one_problem, WRONG_TWICE)
        (one_problem / "spec.yaml").write_text(self.SPEC)
        flags = ["--fail-fast", "--set", "wall_timeout=9", "--require-isolation", "landlock"]
        done = harness(one_problem, "run", "-c", "spec.yaml", "--out", "r", *flags)
        assert done.returncode == 0, done.stderr
        spec = json.loads((one_problem / "r" / "run.json").read_text())["spec"]
        assert (spec["wall_timeout"], spec["all_tests"]) == (9.0, False)
        assert spec["require_isolation"] == "landlock"
        assert len(results(one_problem / "r")[0]["tests"]) == 2

    @pytest.mark.parametrize(
        ("line", "word"),
        [
            ("require_isolation: absolute", "landlock"),
            ("wall_timeout: 0", "wall_timeout"),
            ("all_tests: some", "all_tests"),
            ("unsafe_no_sandbx: true", "unsafe_no_sandbox"),
        ],
    )
    def test_a_bad_yaml_value_or_key_of_isolation_is_refused(
        self, line: str, word: str, one_problem: Path
    ) -> None:
        (one_problem / "spec.yaml").write_text(line + "\n")
        done = harness(one_problem, "run", "-c", "spec.yaml", "--out", "r")
        assert done.returncode == 2
        (message,) = done.stderr.splitlines()
        assert word in message
        assert not (one_problem / "r").exists()
