"""Options of grading, from a spec."""

from collections.abc import Mapping

from harness.grading.jobs import Options
from harness.grading.judge import STOPS
from harness.run.spec.spec import RunSpec
from harness.sandbox.limits import MEBIBYTE


def judging_of(spec: RunSpec, cpu_by_problem: Mapping[str, float] | None = None) -> Options:
    """Return a spec's options of grading: each source's defaults with its values."""
    return Options(
        rule=spec.rule,
        cpu_s=spec.test_seconds,
        memory_bytes=None if spec.memory is None else spec.memory * MEBIBYTE,
        isolate=spec.isolate_tests,
        wall_s=spec.wall_timeout,
        stop=STOPS[spec.all_tests],
        cpu_by_problem=cpu_by_problem or {},
    )
