"""How fast solutions are, as users ask for it: calibrate, run, grade."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each
from json_lines import json_lines
from program import finish, harness, heard, results, start

FAST = "n = int(input())\nprint(sum(range(n)))\n"
SLOW = "n = int(input())\ns = 0\nfor i in range(n):\n    for _ in range(6): s += i\nprint(s // 6)\n"
TESTS: list[dict[str, Any]] = [
    {"input": f"{n}\n", "output": f"{n * (n - 1) // 2}\n", "public": n == 2_000}
    for n in (2_000, 3_000)
]


def problem(name: str, *references: str) -> dict[str, Any]:
    return {
        "id": name,
        "statement": "Print the sum of the numbers below n.",
        "tests": TESTS,
        "references": list(references),
    }


@pytest.fixture(scope="module")
def timed_problems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three problems of one's own, calibrated: one that tells, two that do not."""
    folder = tmp_path_factory.mktemp("timed")
    rows = [problem("own/sum", FAST, SLOW), problem("own/one", FAST), problem("own/none")]
    (folder / "own.jsonl").write_text(json_lines(rows))
    return folder


@pytest.fixture(scope="module")
def calibrated(timed_problems: Path) -> dict[str, Any]:
    done = at_home(timed_problems, "verify", "jsonl:own.jsonl", "--time", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def at_home(folder: Path, *arguments: str) -> Any:
    return harness(folder, *arguments, HF_HOME=str(folder / "home"))


class TestCalibrate:
    def test_each_problem_says_what_its_references_take_or_what_it_lacks(
        self, calibrated: dict[str, Any]
    ) -> None:
        problems = {each["problem_id"]: each for each in calibrated["problems"]}
        assert [each["index"] for each in problems["own/sum"]["references"]] == [0, 1]
        fast, slow = problems["own/sum"]["references"]
        assert 0 < fast["cpu_s"] < slow["cpu_s"]
        assert [problems[name]["lack"] for name in problems] == [
            *("", "one reference passes", "no reference passes")
        ]
        summary = calibrated["summary"]
        assert (summary["telling"], summary["problems"], summary["references"]) == (1, 3, 3)

    @pytest.mark.thorough
    def test_known_references_are_timed_again_only_on_demand(
        self, timed_problems: Path, calibrated: dict[str, Any]
    ) -> None:
        again = at_home(timed_problems, "verify", "jsonl:own.jsonl", "--time", "--json")
        assert json.loads(again.stdout) == calibrated
        assert "3 of 3 problems known already" in again.stderr
        anew = at_home(timed_problems, "verify", "jsonl:own.jsonl", "--time", "--json", "--fresh")
        assert "known already" not in anew.stderr
        assert json.loads(anew.stdout) != calibrated

    def test_times_of_one_way_are_not_those_of_the_other(
        self, timed_problems: Path, calibrated: dict[str, Any]
    ) -> None:
        flags = ["--set", "timing=mercury", "-t", "own/sum"]
        done = at_home(timed_problems, "verify", "jsonl:own.jsonl", "--time", "--json", *flags)
        (calibration,) = json.loads(done.stdout)["problems"]
        assert calibration["timing"] == "mercury"
        assert calibrated["problems"][0]["timing"] == "paired"

    def test_settings_that_do_not_time_are_refused(self, timed_problems: Path) -> None:
        for flags, named in (
            (("--time", "--set", "wall_timeout=3"), "--set wall_timeout has no effect on --time"),
            (("--time", "--references", "1"), "--references has no effect on --time"),
            (("--time", "--fail-under", "1"), "--fail-under has no effect on --time"),
            (("--set", "timing=mercury"), "--set timing says how --time measures"),
        ):
            done = at_home(timed_problems, "verify", "jsonl:own.jsonl", *flags)
            assert done.returncode == 2
            assert named in done.stderr

    def test_the_table_is_for_people(
        self, timed_problems: Path, calibrated: dict[str, Any]
    ) -> None:
        assert calibrated
        done = at_home(timed_problems, "verify", "jsonl:own.jsonl", "--time")
        assert "1 of 3 problems tell fast from slow" in done.stdout
        assert "own/sum" in done.stdout

    @pytest.mark.thorough
    async def test_an_interrupt_keeps_what_is_timed_and_the_command_goes_on(
        self, tmp_path: Path
    ) -> None:
        long = SLOW.replace("range(6)", "range(600)").replace("// 6", "// 600")
        rows = [problem("own/first", FAST), problem("own/long", long, long + "pass\n")]
        (tmp_path / "own.jsonl").write_text(json_lines(rows))
        flags = ["verify", "jsonl:own.jsonl", "--time", "--workers", "1", "--test-timeout", "60"]
        home = str(tmp_path / "home")
        process = await start(tmp_path, *flags, HF_HOME=home)
        await heard(process, "[1/2]")
        process.send_signal(signal.SIGINT)
        code, out, err = await finish(process)
        assert code == 130, err
        assert "interrupted: 1 problem not timed" in err
        assert "own/first" in out
        again = at_home(tmp_path, *flags, "-t", "own/first")
        assert "1 of 1 problem known already" in again.stderr


class TestRun:
    @pytest.mark.thorough
    def test_efficiency_without_a_model_times_the_references(
        self, timed_problems: Path, calibrated: dict[str, Any]
    ) -> None:
        assert calibrated
        flags = ["-b", "jsonl:own.jsonl", "-t", "own/sum", "-k", "2", "--efficiency", "--out", "r"]
        done = at_home(timed_problems, "run", *flags)
        assert done.returncode == 0, done.stderr
        assert "model references" in done.stderr
        fast, slow = sorted(results(timed_problems / "r"), key=lambda result: result["index"])
        assert (fast["verdict"], slow["verdict"]) == ("accepted", "accepted")
        assert fast["efficiency"]["beyond"] > 0.8
        assert slow["efficiency"]["beyond"] < 0.2
        assert fast["efficiency"]["cpu_s"] < slow["efficiency"]["cpu_s"]
        assert "Beyond@1" in done.stdout

    def test_problems_without_references_leave_their_samples_pending(
        self, timed_problems: Path
    ) -> None:
        flags = ["-b", "jsonl:own.jsonl", "-t", "own/none", "--efficiency", "--out", "none"]
        done = at_home(timed_problems, "run", *flags)
        assert done.returncode == 4
        advice = "leave such problems out, or name a model with -m"
        assert f"no reference solution in Python; {advice}" in done.stderr
        assert "Leave such problems out" in done.stdout
        assert "--resume" not in done.stdout + done.stderr

    @pytest.mark.thorough
    def test_a_model_may_be_named_all_the_same(self, timed_problems: Path) -> None:
        (timed_problems / "own.py").write_text(f"def solve(problem): return {SLOW!r}\n")
        flags = ["-b", "jsonl:own.jsonl", "-t", "own/sum", "-m", "python:own:solve"]
        done = at_home(timed_problems, "run", *flags, "--efficiency", "--out", "model")
        assert done.returncode == 0, done.stderr
        (result,) = results(timed_problems / "model")
        assert result["efficiency"]["beyond"] < 0.2
        assert result["efficiency"]["timing"] == "paired"

    def test_efficiency_is_measured_on_demand_only(self, timed_problems: Path) -> None:
        flags = ["-b", "jsonl:own.jsonl", "-t", "own/sum", "-m", "references", "--out", "plain"]
        done = at_home(timed_problems, "run", *flags)
        assert done.returncode == 0, done.stderr
        (result,) = results(timed_problems / "plain")
        assert result["efficiency"] is None

    @pytest.mark.thorough
    def test_mercury_s_protocol_is_there_by_its_name(self, timed_problems: Path) -> None:
        flags = ["-b", "jsonl:own.jsonl", "-t", "own/sum", "--efficiency", "--set=timing=mercury"]
        done = at_home(timed_problems, "run", *flags, "--out", "mercury")
        assert done.returncode == 0, done.stderr
        (result,) = results(timed_problems / "mercury")
        assert (result["efficiency"]["timing"], result["efficiency"]["pairs"]) == ("mercury", 128)

    @for_each(
        ("flags", "message"),
        [
            (["--set", "timing=mercury"], "--set timing says how --efficiency measures"),
            (["--efficiency", "--set", "timing=stopwatch"], "--set timing"),
            (["--efficiency", "--no-run-tests"], "--efficiency times what passes the tests"),
            (["--efficiency", "--agentic-mode"], "single_shot, not agentic: name a model with -m"),
        ],
    )
    def test_what_makes_no_sense_is_refused(
        self, timed_problems: Path, flags: list[str], message: str
    ) -> None:
        done = at_home(timed_problems, "run", *flags, "--out", "never")
        assert done.returncode == 2
        assert message in done.stderr
        assert not (timed_problems / "never").exists()


class TestGrade:
    def test_solutions_that_pass_are_timed_and_others_count_nothing(
        self, timed_problems: Path, calibrated: dict[str, Any]
    ) -> None:
        assert calibrated
        rows = [{"problem_id": "own/sum", "code": code} for code in (FAST, SLOW, "print(1)")]
        *_, failing = rows
        (timed_problems / "solutions.jsonl").write_text(json_lines(rows))
        flags = ["--problems", "jsonl:own.jsonl", "--solutions", "solutions.jsonl", "--efficiency"]
        done = at_home(timed_problems, "grade", *flags, "--json")
        assert done.returncode == 0, done.stderr
        data = json.loads(done.stdout)
        fast, slow, wrong = (each["efficiency"] for each in data["results"])
        assert fast["beyond"] > 0.8
        assert slow["beyond"] < 0.2
        assert (wrong["beyond"], wrong["cpu_s"]) == (0.0, None)
        assert data["summary"]["efficiency"]["beyond"]["problems"] == 1
        (timed_problems / "solutions.jsonl").write_text(json.dumps(failing))
        assert "Beyond@1" in at_home(timed_problems, "grade", *flags).stdout

    def test_a_way_to_time_wants_something_to_be_timed(self, timed_problems: Path) -> None:
        flags = ["--problems", "jsonl:own.jsonl", "--solutions", "own.jsonl"]
        done = at_home(timed_problems, "grade", *flags, "--set", "timing=mercury")
        assert done.returncode == 2
        assert "--efficiency" in done.stderr
