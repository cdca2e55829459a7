"""What `python:module:attribute` may be, and what becomes of everything else."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from for_each import for_each

from harness.errors import UsageError
from harness.models.function import FunctionModel
from harness.models.protocol import ContextOverflowError, ModelError, ModelSettings
from harness.models.scripted import ScriptedModel
from harness.models.user_code import load_attribute, model_of
from harness.problem import ProblemView

NOTHING = ((), (), ModelSettings())
Module = Callable[[str], str]


@pytest.fixture
def module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Module]:
    """Writes a module into the current directory and names it."""
    name = f"user_{abs(hash(request.node.name))}"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def write(source: str) -> str:
        (tmp_path / f"{name}.py").write_text(source)
        return name

    yield write
    sys.modules.pop(name, None)


async def said(thing: object, problem: ProblemView) -> str:
    model = model_of("python:m:f", thing)
    assert model.name == "python:m:f"
    turn = await model.for_sample(problem, 0).generate(*NOTHING)
    await model.close()
    return turn.text


async def test_a_function_is_loaded_from_the_current_directory(
    module: Module, twice: ProblemView
) -> None:
    name = module("def solve(problem):\n    return problem['title']\n")
    assert "Twice" in await said(load_attribute(f"{name}:solve"), twice)


def test_an_attribute_may_be_nested(module: Module) -> None:
    name = module("class A:\n    def b(x):\n        return 'c'\n")
    assert load_attribute(f"{name}:A.b")(1) == "c"


def test_a_file_in_the_current_directory_shadows_no_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Module
) -> None:
    name = module("f = str")
    (tmp_path / "colorsys.py").write_text("raise SystemExit")
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    load_attribute(f"{name}:f")
    assert load_attribute("colorsys:rgb_to_hls")


@for_each("path", ["solver", "solver:", ":solve", "a b:c", "a:b c", "a..b:c", ""])
def test_a_name_of_another_shape_is_refused(path: str) -> None:
    with pytest.raises(UsageError, match="python:module:function"):
        load_attribute(path)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def (", "SyntaxError"),
        ("import no_such_thing", "ModuleNotFoundError"),
        ("raise SystemExit('bye\\nbye')", "SystemExit: bye bye"),
    ],
)
def test_a_module_that_does_not_import_is_an_error_in_one_line(
    source: str, words: str, module: Module
) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        load_attribute(f"{module(source)}:f")
    assert "\n" not in str(caught.value)


def test_a_missing_module_or_attribute_is_named(module: Module) -> None:
    with pytest.raises(UsageError, match="'no_such_module' does not import"):
        load_attribute("no_such_module:f")
    with pytest.raises(UsageError, match=r"user_\d+.py\) has no attribute 'g'"):
        load_attribute(f"{module('f = 1')}:g")


# A model of the user's own


async def test_an_object_with_a_models_methods_is_the_model(twice: ProblemView) -> None:
    scripted = ScriptedModel(["one", "two"])
    model = model_of("python:m:f", scripted)
    first, second = model.for_sample(twice, 0), model.for_sample(twice, 1)
    said_in_turn = [(await each.generate(*NOTHING)).text for each in (first, first, second)]
    assert said_in_turn == ["one", "two", "one"]
    assert [asked.problem_id for asked in scripted.asked] == ["made/twice"] * 3


async def test_a_class_is_made_and_its_object_taken(twice: ProblemView) -> None:
    class Function:
        def __call__(self, given: dict[str, str]) -> str:
            return given["slug_name"]

    class Talking(ScriptedModel):
        def __init__(self) -> None:
            super().__init__(["hello"])

    assert isinstance(model_of("f", Function), FunctionModel)
    assert "twice" in await said(Function, twice)
    assert await said(Talking, twice) == "hello"


class _Raising(ScriptedModel):
    def for_sample(self, problem: ProblemView, index: int) -> ScriptedModel:
        raise KeyError(problem.id, index)

    async def close(self) -> None:
        raise OSError


class _Mute(ScriptedModel):
    def for_sample(self, problem: ProblemView, index: int) -> "_Mute":
        del problem, index
        return self

    async def generate(self, *_arguments: object) -> str:  # type: ignore[override]
        return "text"


@for_each(
    ("model", "words"),
    [
        (ScriptedModel([]), "script ends after 0 turns"),
        (ScriptedModel([ValueError("two\nlines")]), "python:m:f raised ValueError: two lines"),
        (ScriptedModel([TimeoutError("late")]), "python:m:f raised TimeoutError: late"),
        (_Raising([]), r"python:m:f.for_sample raised KeyError: \('made/twice', 0\)"),
        (_Mute([]), "python:m:f returned str, not a ModelTurn"),
    ],
)
async def test_what_goes_wrong_there_is_a_model_error(
    model: ScriptedModel, words: str, twice: ProblemView
) -> None:
    with pytest.raises(ModelError, match=words):
        await said(model, twice)


async def test_model_errors_of_user_code_are_left_as_they_are(twice: ProblemView) -> None:
    with pytest.raises(ContextOverflowError, match=r"^too long$"):
        await said(ScriptedModel([ContextOverflowError("too long")]), twice)


async def test_the_close_of_a_user_s_model_may_fail() -> None:
    await model_of("f", _Raising([])).close()


# Everything else


class _NeedsWords:
    def __init__(self, words: str) -> None:
        self.words = words


class _HalfAModel:
    def for_sample(self) -> None:
        pass

    async def generate(self) -> None:
        pass


def _takes_nothing() -> str:
    return ""


def _takes_two(problem: object, other: object) -> str:
    return f"{problem}{other}"


@for_each(
    ("thing", "words"),
    [
        (3, "f is a int; it must be a function of a problem, or a model"),
        ("text", "f is a str; it must be"),
        (None, "f is a NoneType; it must be"),
        (dict, "f is a dict; it must be"),
        (_NeedsWords, "f is a class that cannot be made without arguments: TypeError"),
        (_HalfAModel, "f has generate, as a model has, but lacks close, name"),
        (_takes_nothing, r"f takes \(\) -> str; it is called with one argument"),
        (_takes_two, "it is called with one argument, the problem"),
    ],
)
def test_an_attribute_that_is_neither_function_nor_model_is_refused(
    thing: object, words: str
) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        model_of("f", thing)
    assert "\n" not in str(caught.value)
