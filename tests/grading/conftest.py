"""A shorthand for judging programs."""

from collections.abc import Callable, Sequence
from textwrap import dedent
from typing import Any

import pytest

from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.grading.task import Task
from harness.grading.verdict import Grade
from harness.problem import TestCase
from harness.sandbox.limits import MEBIBYTE, Limits
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker

LIMITS = Limits(cpu_s=3.0, memory_bytes=1024 * MEBIBYTE, output_bytes=4 * MEBIBYTE)


@pytest.fixture
def grade(worker: Worker) -> Callable[..., Grade]:
    """Judges code on (input, output) pairs, the first `public` of which are public."""
    return _grade_on(worker)


@pytest.fixture
def grade_unguarded(unguarded: Worker) -> Callable[..., Grade]:
    """Judges code without the layers, which could stop a program before its point."""
    return _grade_on(unguarded)


def _grade_on(worker: Worker) -> Callable[..., Grade]:
    def grade(
        code: str,
        pairs: Sequence[tuple[str, str]],
        *,
        public: int = 1,
        limits: Limits = LIMITS,
        isolate: bool = False,
        stop: Stop = Stop.AUTO,
        **program: Any,
    ) -> Grade:
        tests = [
            TestCase(input=given, output=wanted, public=index < public)
            for index, (given, wanted) in enumerate(pairs)
        ]
        task = Task(Program(dedent(code), **program), tests, limits, isolate=isolate, stop=stop)
        return judge(worker, task)

    return grade
