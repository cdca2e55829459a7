"""A made problem, three ways to solve it, and their scale."""

import pytest
from timed_bench import FAST, MIDDLE, SLOW, Bench

from harness.features.efficiency import paired_timing, reference_times
from harness.features.efficiency.turns import Expected
from harness.grading.task import Task
from harness.problem import TestCase
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker


@pytest.fixture(scope="module")
def expected(worker: Worker) -> Expected:
    numbers = range(200, 1_200, 83)
    tests = [TestCase(input=str(n), output=str(n * (n - 1) // 2), public=False) for n in numbers]
    return Expected.of(worker, Task(Program(SLOW, "", "f"), tests, Limits()))


@pytest.fixture(scope="module")
def bench(worker: Worker, expected: Expected) -> Bench:
    codes = {"fast": FAST, "middle": MIDDLE, "slow": SLOW}
    scale = reference_times.calibrate(worker, expected, codes)
    return Bench(worker, expected, scale, codes)


@pytest.fixture
def roughly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time in a tenth of the usual effort, where a test tells apart what differs by far."""
    for name in ("LEAST_S", "PASSES_OF_MERCURY"):
        monkeypatch.setattr(paired_timing, name, getattr(paired_timing, name) / 10)
