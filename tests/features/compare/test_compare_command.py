"""`harness compare` and `--fail-under`, as their users run them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each
from json_lines import json_lines
from own_problems import DOUBLE, ECHO
from program import Done, harness
from runs_made import write_experiment
from written import PLAYED

Program = Callable[..., Done]
MODEL = """
from itertools import count
turn = count()
def right(problem):
    return "print(input())" if problem["entry_point"] is None else "def double(n): return n + n"
def wrong(problem): return "print(7)"
def alternating(problem): return right(problem) if next(turn) % 2 else wrong(problem)
"""


@pytest.fixture(scope="module")
def compared_runs(written_runs: Callable[..., Path]) -> Path:
    """Runs of own problems, eight of a kind, and those of the bundled recordings."""
    folder = written_runs("single", "agentic")
    rows = [{**ECHO, "id": f"own/echo{number}"} for number in range(8)]
    (folder / "own.jsonl").write_text(json_lines([*rows, DOUBLE]))
    (folder / "mine.py").write_text(MODEL)
    for name in ("right", "wrong"):
        flags = ("-b", "jsonl:own.jsonl", "-m", f"python:mine:{name}", "--out", name)
        assert harness(folder, "run", *flags).returncode == 0
    shutil.copytree(folder / "right", folder / "other-limits")
    manifest = json.loads((folder / "other-limits" / "run.json").read_text())
    manifest["test_limits"]["jsonl"]["cpu_s"] = 1.0
    (folder / "other-limits" / "run.json").write_text(json.dumps(manifest))
    for name in ("right", "wrong", "single"):
        shutil.copytree(folder / name, folder / f"{name}-again")
    return folder


@pytest.fixture(scope="module")
def program(compared_runs: Path) -> Program:
    return lambda *arguments: harness(compared_runs, *arguments)


def compared(program: Program, *arguments: str) -> Any:
    done = program("compare", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def says_no_difference(versus: Any) -> bool:
    paired = versus["paired"]
    certain = paired["p_value"] == versus["p_holm"] == 1
    return certain and paired["difference"] == 0 and paired["low"] == -paired["high"] < 0


def test_a_run_does_not_differ_from_its_copy(program: Program) -> None:
    (versus,) = compared(program, "single", "single-again")["versus"]
    assert says_no_difference(versus)
    assert versus["flips"] == versus["unlike"] == []


@pytest.mark.thorough
def test_two_replays_do_not_differ(program: Program) -> None:
    assert program("run", *PLAYED, "--agentic-mode", "--out", "again").returncode == 0
    (versus,) = compared(program, "agentic", "again", "--strict")["versus"]
    assert says_no_difference(versus)
    assert versus["paired"]["problems"] == 20
    assert versus["flips"] == versus["unlike"] == versus["notes"] == []


def test_a_flip_names_the_command_that_shows_it(program: Program) -> None:
    done = program("compare", "wrong", "right")
    assert done.returncode == 0
    lines = [line.strip() for line in done.stdout.splitlines()]
    (command, *_) = [
        line for line in lines if line.startswith("read one: harness transcript right")
    ]
    source = program(*command.replace("'", "").split()[3:])
    assert source.returncode == 0
    assert "=== verdict: accepted" in source.stdout


def test_strict_refuses_what_was_not_judged_alike(program: Program) -> None:
    done = program("compare", "right", "other-limits", "--strict")
    assert (done.returncode, done.stdout) == (2, "")
    assert "other-limits is not comparable with right: the limits of a test differ" in done.stderr
    done = program("compare", "right", "other-limits")
    assert done.returncode == 0
    assert (
        "not comparable: the limits of a test differ between the runs: jsonl: cpu_s" in done.stdout
    )


def test_a_run_that_is_worse_fails(program: Program) -> None:
    done = program("compare", "right", "wrong", "--fail-if-worse")
    assert done.returncode == 1
    assert "python:mine:wrong worse than python:mine:right" in done.stderr
    text = " ".join(done.stdout.split())
    assert "python:mine:wrong solves 100.0 points fewer than python:mine:right" in text
    assert program("compare", "right", "wrong").returncode == 0
    assert program("compare", "wrong", "right", "--fail-if-worse").returncode == 0
    assert program("compare", "right", "right-again", "--fail-if-worse").returncode == 0
    better = program("compare", "right", "wrong", "--baseline", "wrong", "--fail-if-worse")
    assert better.returncode == 0


def test_markdown_is_printed_whole(program: Program) -> None:
    done = program("compare", "right", "wrong", "--markdown")
    assert done.returncode == 0
    assert (
        "\n|  | `python:mine:right` | `python:mine:wrong` |\n| --- | ---: | ---: |\n" in done.stdout
    )
    assert "`python:mine:wrong` solves 100.0 points fewer than `python:mine:right`" in done.stdout
    assert "`harness transcript right own/echo0#0`" in done.stdout.replace("'", "")


@pytest.mark.thorough
def test_the_answer_fits_a_screen_and_the_rest_is_behind_flags(program: Program) -> None:
    for arguments in (
        ("right", "wrong"),
        ("single", "single-again"),
        ("wrong", "right", "wrong-again"),
    ):
        lines = program("compare", *arguments).stdout.splitlines()
        assert len(lines) <= 24
        assert all(len(line.rstrip()) <= 80 for line in lines), lines
    answer = program("compare", "single", "single-again").stdout
    details = program("compare", "single", "single-again", "--details").stdout
    assert "80 % power" not in answer
    assert "80 % power" in details
    assert "by platform" in details
    assert details.endswith(answer)
    by = program("compare", "single", "single-again", "--by", "platform").stdout
    assert "80 % power" not in by
    assert "by platform" in by
    assert by.endswith(answer)


def test_filters_leave_out_problems_of_both_runs(program: Program) -> None:
    flags = ("--filter-difficulty", "easy,medium", "--max-release-date", "2026-03-31")
    (versus,) = compared(program, "single", "single-again", *flags)["versus"]
    (all_of_them,) = compared(program, "single", "single-again")["versus"]
    assert 0 < versus["paired"]["problems"] < all_of_them["paired"]["problems"]
    assert {group["name"] for group in versus["groups"]["difficulty"]} == {"easy", "medium"}
    output = program("compare", "single", "single-again", *flags).stdout
    assert "easy/medium, released to 2026-03-31" in output
    done = program("compare", "single", "single-again", "--filter-tags", "no-such-tag")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "no problem here has it" in done.stderr


@for_each(
    ("arguments", "message"),
    [
        (("right", "wrong", "--by", "colour"), "known are difficulty, platform, tag, month"),
        (("right",), "give two runs"),
        (("right", "wrong", "./right/"), "right is given twice; a run is compared with another"),
        (("right", "wrong", "--json", "--markdown"), "contradict each other"),
        (("right", "wrong", "--baseline", "single"), "no graded problem is in both"),
        (("right", "single"), "no graded problem is in both"),
        (("right", "nowhere"), "nowhere: no such run"),
        (("grid",), "grid is an experiment, which holds runs; see them with: harness exp"),
        (("right", "grid"), "see them with: harness experiment show grid"),
    ],
)
def test_bad_usage_is_one_line(
    program: Program, compared_runs: Path, arguments: tuple[str, ...], message: str
) -> None:
    write_experiment(compared_runs / "grid")
    done = program("compare", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_several_samples_have_pass_at_k_in_the_summary(
    program: Program, compared_runs: Path
) -> None:
    flags = ("-b", "jsonl:own.jsonl", "-m", "python:mine:alternating", "-k", "4")
    done = program("run", *flags, "-t", "own/echo0", "--out", "several", "--concurrency", "1")
    assert done.returncode == 0, done.stderr
    assert "pass@4" in done.stdout
    assert "pass^4" in done.stdout
    summary = json.loads((compared_runs / "several" / "summary.json").read_text())
    two, _, four = summary["of_several"]
    assert (two["k"], four["k"]) == (2, 4)
    assert two["any_right"]["value"] == pytest.approx(5 / 6)
    assert two["all_right"]["value"] == pytest.approx(1 / 6)
    assert (four["any_right"]["value"], four["all_right"]["value"]) == (1, 0)


class TestFailUnder:
    @pytest.mark.parametrize(
        ("run", "rate", "code"),
        [
            *(("single", "0.45", 0), ("single", "45%", 0), ("single", "0.46", 1)),
            *(("right", "1", 0), ("wrong", "0", 0), ("wrong", "0.01", 1)),
        ],
    )
    def test_a_rate_that_is_lower_is_a_failure(
        self, program: Program, run: str, rate: str, code: int
    ) -> None:
        done = program("run", "--resume", run, "--fail-under", rate, "--json")
        assert done.returncode == code, done.stderr
        assert ("--fail-under" in done.stderr) is bool(code)
        assert json.loads(done.stdout)["pass_at_1"] is not None

    @pytest.mark.thorough
    def test_regrading_has_it_too(self, program: Program) -> None:
        flags = ("--out", "wrong-regraded", "--fail-under", "0.5")
        assert program("grade", "wrong", *flags).returncode == 1
        assert program("grade", "right", "--out", "r2", "--fail-under", "1").returncode == 0

    @for_each("rate", ["1.5", "-0.1", "nan", "half", "150%", ""])
    def test_a_rate_that_is_none_is_refused_before_anything_is_asked(
        self, program: Program, compared_runs: Path, rate: str
    ) -> None:
        done = program("run", f"--fail-under={rate}", "--out", "never")
        assert done.returncode == 2
        assert "give a rate between 0 and 1, as 0.6 or 60%" in done.stderr
        assert not (compared_runs / "never").exists()

    def test_where_nothing_is_graded_no_rate_is_reached(self, program: Program) -> None:
        flags = ("-b", "jsonl:own.jsonl", "-m", "python:mine:right", "--no-run-tests")
        done = program("run", *flags, "--out", "ungraded", "--fail-under", "0")
        assert done.returncode == 4
        assert "not decided, 9 of 9 samples not graded" in done.stderr
