"""Options of grading from a spec, and time limits derived from references.

With `--test-timeout reference*FACTOR`, a test may use FACTOR times the best known time for the most
demanding test: for each reference take its slowest test's CPU seconds, then the least of these.
Only references count that `harness verify` found accepted, by the current rule, for the current
data.
"""

import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.errors import RunDirectoryError, UsageError
from harness.grading.jobs import Options
from harness.grading.reference_verdicts import VerifiedCache, default_folder, subject
from harness.grading.rules import find_rule
from harness.grading.stop import STOPS
from harness.problem import Problem
from harness.run.settings.execution_settings import LONGEST_SECONDS, factor_of
from harness.run.settings.spec import RunSpec
from harness.sandbox.limits import MEBIBYTE
from harness.sources.benchmarks import parse_spec

if TYPE_CHECKING:
    from harness.run.plan.plan import Plan

FLOOR_S = 1.0
"""Least limit; a few milliseconds times a factor would measure machine noise."""


def judging_of(
    spec: RunSpec,
    cpu_by_problem: Mapping[str, float] | None = None,
    to_the_end: Iterable[str] = (),
) -> Options:
    """Return a spec's options of grading: each source's defaults with its values."""
    return Options(
        rule=spec.rule,
        cpu_s=spec.test_seconds,
        time_factor=spec.time_factor,
        memory_bytes=None if spec.memory is None else spec.memory * MEBIBYTE,
        isolate=spec.isolate_tests,
        wall_s=spec.wall_timeout,
        stop=STOPS[spec.all_tests],
        cpu_by_problem=cpu_by_problem or {},
        language=spec.language,
        flags=spec.flags,
        to_the_end=frozenset(to_the_end),
    )


def check_plan(plan: "Plan") -> None:
    """Refuse a rule of comparison that cannot be loaded. Raises UsageError."""
    for rule in set(map(plan.judging.rule_of, plan.problems)):
        find_rule(rule)


def reference_limits(
    test_timeout: str,
    problems: Sequence[Problem],
    benchmark: str,
    options: Options,
    before: Mapping[str, Any] | None = None,
) -> tuple[dict[str, float], str | None]:
    """Return a test's CPU seconds for each problem with a verified reference.

    Each is at least `FLOOR_S` and at most `LONGEST_SECONDS`, rounded up to a tenth, since prompts
    contain it.

    Args:
        test_timeout: `reference*FACTOR`.
        problems: the final problems, since their hashes select the verdicts.
        benchmark: the problems' `NAME[:WHERE]`.
        options: options of grading.
        before: the manifest of a run to resume, which keeps its limits; None for a new run.

    Returns:
        The limits, and a line about problems that keep their source's limit, if there are any.

    Raises:
        UsageError: no problem has a verified reference; names the command to run.
        RunDirectoryError: the manifest does not contain the limits.
    """
    if before is not None:
        return limits_before(before), None
    factor = factor_of(test_timeout) or 1
    subjects = {problem.id: subject(problem, options) for problem in problems}
    troubles: list[str] = []
    with VerifiedCache(parse_spec(benchmark).name, default_folder(), troubles.append) as cache:
        quickest = cache.quickest(subjects.values())
    limits = {
        problem_id: _limit(factor * quickest[about])
        for problem_id, about in subjects.items()
        if about in quickest
    }
    verify = f"harness verify {shlex.quote(benchmark)}"
    if not limits:
        why = f" ({troubles[0]})" if troubles else ""
        raise UsageError(
            f"--test-timeout {test_timeout}: none of these problems has a verified reference{why}; "
            f"run first: {verify}"
        )
    without = len(problems) - len(limits)
    if not without:
        return limits, None
    one = without == 1
    return limits, (
        f"{without:,} of {len(problems):,} problems {'has' if one else 'have'} no verified "
        f"reference; {'it keeps its' if one else 'they keep their'} source's limit; "
        f"run: {verify}"
    )


def _limit(seconds: float) -> float:
    return math.ceil(10 * min(max(seconds, FLOOR_S), LONGEST_SECONDS)) / 10


def stored_limits(
    problems: Sequence[Problem], test_timeout: str, options: Options
) -> dict[str, dict[str, Any]]:
    """Return additions to the `test_limits` in `run.json`: the rule and its results."""
    stored: dict[str, dict[str, Any]] = {}
    for problem in problems:
        entry = stored.setdefault(problem.source, {"test_timeout": test_timeout, "by_problem": {}})
        if problem.id in options.cpu_by_problem:
            entry["by_problem"][problem.id] = options.cpu_by_problem[problem.id]
    return stored


def limits_before(manifest: Mapping[str, Any]) -> dict[str, float]:
    """Return the limits a run started with; current ones would change the run.

    Raises:
        RunDirectoryError: `run.json` does not contain them.
    """
    try:
        by_limit = [entry["by_problem"] for entry in manifest["test_limits"].values()]
        limits = {str(key): float(cpu_s) for each in by_limit for key, cpu_s in each.items()}
        sound = bool(by_limit) and all(0 < cpu_s <= LONGEST_SECONDS for cpu_s in limits.values())
    except (AttributeError, KeyError, TypeError, ValueError):
        limits, sound = {}, False
    if not sound:
        raise RunDirectoryError(
            "run.json does not say which limits of time the run began with; start a new run"
        )
    return limits
