"""A run goes on only with the code that began it, and says so where nothing is left to ask."""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from program import harness as program

import harness
from harness import EvaluationError, aevaluate, evaluate
from harness.errors import RunDirectoryError

pytestmark = pytest.mark.usefixtures("kept_sandbox")

Problems = tuple[harness.Problem, ...]


def function(answer: str) -> Callable[[dict[str, Any]], str]:
    """A function of the same name, as in a notebook's cell that is run again."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(f"def solve(problem):\n    return {answer!r}", scope)
    return scope["solve"]


def test_an_edited_function_is_refused(problems: Problems, tmp_path: Path) -> None:
    out = tmp_path / "r"
    evaluate(function("print(0)"), benchmark=problems, out=out)
    with pytest.raises(RunDirectoryError) as caught:
        evaluate(function("print(input())"), benchmark=problems, out=out)
    assert "the code of python:__main__:solve has changed since this run began" in str(caught.value)
    assert "choose another out" in str(caught.value)
    assert evaluate(function("print(0)"), benchmark=problems, out=out)["pass_at_1"] == 0


async def test_changed_code_is_refused_by_aevaluate(problems: Problems, tmp_path: Path) -> None:
    await aevaluate(function("print(0)"), benchmark=problems, out=tmp_path / "r")
    with pytest.raises(RunDirectoryError, match="has changed since this run began"):
        await aevaluate(function("print(1)"), benchmark=problems, out=tmp_path / "r")


@pytest.mark.parametrize("change", [None, {"sha256": "of another Python", "python": "other 1.0"}])
def test_runs_that_cannot_tell_go_on(
    change: dict[str, str] | None, problems: Problems, tmp_path: Path
) -> None:
    out = tmp_path / "r"
    evaluate(function("print(0)"), benchmark=problems, out=out)
    stored = json.loads((out / "run.json").read_text())
    assert stored.pop("model_code")["sha256"]
    if change is not None:
        stored["model_code"] = change
    (out / "run.json").write_text(json.dumps(stored))
    assert evaluate(function("print(1)"), benchmark=problems, out=out)["pass_at_1"] == 0


def test_a_finished_run_with_changed_code_says_that_nothing_is_asked(
    problems: Problems, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    out = tmp_path / "r"
    with caplog.at_level(logging.WARNING, "harness"):
        evaluate(function("print(0)"), benchmark=problems, out=out)
        assert not [line for line in caplog.messages if "nothing is asked" in line]
        evaluate(function("print(0)"), benchmark=problems, out=out)
    (line,) = [line for line in caplog.messages if "nothing is asked" in line]
    assert line == f"{out}: 3 samples, all of them done; nothing is asked"


def test_two_that_begin_one_run_at_a_time(problems: Problems, tmp_path: Path) -> None:
    """The second finds the folder of the first, whose `run.json` is not written yet."""
    (tmp_path / "r" / "transcripts").mkdir(parents=True)
    with pytest.raises(RunDirectoryError, match="another process or call may be starting a run"):
        evaluate(function("print(0)"), benchmark=problems, out=tmp_path / "r")


def test_code_that_gave_no_answer_may_be_mended(problems: Problems, tmp_path: Path) -> None:
    out = tmp_path / "r"

    def code(line: str) -> Callable[[dict[str, Any]], str]:
        scope: dict[str, Any] = {"__name__": "__main__"}
        exec(f"def solve(problem):\n    {line}", scope)
        return scope["solve"]

    with pytest.raises(EvaluationError):
        evaluate(code("raise OSError('not now')"), benchmark=problems, out=out)
    assert evaluate(code("return 'print(0)'"), benchmark=problems, out=out)["graded"] == 3
    with pytest.raises(RunDirectoryError, match="has changed since"):
        evaluate(code("raise OSError('not now')"), benchmark=problems, out=out)


def test_an_answer_that_is_not_graded_yet_counts(problems: Problems, tmp_path: Path) -> None:
    out = tmp_path / "r"
    evaluate(function("print(0)"), benchmark=problems, out=out)
    (out / "results.jsonl").write_text("")
    with pytest.raises(RunDirectoryError, match="has changed since"):
        evaluate(function("print(1)"), benchmark=problems, out=out)


@pytest.mark.thorough
def test_the_command_refuses_it_too(benchmark: str, tmp_path: Path) -> None:
    mine = tmp_path / "fmod.py"
    mine.write_text("def f(problem):\n    return 'print(0)'\n")
    call = ("run", "-m", "python:fmod:f", "-b", benchmark, "-o", "r")
    assert program(tmp_path, *call).returncode == 0
    mine.write_text("# a remark\ndef f(problem):\n    return 'print(0)'\n")
    assert program(tmp_path, *call).returncode == 0
    mine.write_text("def f(problem):\n    return 'print(10)'\n")
    for again in (call, ("run", "--resume", "r")):
        refused = program(tmp_path, *again)
        assert refused.returncode == 2
        assert "the code of python:fmod:f has changed since this run began" in refused.stderr
