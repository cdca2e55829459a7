import asyncio
import json
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each

from harness.models.function import FunctionModel, columns, fenced
from harness.models.protocol import ModelError, ModelSettings
from harness.problem import ProblemView
from harness.sources import mercury

NOTHING = ((), (), ModelSettings())


async def answer(function: Callable[..., Any], problem: ProblemView) -> str:
    turn = await FunctionModel("python:m:f", function).for_sample(problem, 0).generate(*NOTHING)
    assert turn.usage is None
    assert turn.stop.reason == "end_turn"
    return turn.text


async def test_a_function_gets_the_public_columns_and_its_answer_is_fenced(
    twice: ProblemView,
) -> None:
    seen: list[dict[str, Any]] = []

    def solve(given: dict[str, Any]) -> str:
        seen.append(given)
        return "print(2 * int(input()))"

    text = await answer(solve, twice)
    assert text == "```python\nprint(2 * int(input()))\n```"
    (given,) = seen
    view = twice.model_dump(mode="json")
    assert {name: given[name] for name in view} == view
    assert given["release_date"] == "2024-02-29"
    assert sorted(set(given) - set(view)) == ["pretty_content", "prompt", "slug_name"]


async def test_a_function_for_mercurys_columns_finds_them(twice: ProblemView) -> None:
    update = {"id": "mercury/two-sum", "starter_code": "class Solution:", "entry_point": "twoSum"}
    seen: list[dict[str, Any]] = []

    def solve(given: dict[str, Any]) -> str:
        seen.append(given)
        return "pass"

    await answer(solve, twice.model_copy(update=update))
    names = ("slug_name", "prompt", "entry_point", "pretty_content")
    assert [seen[0][name] for name in names] == [
        "two-sum",
        "class Solution:",
        "twoSum",
        ["Print twice the number."],
    ]


def test_a_function_is_told_no_hidden_test_or_solution_of_a_mercury_row(tmp_path: Path) -> None:
    row = {
        "slug_name": "add-them",
        "entry_point": "add",
        "prompt": "class Solution:\n    def add(self, a, b):",
        "pretty_content": ["Add them.\n\nExample 1:\nInput: a = 1, b = 2\nOutput: 3"],
        "difficulty": "Easy",
        "convert_offline": "def convert_offline(case): return case  # planted",
        "evaluate_offline": "def evaluate_offline(inputs, outputs, expected): return True",
        "generator_code": "planted",
        "solutions": [{"solution": "planted"}],
        "test_cases": json.dumps(
            [{"input": [1, 2], "expected": 3}, {"input": [40_001, 2], "expected": 40_003}]
        ),
    }
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n")
    (problem,) = mercury.load(str(path)).problems
    text = json.dumps(columns(problem.view()))
    assert "add-them" in text
    for secret in ("planted", "40001", "40003", "test_cases", "solutions"):
        assert secret not in text


async def test_a_coroutine_function_is_awaited(twice: ProblemView) -> None:
    async def solve(given: dict[str, Any]) -> str:
        await asyncio.sleep(0)
        return f"```\n{given['title']}\n```"

    assert await answer(solve, twice) == "```\nTwice\n```"


async def test_a_callable_object_and_one_that_returns_a_coroutine(twice: ProblemView) -> None:
    class Solver:
        async def __call__(self, given: dict[str, Any]) -> str:
            return given["id"]

    assert "made/twice" in await answer(Solver(), twice)
    assert "made/twice" in await answer(
        partial(lambda solver, given: solver(given), Solver()), twice
    )


async def test_slow_functions_run_side_by_side_and_off_the_loop(twice: ProblemView) -> None:
    together = threading.Barrier(40, timeout=60)

    def solve(_given: dict[str, Any]) -> str:
        together.wait()  # passes only if all are running at once
        return threading.current_thread().name

    answers = await asyncio.gather(*(answer(solve, twice) for _ in range(40)))
    assert all("MainThread" not in text for text in answers)


async def test_a_cancelled_function_does_not_hold_its_caller(twice: ProblemView) -> None:
    started, release = threading.Event(), threading.Event()

    def solve(_given: dict[str, Any]) -> str:
        started.set()
        release.wait(60)
        return "late"

    asking = asyncio.ensure_future(answer(solve, twice))
    await asyncio.to_thread(started.wait, 60)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    release.set()


def raises(error: BaseException) -> Callable[[Any], str]:
    def solve(_given: Any) -> str:
        raise error

    return solve


def raises_async(error: BaseException) -> Callable[[Any], Any]:
    async def solve(_given: Any) -> str:
        raise error

    return solve


@for_each("make", [raises, raises_async])
@for_each("error", [ValueError("two\nlines"), SystemExit(3), StopIteration("x"), KeyError("k")])
async def test_what_a_function_raises_is_named(
    make: Callable[[BaseException], Any], error: BaseException, twice: ProblemView
) -> None:
    with pytest.raises(ModelError, match=r"python:m:f raised .*" + type(error).__name__) as caught:
        await answer(make(error), twice)
    assert "\n" not in str(caught.value)


@for_each("value", [None, 3, b"code", ["code"]])
async def test_an_answer_must_be_text(value: Any, twice: ProblemView) -> None:
    with pytest.raises(ModelError, match=f"returned {type(value).__name__}, not a string"):
        await answer(lambda _given: value, twice)


async def test_a_function_answers_for_samples_alone() -> None:
    with pytest.raises(ModelError, match="for_sample"):
        await FunctionModel("f", str).generate(*NOTHING)


@for_each("text", ["```\nx\n```", "Here:\n```python\nx\n```\n", "~~~\nx\n~~~"])
def test_an_answer_with_a_fence_is_left_alone(text: str) -> None:
    assert fenced(text) == text


def test_backticks_within_a_line_are_no_fence() -> None:
    assert fenced('x = "```"') == '```python\nx = "```"\n```'
