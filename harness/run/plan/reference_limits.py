"""Limits of time that follow a problem's own references: `--test-timeout reference*FACTOR`.

A test may use FACTOR times the CPU seconds of the slowest test of the reference whose slowest test
is least: the best that is known to be possible, under the test that asks most. Of those references
alone that `harness verify` found accepted, by the rule that is in force, for the data as they are.
"""

import math
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import RunDirectoryError, UsageError
from harness.grading.jobs import Options
from harness.grading.reference_verdicts import VerifiedCache, default_folder, subject
from harness.problem import Problem
from harness.run.spec.timeout_values import LONGEST_SECONDS, factor_of
from harness.sources.benchmarks import parse_spec

FLOOR_S = 1.0
"""No limit is less: a few milliseconds times a factor would measure the machine's noise."""


def reference_limits(
    test_timeout: str, problems: Sequence[Problem], spec: str, options: Options
) -> dict[str, float]:
    """CPU seconds of a test, by problem id, of the problems that have a verified reference.

    Each at least `FLOOR_S` and at most `LONGEST_SECONDS`, rounded up to a tenth: prompts say it.

    Args:
        test_timeout: `reference*FACTOR`.
        problems: whose limits are wanted.
        spec: the `NAME[:WHERE]` that they are of.
        options: how solutions are judged.

    Raises:
        UsageError: none of them has one; it says which command finds out.
    """
    factor = factor_of(test_timeout) or 1
    subjects = {problem.id: subject(problem, options) for problem in problems}
    troubles: list[str] = []
    with VerifiedCache(parse_spec(spec).name, default_folder(), troubles.append) as cache:
        quickest = cache.quickest(subjects.values())
    limits = {
        problem_id: _limit(factor * quickest[about])
        for problem_id, about in subjects.items()
        if about in quickest
    }
    if not limits:
        why = f" ({troubles[0]})" if troubles else ""
        raise UsageError(
            f"--test-timeout {test_timeout}: none of these problems has a verified reference{why}; "
            f"run first: {_verify(spec)}"
        )
    return limits


def _limit(seconds: float) -> float:
    return math.ceil(10 * min(max(seconds, FLOOR_S), LONGEST_SECONDS)) / 10


def without_reference(
    problems: Sequence[Problem], limits: Mapping[str, float], spec: str
) -> str | None:
    """How many problems keep their source's limit, in a line; None where none does."""
    without = sum(problem.id not in limits for problem in problems)
    if not without:
        return None
    one = without == 1
    return (
        f"{without:,} of {len(problems):,} problems {'has' if one else 'have'} no verified "
        f"reference; {'it keeps its' if one else 'they keep their'} source's limit; "
        f"run: {_verify(spec)}"
    )


def _verify(spec: str) -> str:
    return f"harness verify {shlex.quote(spec)}"


def stored_limits(
    problems: Sequence[Problem], test_timeout: str, options: Options
) -> dict[str, dict[str, Any]]:
    """What `run.json` adds to each source's `test_limits`: the rule, and what came of it."""
    stored: dict[str, dict[str, Any]] = {}
    for problem in problems:
        entry = stored.setdefault(problem.source, {"test_timeout": test_timeout, "by_problem": {}})
        if problem.id in options.cpu_by_problem:
            entry["by_problem"][problem.id] = options.cpu_by_problem[problem.id]
    return stored


def limits_before(manifest: Mapping[str, Any]) -> dict[str, float]:
    """The limits that a run began with: what the cache says now would make another run of it.

    Raises:
        RunDirectoryError: `run.json` does not say them.
    """
    try:
        found = [entry["by_problem"] for entry in manifest["test_limits"].values()]
        limits = {str(key): float(cpu_s) for each in found for key, cpu_s in each.items()}
        sound = bool(found) and all(0 < cpu_s <= LONGEST_SECONDS for cpu_s in limits.values())
    except (AttributeError, KeyError, TypeError, ValueError):
        limits, sound = {}, False
    if not sound:
        raise RunDirectoryError(
            "run.json does not say which limits of time the run began with; start a new run"
        )
    return limits
