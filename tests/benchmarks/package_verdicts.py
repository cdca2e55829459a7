"""Judge the submissions of contest packages, and compare with the verdicts that their jury expects.

    python tests/benchmarks/package_verdicts.py FOLDER... [--only PROBLEM...] [--limits FILE]

A folder is a package or holds some. Where a package says no time limit, it is the format's: the
time of the slowest accepted submission in C++ or Python, times the package's multiplier, rounded up
to its resolution, and at least that. Each line that begins with `!` is a difference.
"""

import argparse
import math
from collections import Counter
from pathlib import Path

import yaml

from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.verdict import Grade
from harness.kinds.packages.icpc import load
from harness.languages import PYTHON
from harness.problem import Problem, Reference
from harness.sandbox.execution import SandboxError
from harness.sandbox.worker import Worker

MOST_S = 60.0  # CPU limit of accepted submissions that decide the time limit
MULTIPLIER = 5.0  # of the older format; 2 in the newer one


def main() -> None:
    """Judge, and print a line each, then the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--factor", type=float, default=1.0, help="of Python's time limits")
    asked = parser.parse_args()
    counts: Counter[tuple[str, bool]] = Counter()
    worker = Worker()
    for folder in asked.folders:
        loaded = load(folder, skip_bad_rows=True)
        for error in loaded.skipped:
            print(f"refused: {error}", flush=True)
        for problem, file in zip(loaded.problems, loaded.files, strict=True):
            if not asked.only or problem.native_id in asked.only:
                _judge_package(worker, problem, Path(str(file.path)), asked.factor, counts)
    worker.stop()
    for folder in sorted({name for name, _ in counts}):
        right = counts[folder, True]
        print(f"{folder}: {right} of {right + counts[folder, False]} as the jury expects")


def _judge_package(
    worker: Worker, problem: Problem, root: Path, factor: float, counts: Counter[tuple[str, bool]]
) -> None:
    accepted = [each for each in problem.load_references() if each.language != "python2"]
    rejected = [each for each in problem.load_rejected() if each.language != "python2"]
    limit = problem.cpu_s
    grades = {
        each.name: _grade(worker, problem, each, limit or MOST_S, factor) for each in accepted
    }
    if limit is None:
        limit = _limit(root, [_slowest(grade) for grade in grades.values() if grade is not None])
    for each in accepted:
        _tell(problem, each, grades[each.name], limit, counts)
    for each in rejected:
        _tell(problem, each, _grade(worker, problem, each, limit, factor), limit, counts)


def _grade(
    worker: Worker, problem: Problem, solution: Reference, limit: float, factor: float
) -> Grade | None:
    seconds = limit * (factor if solution.language == PYTHON else 1)
    options = Options(cpu_by_problem={problem.id: seconds})
    try:
        return judge(
            worker, options.task(problem, solution.code, problem.tests.all(), solution.language)
        )
    except SandboxError as error:
        print(f"{problem.native_id} {solution.name}: {error}")
        return None


def _slowest(grade: Grade) -> float:
    return max((test.cpu_s for test in grade.tests), default=0.0)


def _limit(root: Path, seconds: list[float]) -> float:
    settings = yaml.safe_load((root / "problem.yaml").read_text()) or {}
    limits = settings.get("limits") or {}
    newer = limits.get("time_multipliers") or {}
    version = str(settings.get("problem_format_version", "legacy"))
    usual = MULTIPLIER if version.startswith("legacy") else 2.0
    factor = float(newer.get("ac_to_time_limit", limits.get("time_multiplier", usual)))
    step = float(limits.get("time_resolution", 1.0))
    return max(1, math.ceil(factor * max(seconds, default=0.0) / step)) * step


def _tell(
    problem: Problem,
    solution: Reference,
    grade: Grade | None,
    limit: float,
    counts: Counter[tuple[str, bool]],
) -> None:
    verdict = "sandbox_error" if grade is None else str(grade.verdict)
    good = verdict in (solution.verdicts or ("accepted",))
    if not solution.verdicts and grade is not None and grade.score is not None:
        good = grade.score.points > 0  # the package accepts it, if with a part of the points
    counts[solution.name.partition("/")[0], good] += 1
    failed = next((test for test in grade.tests if not test.passed), None) if grade else None
    why = ""
    if failed is not None:
        reason = failed.difference.where if failed.difference else failed.error
        why = f"test {failed.index + 1}: {reason.strip()[:120]!r}"
    slowest = _slowest(grade) if grade else 0.0
    points = f"{grade.score} " if grade is not None and grade.score is not None else ""
    print(
        f"{' ' if good else '!'} {problem.native_id} {solution.name} {verdict} "
        f"slowest {slowest:.2f} of {limit:g} s {points}{why}",
        flush=True,
    )


if __name__ == "__main__":
    main()
