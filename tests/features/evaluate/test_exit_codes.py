"""Exit codes of runs and experiments that leave samples pending: 0 only where nothing is amiss."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, Reply, completion, failure
from json_lines import json_lines
from program import Done, harness, run

from harness import EvaluationError, evaluate

USAGE = {"prompt_tokens": 5, "completion_tokens": 5}
NOBODY = ("-m", "served", "--base-url", "http://127.0.0.1:9/v1")
ONE_BY_ONE = ("--concurrency", "1", "--workers", "1")
IN_PAIRS = ("--mode", "single_shot", "--mode", "agentic")
OWN = """
from harness.agent.attempt import (Attempt, ChosenBy, StopReason)
from harness.sandbox.execution import SandboxError

def model(messages):
    return "print(input())"

async def half(session):
    if session.problem.id.endswith("0"):
        raise SandboxError("the worker died")
    stop = StopReason.MODEL_STOPPED
    return Attempt(code="print(input())", chosen_by=ChosenBy.ANSWER, stop_reason=stop)
"""


@pytest.fixture
def echo_problems(tmp_path: Path) -> Path:
    test = {"input": "1", "output": "1", "public": True}
    rows = [{"id": f"p{number}", "statement": "Echo.", "tests": [test]} for number in range(2)]
    (tmp_path / "p.jsonl").write_text(json_lines(rows))
    (tmp_path / "own.py").write_text(OWN)
    return tmp_path


def answer(_body: dict[str, Any], _number: int) -> Reply:
    return completion("```python\nprint(input())\n```", usage=USAGE)


def without_code(_body: dict[str, Any], _number: int) -> Reply:
    return completion("Hm.", usage=USAGE)


def failing_first(body: dict[str, Any], number: int) -> Reply:
    return failure(400, "odd") if number == 0 else answer(body, number)


def summary(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "r" / "summary.json").read_text())


def run_own(folder: Path, *flags: str) -> Done:
    return harness(folder, "run", "-b", "jsonl:p.jsonl", "--out", "r", *flags)


@pytest.mark.parametrize("gate", [(), ("--fail-under", "0")], ids=["plain", "gate"])
def test_a_wall_limit_that_ends_while_nobody_answers_leaves_samples_pending_and_ends_with_4(
    echo_problems: Path, gate: Sequence[str]
) -> None:
    done = run_own(echo_problems, *NOBODY, "--set", "sample_wall_timeout=1", *gate)
    assert done.returncode == 4, done.stderr
    assert (summary(echo_problems)["graded"], summary(echo_problems)["pending"]) == (
        0,
        {"outage": 2},
    )
    assert (
        "2 samples pending, the first because: outage: the sample's wall time ended meanwhile; go "
        "on with: harness run --resume r" in done.stderr
    )


@pytest.mark.parametrize("gate", [(), ("--fail-under", "50%"), ("--fail-under", "1")])
def test_a_lost_sandbox_ends_a_run_with_4_also_where_the_rest_decides_the_gate(
    echo_problems: Path, gate: Sequence[str]
) -> None:
    done = run_own(echo_problems, "-m", "python:own:model", "--mode", "own:half", *gate)
    assert done.returncode == 4, done.stderr
    assert (summary(echo_problems)["graded"], summary(echo_problems)["pending"]) == (
        1,
        {"sandbox_error": 1},
    )
    assert "1 sample pending, the first because: the worker died; go on with" in done.stderr


@pytest.mark.parametrize(
    ("script", "flags", "code", "graded"),
    [
        (failing_first, ("--fail-under", "0"), 4, 1),
        (failing_first, ("--fail-under", "1"), 4, 1),
        (without_code, ("--agentic-mode", "--max-tokens-total", "15"), 4, 0),
        (answer, ("--max-tokens-total", "15"), 0, 1),
        (answer, ("--max-tokens-total", "15", "--fail-under", "0.5"), 0, 1),
        (answer, ("--max-tokens-total", "15", "--fail-under", "0.6"), 4, 1),
        (failing_first, ("--max-tokens-total", "5"), 4, 1),
    ],
    ids=[
        *("refused request, gate passed", "refused request, gate open"),
        *("budget, none graded", "budget, one graded", "budget, gate passed", "budget, gate open"),
        "budget and a refused request",
    ],
)
async def test_a_run_with_pending_samples_ends_with(
    echo_problems: Path, script: Any, flags: Sequence[str], *, code: int, graded: int
) -> None:
    async with ChatServer(script) as server:
        served = ("-m", "served", "--base-url", server.base_url, *ONE_BY_ONE)
        asked = ("run", "-b", "jsonl:p.jsonl", "--out", "r", *served, *flags)
        ended, _, err = await run(echo_problems, *asked)
    assert (ended, summary(echo_problems)["graded"]) == (code, graded), err
    assert summary(echo_problems)["pending"], err


async def test_only_the_samples_that_were_asked_for_count(echo_problems: Path) -> None:
    async with ChatServer(failing_first) as server:
        served = ("-m", "served", "--base-url", server.base_url, *ONE_BY_ONE)
        asked = ("run", "-b", "jsonl:p.jsonl", "--out", "r", *served, "-t", "p0")
        assert (await run(echo_problems, *asked))[0] == 4
        ended, _, err = await run(
            echo_problems, "run", "--resume", "r", "-k", "2", "--only", "p0#1"
        )
        assert ended == 0, err
        assert summary(echo_problems)["pending"] == {"model_error": 1}
        ended, _, err = await run(echo_problems, "run", "--resume", "r")
    assert ended == 0, err
    assert summary(echo_problems)["pending"] == {}


def test_an_experiment_whose_samples_wait_for_an_answer_ends_with_4(echo_problems: Path) -> None:
    asked = ("experiment", "-b", "jsonl:p.jsonl", "--out", "e", *IN_PAIRS, *NOBODY)
    done = harness(echo_problems, *asked, "--vary", "sample_wall_timeout=1")
    assert done.returncode == 4, done.stderr
    assert "4 samples pending in e" in done.stderr


@pytest.mark.parametrize(("mode", "code"), [("agentic", 4), ("single_shot", 0)])
async def test_an_experiment_that_its_budget_ends_is_0_only_with_a_grade(
    echo_problems: Path, mode: str, code: int
) -> None:
    async with ChatServer(without_code) as server:
        asked = ("experiment", "-b", "jsonl:p.jsonl", "--out", "e", "--mode", mode)
        asked += ("--vary", "temperature=0,1", "-m", "served", "--base-url", server.base_url)
        ended, _, err = await run(echo_problems, *asked, "--max-tokens-total", "15")
    assert ended == code, err
    assert "pending" in err


@pytest.mark.usefixtures("kept_sandbox")
def test_evaluate_raises_where_nobody_answered_within_the_wall_limit(echo_problems: Path) -> None:
    given = {"benchmark": f"jsonl:{echo_problems / 'p.jsonl'}", "model": "served"}
    with pytest.raises(EvaluationError) as raised:
        evaluate(**given, base_url=NOBODY[-1], sample_wall_timeout=1)
    assert str(raised.value) == (
        "none of 2 samples could be graded; outage: the sample's wall time ended meanwhile"
    )
