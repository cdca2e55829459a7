"""A run's solutions judged again: another run, which asks no model."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from own_models import answering
from program import Done, harness, results
from written import link_written

Program = Callable[..., Done]
ROW = {
    "id": "mine/float",
    "statement": "Print a half.",
    "tests": [
        {"input": "1", "output": "0.5", "public": True},
        {"input": "2", "output": "0.5", "public": False},
    ],
}
MODEL = "def solve(problem): return 'print(0.50000001)'"


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return lambda *arguments: harness(tmp_path, *arguments)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run `r` of one wrong answer, and its problem."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "p.jsonl").write_text(json.dumps(ROW))
    (folder / "mine.py").write_text(MODEL)
    flags = ["-b", "jsonl:p.jsonl", "-m", "python:mine:solve", "--rule", "lcb", "--out", "r"]
    assert harness(folder, "run", *flags).returncode == 0
    (result,) = results(folder / "r")
    assert result["verdict"] == "wrong_answer"
    (folder / "mine.py").unlink()
    return folder


@pytest.fixture
def parent(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path / "r"


def test_regrade_by_another_rule_may_change_a_verdict(
    parent: Path, program: Program, tmp_path: Path
) -> None:
    before = {each: each.read_bytes() for each in parent.rglob("*") if each.is_file()}
    done = program("grade", "r", "--rule", "tokens")
    assert done.returncode == 0, done.stderr
    assert "1 verdict changed" in done.stderr
    assert "mine/float#0: wrong_answer before, accepted now" in done.stderr
    (now,) = results(tmp_path / "r-regraded")
    (then,) = results(parent)
    assert (now["verdict"], now["hidden_passed"]) == ("accepted", 1)
    kept = ("sample", "code", "model_calls", "usage", "stop_reason", "seconds", "problem_hash")
    assert [now[key] for key in kept] == [then[key] for key in kept]
    assert {each: each.read_bytes() for each in parent.rglob("*") if each.is_file()} == before
    manifest = json.loads((tmp_path / "r-regraded" / "run.json").read_text())
    assert manifest["parent"] == str(parent)
    assert manifest["spec"]["rule"] == "tokens"


def test_the_same_rule_changes_nothing(parent: Path, program: Program) -> None:
    done = program("grade", parent, "--json")
    assert done.returncode == 0, done.stderr
    assert "0 verdicts changed" in done.stderr
    summary = json.loads(done.stdout)
    assert (summary["graded"], summary["verdicts"]) == (1, {"wrong_answer": 1})


@pytest.mark.thorough
def test_the_conversation_is_taken_over_with_the_new_grade(program: Program) -> None:
    assert program("run", "--agentic-mode", "-n", "1", "--out", "r").returncode == 0
    assert program("grade", "r").returncode == 0
    transcripts = [program("transcript", run, "even-parcels").stdout for run in ("r", "r-regraded")]
    assert transcripts[0] == transcripts[1]
    # Played again it says the same.
    done = program(
        "run", "--agentic-mode", "-t", "even-parcels", "-b", "fixture", "-m", "replay:r-regraded"
    )
    assert done.returncode == 0, done.stderr


def curve(run: Path) -> Any:
    return json.loads((run / "summary.json").read_text())["curve"]


@pytest.fixture
def iterated(program: Program, tmp_path: Path) -> Path:
    """A run in which most samples have several revisions."""
    done = program("run", *link_written(tmp_path), "--agentic-mode", "-n", "4", "--out", "it")
    assert done.returncode == 0, done.stderr
    assert any(each["written"] > 1 for each in results(tmp_path / "it"))
    return tmp_path / "it"


def test_every_revision_is_judged_again(iterated: Path, program: Program) -> None:
    done = program("grade", iterated)
    assert "0 verdicts changed" in done.stderr
    now = iterated.with_name("it-regraded")
    assert curve(now) == curve(iterated)
    assert curve(now)["first_write_unknown"] == 0
    then = {each["sample"]: each["steps"] for each in results(iterated)}
    assert {each["sample"]: each["steps"] for each in results(now)} == then


@pytest.mark.thorough
def test_regrade_without_transcripts_knows_the_final_revision_alone(
    iterated: Path, program: Program
) -> None:
    shutil.rmtree(iterated / "transcripts")
    done = program("grade", iterated)
    assert done.returncode == 0, done.stderr
    assert "0 verdicts changed" in done.stderr
    now = iterated.with_name("it-regraded")
    of_several = [each for each in results(now) if each["written"] > 1]
    for each in of_several:
        assert [step["solved"] for step in each["steps"][:-1]] == [None] * (each["written"] - 1)
        assert each["steps"][-1]["solved"] == (each["verdict"] == "accepted")
        assert {step["public_passed"] for step in each["steps"]} == {None}
    assert curve(now)["first_write_unknown"] == curve(now)["perhaps_earlier"] == len(of_several)
    assert curve(now)["by_turn"][-1] == curve(iterated)["by_turn"][-1]
    assert f", lost 0; {len(of_several)} unknown" in done.stdout
    page = program("report", now, "--out", "page.html")
    assert page.returncode == 0, page.stderr
    assert f"unknown for {len(of_several)} samples" in (iterated.parent / "page.html").read_text()


@pytest.mark.parametrize("mode", ["self_repair", "best_of_k_public"])
def test_revisions_found_in_answers_get_new_verdicts(
    mode: str, program: Program, tmp_path: Path
) -> None:
    (tmp_path / "p.jsonl").write_text(json.dumps(ROW))
    outputs = ["1", "0.50000001", "2", "3", "4"]
    texts = [f"```python\nprint({each})\n```" for each in outputs]
    (tmp_path / "mine.py").write_text(answering(solve=texts))
    flags = ["-b", "jsonl:p.jsonl", "-m", "python:mine:solve", "--rule", "lcb", "--out", "r"]
    assert program("run", *flags, "--mode", mode).returncode == 0
    (then,) = results(tmp_path / "r")
    assert len(then["steps"]) > 1
    assert not any(step["solved"] for step in then["steps"])
    done = program("grade", "r", "--rule", "tokens")
    assert done.returncode == 0, done.stderr
    (now,) = results(tmp_path / "r-regraded")
    assert [step["solved"] for step in now["steps"]] == [
        place == 1 for place in range(len(now["steps"]))
    ]
    assert now["steps"][1]["public_passed"] == 1


@pytest.mark.thorough
def test_what_was_begun_goes_on(program: Program, tmp_path: Path) -> None:
    assert program("run", "-n", "3", "--out", "r").returncode == 0
    assert program("grade", "r").returncode == 0
    path = tmp_path / "r-regraded" / "results.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-50])
    done = program("grade", "r")
    assert "3 solutions, 1 pending" in done.stderr
    assert path.read_bytes().splitlines()[:2] == whole.splitlines()[:2]
    assert len(results(tmp_path / "r-regraded")) == 3


class TestRefusals:
    def test_regrade_into_a_run_of_another_rule_is_refused(
        self, parent: Path, program: Program
    ) -> None:
        assert program("grade", parent, "--rule", "tokens").returncode == 0
        done = program("grade", parent, "--rule", "apps_legacy")
        assert done.returncode == 2
        assert "is another run; choose another --out" in done.stderr

    def test_resume_of_a_regraded_run_is_refused(self, parent: Path, program: Program) -> None:
        assert program("grade", parent).returncode == 0
        (parent.parent / "mine.py").write_text(MODEL)
        done = program("run", "--resume", "r-regraded")
        assert done.returncode == 2
        assert "`harness grade`" in done.stderr

    @pytest.mark.parametrize(
        ("row", "reason"),
        [
            ({**ROW, "statement": "Print two halves."}, "mine/float has changed since"),
            ({**ROW, "id": "other"}, "mine/float is no longer where it was"),
        ],
    )
    def test_a_problem_that_is_another_now(
        self, row: dict[str, Any], reason: str, parent: Path, program: Program
    ) -> None:
        (parent.parent / "p.jsonl").write_text(json.dumps(row))
        done = program("grade", parent)
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert reason in line

    def test_problems_that_moved_are_named(self, parent: Path, program: Program) -> None:
        shutil.move(parent.parent / "p.jsonl", parent.parent / "q.jsonl")
        assert program("grade", parent).returncode == 2
        done = program("grade", parent, "-b", "jsonl:q.jsonl")
        assert done.returncode == 0, done.stderr

    def test_a_folder_that_is_no_run(self, program: Program, tmp_path: Path) -> None:
        done = program("grade", tmp_path)
        assert done.returncode == 2
        assert "is not a run" in done.stderr
