"""What `import harness` has for everybody: pinned, quick to import, typed throughout."""

import inspect
import subprocess
import sys
import typing
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from for_each import for_each

import harness
from harness.features.episode.shared import EpisodeKeys
from harness.features.evaluate.evaluate import aevaluate, evaluate
from harness.features.evaluate.evaluate_arguments import OWN
from harness.features.experiment.library import OWN as OWN_OF_EXPERIMENT
from harness.features.grade.library import agrade, grade
from harness.features.import_.library import ImportKeys
from harness.features.verify.library import VerifyKeys
from harness.features.verify.reference_timing import CalibrateKeys
from harness.grading.verdict import Grade, Verdict
from harness.problem import Problem
from harness.run.plan.problem_loader import Benchmark
from harness.run.settings.keys import (
    GradeKeys,
    JudgingKeys,
    RunKeys,
    SelectionKeys,
    VariantKeys,
    Words,
)
from harness.run.settings.spec import LISTS, RunSpec
from harness.run.summary.filters import Filters

NAMES = """
CalibratedBenchmark DataError Episode EpisodeReward EpisodeStep Episodes Evaluation
EvaluationError ExperimentResult GradedSolution Grader Grades GradingError HarnessError
ImportedRun LoadedRun NothingSelectedError Observer Problem ProblemView RunComparison
RunDirectoryError RunSpec SampleResult Sandbox Scored StorageError TestCase UsageError Verdict
VerifiedBenchmark __version__ aevaluate agrade calibrate compare evaluate experiment export_run
grade import_run load_problems load_run merge_runs regrade verify
"""
NEAR = "evaluat"
FOR_TYPE_CHECKERS = {
    "Benchmark": Benchmark,
    "Grade": Grade,
    "Problem": Problem,
    "Verdict": Verdict,
    "JudgingKeys": JudgingKeys,
    "pd": SimpleNamespace(DataFrame=object),
    "alt": SimpleNamespace(Chart=object, LayerChart=object),
}
"""What is imported for annotations alone."""
TAKEN = {"benchmark", "model", "efficiency", "limit", "split", "out"}


def names_of(keys: type[Any]) -> str:
    return " ".join(sorted(keys.__annotations__.keys() - TAKEN))


KEYS = names_of(RunKeys)
SIGNATURES = {
    "evaluate": f"solution_fn split limit benchmark model efficiency out observer progress {KEYS}",
    "aevaluate": f"solution_fn split limit benchmark model efficiency out observer progress {KEYS}",
    "grade": f"problems solutions extract efficiency {names_of(GradeKeys)}",
    "agrade": f"problems solutions extract efficiency {names_of(GradeKeys)}",
    "experiment": f"models benchmark modes prompts shots vary stop_when_decided level precision "
    f"config out resume progress {names_of(VariantKeys)}",
    "compare": f"run_a run_b others baseline at {names_of(Filters)}",
    "load_problems": f"benchmark limit {names_of(SelectionKeys)}",
    "calibrate": f"benchmark recollect {names_of(CalibrateKeys)}",
    "export_run": "run to out benchmark",
    "import_run": "file problems out file_format model mode extract write_tool problem_field price "
    f"{names_of(ImportKeys)}",
    "merge_runs": "shards out partial",
    "regrade": f"run out benchmark {names_of(JudgingKeys)}",
    "verify": f"benchmark references fresh {names_of(VerifyKeys)}",
    "load_run": f"path {names_of(Filters)}",
    "Episode": f"episodes reward {names_of(EpisodeKeys)}",
    "Episodes": f"problems reward part held_out exclude {names_of(EpisodeKeys)}",
}


def test_the_public_names_are_pinned() -> None:
    assert harness.__all__ == sorted(NAMES.split())
    assert set(harness.__all__) <= set(dir(harness))
    for name in harness.__all__:
        assert getattr(harness, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        getattr(harness, NEAR)


@pytest.mark.parametrize("name", SIGNATURES)
def test_the_arguments_of_public_calls_are_pinned(name: str) -> None:
    assert list(inspect.signature(getattr(harness, name)).parameters) == SIGNATURES[name].split()


def test_importing_it_imports_nothing_else() -> None:
    code = (
        "import sys, harness\n"
        "print([n for n in ('pydantic', 'rich', 'asyncio', 'harness.run', 'harness.features')"
        " if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


HEAVY = (
    *("jinja2", "rich", "typer", "openai", "anthropic", "httpx2", "datasets", "huggingface_hub"),
    *("mcp", "starlette", "uvicorn", "numpy", "pandas", "pyarrow", "altair", "yaml", "tenacity"),
)
"""What a training loop that judges has no use for."""
IMPORTED = "import sys; print([n for n in {names!r} if n in sys.modules])"
JUDGED = """
with Grader("fixture", workers=1) as grader:
    assert grader.score(["fixture/quorum-signals"], ["print(0)"]) == [0.0]
"""


IMPORTS = (
    ("from harness import Grader", (*HEAVY, "pydantic", "asyncio", "harness.run")),
    ("from harness import RunSpec", (*HEAVY, "harness.agent.attempt", "harness.sandbox.pool")),
    ("from harness import Problem, TestCase, Verdict", HEAVY),
    (JUDGED, HEAVY),
)


def test_what_names_of_the_library_do_not_import() -> None:
    """A trainer has these in a process of its own: 0.5 s and 50 MB each are too much."""
    asked = "\n".join(f"{code}\n{IMPORTED.format(names=names)}" for code, names in IMPORTS)
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n" * len(IMPORTS)


def functions(name: str) -> list[Any]:
    """A public function, or the public methods of a public class that is of this room."""
    public_object = getattr(harness, name)
    if inspect.isfunction(public_object):
        return [public_object]
    if not inspect.isclass(public_object) or not public_object.__module__.startswith(
        "harness.features"
    ):
        return []
    methods = (each for key, each in vars(public_object).items() if not key.startswith("_"))
    plain = [each.fget if isinstance(each, property) else each for each in methods]
    return [
        each for each in (*plain, vars(public_object).get("__init__")) if inspect.isfunction(each)
    ]


@for_each("name", NAMES.split())
def test_every_annotation_is_there_and_means_something(name: str) -> None:
    for function in functions(name):
        hints = typing.get_type_hints(function, localns=FOR_TYPE_CHECKERS)
        own = inspect.signature(function, follow_wrapped=False).parameters
        listed: set[str] = set()
        if hasattr(function, "__signature__"):
            listed = set(typing.get_type_hints(RunKeys)) | set(typing.get_type_hints(EpisodeKeys))
        wanted = {*own, "return"} - {"self", "cls"} - listed
        assert set(hints) >= wanted, function


def test_the_types_are_shipped() -> None:
    from importlib.resources import files

    assert (files("harness") / "py.typed").is_file()


def test_the_keys_are_those_of_a_spec() -> None:
    """None is missing, none is more, and words stand for lists where the spec takes them."""
    keys = typing.get_type_hints(RunKeys)
    assert {*keys, "benchmark", "model", "efficiency"} == set(RunSpec.model_fields)
    assert not set(keys) & set(OWN)
    assert not set(typing.get_type_hints(VariantKeys)) & set(OWN_OF_EXPERIMENT)
    for key in LISTS:
        assert keys[key] in (Words, Words | Mapping[str, str])
    for smaller in (SelectionKeys, JudgingKeys, GradeKeys, EpisodeKeys):
        assert set(typing.get_type_hints(smaller)) <= set(keys)


def test_sync_and_async_calls_take_the_same_arguments() -> None:
    for one, other in ((evaluate, aevaluate), (grade, agrade)):
        assert inspect.signature(one).parameters == inspect.signature(other).parameters
        assert inspect.iscoroutinefunction(other)
        assert not inspect.iscoroutinefunction(one)
