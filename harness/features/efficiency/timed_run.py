"""What `--efficiency` does in a run: solutions that pass are timed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from harness.agent.events import Response
from harness.errors import DataError, UsageError
from harness.features.efficiency.measurement import Scales, unmeasured
from harness.grading.verdict import Verdict
from harness.languages.known import language
from harness.problem import Problem
from harness.run.plan.plan import Plan, Start
from harness.run.plan.run_part import RunPart
from harness.run.reporter import Reporter
from harness.run.store.results import SampleResult
from harness.sandbox.executor import Executor


def check_start(start: Start) -> None:
    """Refuse to time what is not in Python. Raises UsageError."""
    own = language(start.spec.language)
    if own.mark:
        raise UsageError(f"--efficiency goes with Python only, and solutions are {own.title}")


def with_timing(plan: Plan, _before: Mapping[str, Any] | None, _reporter: Reporter) -> Plan:
    """Return the plan of a run that times its solutions, with the timing."""
    part = RunPart(partial(_timed, Scales(plan.judging, plan.spec.timing)))
    return replace(plan, parts={**plan.parts, "efficiency": part})


async def _timed(
    scales: Scales,
    result: SampleResult,
    problem: Problem,
    _answers: Sequence[Response],
    pool: Executor,
) -> SampleResult:
    """Return a result with the efficiency of its solution. Raises SandboxError."""
    solved = result.verdict_on_tests is Verdict.ACCEPTED
    try:
        timed = await scales.measure(problem, result.code, pool, solved=solved)
    except DataError as error:  # does not affect the verdict
        timed = unmeasured(scales.timing, error)
    return result.model_copy(update={"efficiency": timed})
