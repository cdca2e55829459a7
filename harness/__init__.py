"""Measures how well a language model programs, and how much better when it may iterate.

The names of `__all__` are the library; each is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from harness.version import __version__

if TYPE_CHECKING:
    from harness.errors import (
        DataError,
        HarnessError,
        NothingSelectedError,
        RunDirectoryError,
        StorageError,
        UsageError,
    )
    from harness.features.compare.library import RunComparison, compare
    from harness.features.episode.library import Episode
    from harness.features.episode.reward import EpisodeReward
    from harness.features.episode.rollout import EpisodeStep
    from harness.features.episode.shared import Episodes
    from harness.features.evaluate.evaluate import Evaluation, EvaluationError, aevaluate, evaluate
    from harness.features.experiment.library import experiment
    from harness.features.experiment.view import ExperimentResult
    from harness.features.export.command import export_run
    from harness.features.grade.grader import Grader, GradingError, Scored
    from harness.features.grade.grades import GradedSolution
    from harness.features.grade.library import Grades, agrade, grade
    from harness.features.grade.sandbox import Sandbox
    from harness.features.import_.library import ImportedRun, import_run
    from harness.features.merge.merge import merge_runs
    from harness.features.regrade.command import regrade
    from harness.features.show.library import LoadedRun, load_run
    from harness.features.verify.library import VerifiedBenchmark, verify
    from harness.features.verify.reference_timing import CalibratedBenchmark, calibrate
    from harness.grading.verdict import Verdict
    from harness.problem import Problem, ProblemView, TestCase
    from harness.run.observer import Observer
    from harness.run.plan.problem_loader import load_problems
    from harness.run.settings.spec import RunSpec
    from harness.run.store.results import SampleResult

__all__ = [
    "CalibratedBenchmark",
    "DataError",
    "Episode",
    "EpisodeReward",
    "EpisodeStep",
    "Episodes",
    "Evaluation",
    "EvaluationError",
    "ExperimentResult",
    "GradedSolution",
    "Grader",
    "Grades",
    "GradingError",
    "HarnessError",
    "ImportedRun",
    "LoadedRun",
    "NothingSelectedError",
    "Observer",
    "Problem",
    "ProblemView",
    "RunComparison",
    "RunDirectoryError",
    "RunSpec",
    "SampleResult",
    "Sandbox",
    "Scored",
    "StorageError",
    "TestCase",
    "UsageError",
    "Verdict",
    "VerifiedBenchmark",
    "__version__",
    "aevaluate",
    "agrade",
    "calibrate",
    "compare",
    "evaluate",
    "experiment",
    "export_run",
    "grade",
    "import_run",
    "load_problems",
    "load_run",
    "merge_runs",
    "regrade",
    "verify",
]

_HOMES = {
    "harness.features.verify.reference_timing": ("CalibratedBenchmark", "calibrate"),
    "harness.features.compare.library": ("RunComparison", "compare"),
    "harness.features.episode.library": ("Episode",),
    "harness.features.episode.rollout": ("EpisodeStep",),
    "harness.features.episode.reward": ("EpisodeReward",),
    "harness.features.episode.shared": ("Episodes",),
    "harness.features.evaluate.evaluate": (
        *("Evaluation", "EvaluationError", "aevaluate", "evaluate"),
    ),
    "harness.features.export.command": ("export_run",),
    "harness.features.import_.library": ("ImportedRun", "import_run"),
    "harness.features.merge.merge": ("merge_runs",),
    "harness.features.experiment.library": ("experiment",),
    "harness.features.experiment.view": ("ExperimentResult",),
    "harness.features.grade.library": ("Grades", "agrade", "grade"),
    "harness.run.plan.problem_loader": ("load_problems",),
    "harness.features.show.library": ("LoadedRun", "load_run"),
    "harness.features.regrade.command": ("regrade",),
    "harness.features.verify.library": ("VerifiedBenchmark", "verify"),
    "harness.features.grade.grader": ("Grader", "GradingError", "Scored"),
    "harness.errors": (
        *("DataError", "HarnessError", "NothingSelectedError", "RunDirectoryError"),
        *("StorageError", "UsageError"),
    ),
    "harness.grading.verdict": ("Verdict",),
    "harness.problem": ("Problem", "ProblemView", "TestCase"),
    "harness.features.grade.grades": ("GradedSolution",),
    "harness.run.observer": ("Observer",),
    "harness.run.store.results": ("SampleResult",),
    "harness.features.grade.sandbox": ("Sandbox",),
    "harness.run.settings.spec": ("RunSpec",),
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that the command line starts quickly."""
    for home, names in _HOMES.items():
        if name in names:
            try:
                attribute = globals()[name] = getattr(import_module(home), name)
            except ModuleNotFoundError as error:
                from harness.errors import missing_package

                if (missing := missing_package(error)) is None:
                    raise
                raise ModuleNotFoundError(f"harness.{name}: {missing}", name=error.name) from None
            return attribute
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
