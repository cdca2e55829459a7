"""What the user's own function raises: a fault of the sample, or an interrupt of the run."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from program import harness as program

import harness
from harness import EvaluationError, aevaluate, evaluate

pytestmark = pytest.mark.usefixtures("kept_sandbox")

Problems = tuple[harness.Problem, ...]


async def cancelled(problem: dict[str, Any]) -> str:
    if "echo" in problem["id"]:
        raise asyncio.CancelledError
    return "print(0)"


def cancelled_in_a_thread(problem: dict[str, Any]) -> str:
    if "echo" in problem["id"]:
        raise asyncio.CancelledError("a scope of its own")
    return "print(0)"


@pytest.mark.parametrize("function", [cancelled, cancelled_in_a_thread])
def test_a_cancellation_of_its_own_is_a_fault(function: Any, problems: Problems) -> None:
    result = evaluate(function, benchmark=problems)
    assert (result["graded"], result["pending"]) == (2, 1)
    (failure,) = result.failures
    assert failure.sample == "own/echo#0"
    assert "raised CancelledError" in failure.cause


def test_evaluate_raises_if_all_samples_are_cancelled(problems: Problems) -> None:
    with pytest.raises(EvaluationError, match=r"none of 1 samples.*raised CancelledError"):
        evaluate(cancelled, benchmark=problems[:1])


async def test_a_model_of_ones_own(problems: Problems) -> None:
    class Own:
        name = "own"

        def for_sample(self, *_: object) -> "Own":
            return self

        async def generate(self, *_: object) -> Any:
            raise asyncio.CancelledError

        async def close(self) -> None:
            pass

    with pytest.raises(EvaluationError, match="raised CancelledError"):
        await aevaluate(Own(), benchmark=problems[:1])  # type: ignore[arg-type]


def test_a_client_of_another_loop_is_told_what_to_do(problems: Problems) -> None:
    """As an HTTP client, whose connections belong to the loop that opened them."""
    loops: list[asyncio.AbstractEventLoop] = []

    async def answer(_: dict[str, Any]) -> str:
        loops.append(asyncio.get_running_loop())
        try:
            loops[0].call_soon(len, "")
        except RuntimeError as error:
            raise ConnectionError("no connection") from error
        return "print(0)"

    assert evaluate(answer, benchmark=problems[:1])["graded"] == 1
    message = "ConnectionError: no connection .each call of evaluate has an event loop of its own"
    with pytest.raises(EvaluationError, match=message):
        evaluate(answer, benchmark=problems[:1])


SCRIPT = """
import sys
import harness

DEF answer(problem):
    if problem["id"].endswith("reverse"):
        raise KeyboardInterrupt
    return "print(input())"

try:
    harness.evaluate(answer, benchmark=sys.argv[1], out="r", concurrency=1)
except KeyboardInterrupt as error:
    print("interrupted:", error)
"""


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["def", "async def"])
def test_an_interrupt_ends_the_evaluation(how: str, benchmark: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.replace("DEF", how), benchmark],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "interrupted: python:__main__:answer raised KeyboardInterrupt\n"
    assert harness.load_run(tmp_path / "r").results[0].problem_id == "own/echo"


async def test_an_interrupt_of_the_users_code_leaves_aevaluate(problems: Problems) -> None:
    def answer(_: dict[str, Any]) -> str:
        raise KeyboardInterrupt

    caught = ""
    try:
        await aevaluate(answer, benchmark=problems)
    except KeyboardInterrupt as error:
        caught = str(error)
    assert caught.endswith("answer raised KeyboardInterrupt")


def test_the_command_says_how_to_go_on(benchmark: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def solve(problem):\n    raise KeyboardInterrupt\n")
    done = program(tmp_path, "run", "-m", "python:mine:solve", "-b", benchmark, "-o", "r")
    assert done.returncode == 130
    assert "interrupted; go on with: harness run --resume r" in done.stderr
    assert "Traceback" not in done.stderr
