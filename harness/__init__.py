"""Measures how well a language model programs, and how much better when it may iterate.

The names of `__all__` are the library; each is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from harness.version import __version__

if TYPE_CHECKING:
    from harness.api.comparing import RunComparison, compare
    from harness.api.evaluating import EvaluationError, aevaluate, evaluate
    from harness.api.evaluation import Evaluation
    from harness.api.grader import Grader
    from harness.api.grading import Grades, agrade, grade
    from harness.api.problems import load_problems
    from harness.api.scored import GradingError, Scored
    from harness.errors import DataError, HarnessError, NothingSelectedError, UsageError
    from harness.grading.verdict import Verdict
    from harness.problem import Problem, ProblemView, TestCase
    from harness.runs.grades import GradedSolution
    from harness.runs.observing import Observer
    from harness.runs.results import SampleResult
    from harness.runs.sandbox import Sandbox
    from harness.runs.spec import RunSpec

__all__ = [
    "DataError",
    "Evaluation",
    "EvaluationError",
    "GradedSolution",
    "Grader",
    "Grades",
    "GradingError",
    "HarnessError",
    "NothingSelectedError",
    "Observer",
    "Problem",
    "ProblemView",
    "RunComparison",
    "RunSpec",
    "SampleResult",
    "Sandbox",
    "Scored",
    "TestCase",
    "UsageError",
    "Verdict",
    "__version__",
    "aevaluate",
    "agrade",
    "compare",
    "evaluate",
    "grade",
    "load_problems",
]

_HOMES = {
    "harness.api.comparing": ("RunComparison", "compare"),
    "harness.api.evaluating": ("EvaluationError", "aevaluate", "evaluate"),
    "harness.api.evaluation": ("Evaluation",),
    "harness.api.grader": ("Grader",),
    "harness.api.grading": ("Grades", "agrade", "grade"),
    "harness.api.problems": ("load_problems",),
    "harness.api.scored": ("GradingError", "Scored"),
    "harness.errors": ("DataError", "HarnessError", "NothingSelectedError", "UsageError"),
    "harness.grading.verdict": ("Verdict",),
    "harness.problem": ("Problem", "ProblemView", "TestCase"),
    "harness.runs.grades": ("GradedSolution",),
    "harness.runs.observing": ("Observer",),
    "harness.runs.results": ("SampleResult",),
    "harness.runs.sandbox": ("Sandbox",),
    "harness.runs.spec": ("RunSpec",),
}


def __getattr__(name: str) -> Any:
    """What is imported only where it is used: the command line is to start quickly."""
    for home, names in _HOMES.items():
        if name in names:
            found = globals()[name] = getattr(import_module(home), name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
