"""The second clock: the same on every machine, where the interpreter has one."""

import sys

import pytest
from timed_bench import FAST, SLOW, Bench

from harness.features.efficiency.paired_timing import against
from harness.features.efficiency.turns import Expected
from harness.grading.task import Task
from harness.problem import TestCase
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.timing_race import ProgramStep, TimingRace
from harness.sandbox.worker import Worker

counts = pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in 3.12")
SORTING = "def f(n): return sum(sorted(range(n), key=(-1).__mul__)) * 0 + n * (n - 1) // 2\n"


def branches(worker: Worker, code: str, *inputs: bytes) -> list[int | None]:
    with TimingRace(
        [Program(code, entry_point="f")], [[each] for each in inputs], Limits()
    ) as race:
        steps = [ProgramStep(0, group, phase="count") for group in range(len(inputs))]
        return [lap.branches for lap in worker.take_turns(race, steps)]


@counts
def test_branches_are_the_same_every_time_and_grow_with_the_work(worker: Worker) -> None:
    first, again, more = branches(worker, FAST, b"1000", b"1000", b"2000")
    assert first is not None
    assert more is not None
    assert first == again
    assert 1_000 <= first < more <= 2.1 * first


@counts
def test_branches_do_not_count_work_in_c(worker: Worker) -> None:
    (few,) = branches(worker, SORTING, b"100000")
    assert few is not None
    assert few < 100


@counts
def test_references_and_solutions_are_told_apart_by_them_as_well(bench: Bench) -> None:
    efficiency = bench.measure(SLOW)
    assert efficiency.beyond_branches == 0.0
    assert bench.measure(FAST).beyond_branches == 1.0
    assert [each.branches for each in bench.scale.references] == sorted(
        each.branches or 0 for each in bench.scale.references
    )


@counts
@pytest.mark.parametrize("apart", [True, False])
def test_the_branches_of_a_script_are_those_of_all_its_tests(worker: Worker, apart: bool) -> None:
    script = "n = int(input())\nfor _ in range(n): pass\nprint(n)\n"
    tests = [TestCase(input=f"{n}\n", output=f"{n}\n", public=False) for n in (1_000, 2_000)]
    expected = Expected.of(worker, Task(Program(script), tests, Limits()))
    score = against(worker, expected, script, [(script, 1.0)], apart=apart, enough=bool)
    assert score.branches == pytest.approx(2 * 3_000, rel=0.05)  # a branch and a jump an iteration
