import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.models.function import FunctionModel, fenced, load_callable, model_of
from harness.models.protocol import ModelError, ModelSettings
from harness.models.replay import ReplayModel
from harness.problem import ProblemView

NOTHING = ((), (), ModelSettings())


@pytest.fixture
def module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Callable[[str], str]]:
    """Writes a module into the current directory and names it."""
    name = f"user_{abs(hash(request.node.name))}"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def write(source: str) -> str:
        (tmp_path / f"{name}.py").write_text(source)
        return name

    yield write
    sys.modules.pop(name, None)


async def answer(function: Callable[..., Any], problem: ProblemView) -> str:
    turn = await FunctionModel("python:m:f", function).for_sample(problem, 0).generate(*NOTHING)
    assert turn.usage is None
    assert turn.stop.reason == "end_turn"
    return turn.text


async def test_a_function_gets_the_public_columns_and_its_answer_is_fenced(
    problem: ProblemView,
) -> None:
    seen: list[dict[str, Any]] = []

    def solve(given: dict[str, Any]) -> str:
        seen.append(given)
        return "print(2 * int(input()))"

    text = await answer(solve, problem)
    assert text == "```python\nprint(2 * int(input()))\n```"
    assert seen == [problem.model_dump(mode="json")]
    assert seen[0]["release_date"] == "2024-02-29"


async def test_a_coroutine_function_is_awaited(problem: ProblemView) -> None:
    async def solve(given: dict[str, Any]) -> str:
        await asyncio.sleep(0)
        return f"```\n{given['title']}\n```"

    assert await answer(solve, problem) == "```\nTwice\n```"


async def test_a_callable_object_and_one_that_returns_a_coroutine(problem: ProblemView) -> None:
    class Solver:
        async def __call__(self, given: dict[str, Any]) -> str:
            return given["id"]

    assert "made/twice" in await answer(Solver(), problem)
    assert "made/twice" in await answer(
        partial(lambda solver, given: solver(given), Solver()), problem
    )


async def test_slow_functions_run_side_by_side_and_off_the_loop(problem: ProblemView) -> None:
    together = threading.Barrier(40, timeout=30)

    def solve(_given: dict[str, Any]) -> str:
        together.wait()  # passes only if all are running at once
        return threading.current_thread().name

    answers = await asyncio.gather(*(answer(solve, problem) for _ in range(40)))
    assert all("MainThread" not in text for text in answers)


async def test_a_cancelled_function_does_not_hold_its_caller(problem: ProblemView) -> None:
    started, release = threading.Event(), threading.Event()

    def solve(_given: dict[str, Any]) -> str:
        started.set()
        release.wait(30)
        return "late"

    asking = asyncio.ensure_future(answer(solve, problem))
    await asyncio.to_thread(started.wait, 30)
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


@pytest.mark.parametrize("make", [raises, raises_async])
@pytest.mark.parametrize(
    "error", [ValueError("two\nlines"), SystemExit(3), StopIteration("x"), KeyError("k")]
)
async def test_what_a_function_raises_is_named(
    make: Callable[[BaseException], Any], error: BaseException, problem: ProblemView
) -> None:
    with pytest.raises(ModelError, match=r"python:m:f raised .*" + type(error).__name__) as caught:
        await answer(make(error), problem)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [None, 3, b"code", ["code"]])
async def test_an_answer_must_be_text(value: Any, problem: ProblemView) -> None:
    with pytest.raises(ModelError, match=f"returned {type(value).__name__}, not a string"):
        await answer(lambda _given: value, problem)


async def test_a_function_answers_for_samples_alone() -> None:
    with pytest.raises(ModelError, match="for_sample"):
        await FunctionModel("f", str).generate(*NOTHING)


@pytest.mark.parametrize("text", ["```\nx\n```", "Here:\n```python\nx\n```\n", "~~~\nx\n~~~"])
def test_an_answer_with_a_fence_is_left_alone(text: str) -> None:
    assert fenced(text) == text


def test_backticks_within_a_line_are_no_fence() -> None:
    assert fenced('x = "```"') == '```python\nx = "```"\n```'


async def test_a_function_is_loaded_from_the_current_directory(
    module: Callable[[str], str], problem: ProblemView
) -> None:
    name = module("def solve(problem):\n    return problem['title']\n")
    model = model_of("f", load_callable(f"{name}:solve"))
    assert "Twice" in (await model.for_sample(problem, 0).generate(*NOTHING)).text


def test_an_attribute_may_be_nested(module: Callable[[str], str]) -> None:
    name = module("class A:\n    def b(x):\n        return 'c'\n")
    assert load_callable(f"{name}:A.b")(1) == "c"


def test_a_file_in_the_current_directory_shadows_no_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Callable[[str], str]
) -> None:
    name = module("f = str")
    (tmp_path / "colorsys.py").write_text("raise SystemExit")
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    load_callable(f"{name}:f")
    assert load_callable("colorsys:rgb_to_hls")


@pytest.mark.parametrize("path", ["solver", "solver:", ":solve", "a b:c", "a:b c", "a..b:c", ""])
def test_a_name_of_another_shape_is_refused(path: str) -> None:
    with pytest.raises(UsageError, match="python:module:function"):
        load_callable(path)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def (", "SyntaxError"),
        ("import no_such_thing", "ModuleNotFoundError"),
        ("raise SystemExit('bye\\nbye')", "SystemExit: bye bye"),
    ],
)
def test_a_module_that_does_not_import_is_an_error_in_one_line(
    source: str, words: str, module: Callable[[str], str]
) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        load_callable(f"{module(source)}:f")
    assert "\n" not in str(caught.value)


def test_a_missing_module_or_attribute_is_named(module: Callable[[str], str]) -> None:
    with pytest.raises(UsageError, match="'no_such_module' does not import"):
        load_callable("no_such_module:f")
    with pytest.raises(UsageError, match=r"user_\d+.py\) has no attribute 'g'"):
        load_callable(f"{module('f = 1')}:g")


def test_a_model_is_taken_as_it_is() -> None:
    model = ReplayModel("r", {})
    assert model_of("f", model) is model


@pytest.mark.parametrize("thing", [3, "text", None, ReplayModel])
def test_what_is_neither_function_nor_model_is_refused(thing: object) -> None:
    with pytest.raises(UsageError, match="must be a function of a problem, or a model"):
        model_of("f", thing)
