"""The default timing, on a made problem and real processes."""

import math
import sys

import pytest
from timed_bench import FAST, MIDDLE, SLOW, Bench

from harness.features.efficiency import (
    mercury_protocol,
    paired_timing,
    reference_times,
)
from harness.features.efficiency.scale import ReferenceTime, Scale
from harness.features.efficiency.turns import Expected, LapError
from harness.grading.task import Task
from harness.problem import TestCase
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker

pytestmark = pytest.mark.thorough

SQUARE = """
def f(values):
    found = []
    for a in values:
        if a not in found: found.append(a)
    return len(found)
"""
LINEAR = "def f(values):\n    return len(set(values))\n"
SORTED = """
def f(values):
    values = sorted(values)
    return len(values) and 1 + sum(a != b for a, b in zip(values, values[1:]))
"""


def test_references_stand_in_the_order_of_their_work(bench: Bench) -> None:
    assert [each.code_hash for each in bench.scale.references] == ["fast", "middle", "slow"]
    assert bench.scale.lack == ""
    assert {bench.scale.references[n].code_hash for n in bench.scale.anchors} == set(bench.codes)


@pytest.mark.parametrize(("code", "low", "high"), [(FAST, 0.9, 1), (SLOW, 0, 0.2)])
def test_the_ends_of_the_scale_are_one_and_zero(
    bench: Bench, code: str, low: float, high: float
) -> None:
    efficiency = bench.measure(code)
    assert efficiency.beyond is not None
    assert low <= efficiency.beyond <= high
    assert efficiency.cpu_s is not None
    assert efficiency.cpu_s > 0


def test_a_solution_stands_where_the_reference_with_its_code_does(bench: Bench) -> None:
    efficiency = bench.measure(MIDDLE)
    fast, middle, slow = bench.scale.times
    assert efficiency.beyond == pytest.approx((slow - middle) / (slow - fast), abs=0.1)
    assert efficiency.beyond_low is not None
    assert efficiency.beyond_high is not None
    assert efficiency.beyond_low <= efficiency.beyond <= efficiency.beyond_high
    # The same code as a reference: one 95 % interval in twenty leaves it out on one side.
    assert efficiency.percentile == pytest.approx(50, abs=17)


@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="it has the second clock, see test_branches.py"
)
def test_branches_are_unknown_without_the_second_clock(bench: Bench) -> None:
    efficiency = bench.measure(SLOW)
    assert (efficiency.branches, efficiency.beyond_branches) == (None, None)
    assert efficiency.beyond is not None


@pytest.mark.usefixtures("roughly")
def test_a_quadratic_reference_is_slower_than_a_linear_one(worker: Worker) -> None:
    inputs = [[(n * 7919) % 1009 for n in range(size)] for size in (300, 500, 700)]
    tests = [TestCase(input=str(v), output=str(len(set(v))), public=False) for v in inputs]
    expected = Expected.of(worker, Task(Program(LINEAR, "", "f"), tests, Limits()))
    codes = {"linear": LINEAR, "sorted": SORTED, "square": SQUARE}
    scale = reference_times.calibrate(worker, expected, codes)
    assert [each.code_hash for each in scale.references] == ["linear", "sorted", "square"]
    assert scale.references[-1].time > 5 * scale.references[0].time


@pytest.mark.usefixtures("roughly")
def test_a_script_is_timed_on_all_its_tests(worker: Worker) -> None:
    script = "n = int(input())\ns = 0\nfor i in range(n): s += i\nprint(s)\n"
    slower = script.replace("s += i", "s += i; i * i; i * i; i * i; i * i")
    tests = [
        TestCase(input=f"{n}\n", output=f"{n * (n - 1) // 2}\n", public=False)
        for n in (4_000, 9_000)
    ]
    expected = Expected.of(worker, Task(Program(script), tests, Limits()))
    scale = reference_times.calibrate(worker, expected, {"script": script, "slower": slower})
    assert [each.code_hash for each in scale.references] == ["script", "slower"]
    wrong = script.replace("range(n)", "range(n + 1)")
    efficiency = paired_timing.measure(
        worker, expected, scale, {"script": script, "slower": slower}, wrong
    )
    assert efficiency.beyond == 0


def test_references_that_spoil_one_another_s_namespace_are_run_apart(worker: Worker) -> None:
    once = "seen = []\ndef f(n):\n    seen.append(n)\n    return len(seen)\n"
    tests = [TestCase(input=str(n), output="1", public=False) for n in range(3)]
    expected = Expected.of(worker, Task(Program(once, "", "f"), tests, Limits()))
    scale = reference_times.calibrate(worker, expected, {"once": once})
    assert scale.apart
    assert [each.code_hash for each in scale.references] == ["once"]
    assert scale.lack == "one reference passes"


def test_references_that_fail_when_they_are_timed_are_counted(worker: Worker) -> None:
    tests = [TestCase(input="3", output="3", public=False)]
    right, wrong = "def f(n): return n\n", "def f(n): return n + 1\n"
    expected = Expected.of(worker, Task(Program(right, "", "f"), tests, Limits()))
    scale = reference_times.calibrate(worker, expected, {"wrong": wrong, "right": right})
    assert (len(scale.references), scale.failed) == (1, 1)
    nothing = reference_times.calibrate(worker, expected, {"wrong": wrong})
    assert (nothing.lack, nothing.failed) == ("no reference passes", 1)


# Right at first, and wrong from the sixth call in one process on: so a reference passes the judge
# and the first look, and fails when it takes turns.
FLAKY = (
    "import sys\ndef f(n):\n    sys.calls = getattr(sys, 'calls', 0) + 1\n{work}"
    "    return n * (n - 1) // 2 + (sys.calls > 5)\n"
)
QUICK = FLAKY.format(work="")
STEADY = FLAKY.format(work="    for i in range(2 * n): i + i\n")
SLUGGISH = FLAKY.format(work="    for i in range(20 * n): i + i\n")
ONE_TEST = TestCase(input="2000", output="1999000", public=False)
SOUND = {"fast": FAST, "middle": MIDDLE, "slow": SLOW}


@pytest.fixture(scope="module")
def one_test(worker: Worker) -> Expected:
    return Expected.of(worker, Task(Program(FAST, "", "f"), [ONE_TEST], Limits()))


@pytest.fixture(scope="module")
def sound(worker: Worker, one_test: Expected) -> Scale:
    return reference_times.calibrate(worker, one_test, SOUND)


@pytest.mark.usefixtures("roughly")
@pytest.mark.parametrize(
    "flaky",
    [
        {"steady": STEADY},
        {"quick": QUICK, "steady": STEADY, "sluggish": SLUGGISH},
    ],
    ids="+".join,
)
def test_a_reference_that_fails_at_its_turns_is_left_out_and_no_other(
    flaky: dict[str, str], worker: Worker, one_test: Expected
) -> None:
    scale = reference_times.calibrate(worker, one_test, {**flaky, **SOUND})
    assert [each.code_hash for each in scale.references] == ["fast", "middle", "slow"]
    assert scale.failed == len(flaky)
    assert {scale.references[n].code_hash for n in scale.anchors} == set(SOUND)


@pytest.mark.usefixtures("roughly")
def test_a_scale_lacks_references_if_all_fail_at_their_turns(
    worker: Worker, one_test: Expected
) -> None:
    scale = reference_times.calibrate(worker, one_test, {"quick": QUICK, "steady": STEADY})
    assert (scale.lack, scale.failed) == ("no reference passes", 2)


@pytest.mark.usefixtures("roughly")
def test_an_anchor_that_fails_later_costs_the_solution_nothing(
    worker: Worker, one_test: Expected, sound: Scale
) -> None:
    codes = {**SOUND, "fast": QUICK}  # what the scale has for its fastest fails now
    efficiency = paired_timing.measure(worker, one_test, sound, codes, MIDDLE)
    assert efficiency.beyond is not None
    assert efficiency.remark == ""
    with pytest.raises(LapError):
        paired_timing.measure(worker, one_test, sound, dict.fromkeys(SOUND, QUICK), MIDDLE)


@pytest.mark.usefixtures("roughly")
def test_a_solution_that_fails_at_its_turns_has_nothing(
    worker: Worker, one_test: Expected, sound: Scale
) -> None:
    efficiency = paired_timing.measure(worker, one_test, sound, SOUND, STEADY)
    assert (efficiency.beyond, efficiency.remark) == (0, "gave a wrong answer when it was timed")


def test_mercury_s_protocol_times_each_solution_by_itself(worker: Worker, bench: Bench) -> None:
    scale = mercury_protocol.calibrate(worker, bench.expected, bench.codes)
    assert scale.timing == "mercury"
    assert [each.code_hash for each in scale.references] == ["fast", "middle", "slow"]
    efficiency = mercury_protocol.measure(worker, bench.expected, scale, FAST)
    assert (efficiency.timing, efficiency.pairs) == ("mercury", mercury_protocol.ITERATIONS)
    assert efficiency.time is not None
    assert efficiency.time < scale.times[1]
    wrong = mercury_protocol.measure(worker, bench.expected, scale, "def f(n): return 1\n")
    assert wrong.cpu_s is None
    assert wrong.remark == "gave a wrong answer when it was timed"


def test_mercury_s_protocol_adds_up_what_the_tests_take(worker: Worker, bench: Bench) -> None:
    times = mercury_protocol.time_of(worker, bench.expected, SLOW)
    assert len(times) == len(bench.expected.inputs)
    total = mercury_protocol.total(times)
    assert total.seconds == pytest.approx(math.fsum(each["cpu_s"] for each in times))
    assert all(each["low"] <= each["high"] for each in times)


def test_a_scale_says_what_it_lacks() -> None:
    def scale(*times: float, doubt: float = 0.01) -> Scale:
        references = tuple(
            ReferenceTime(code_hash=str(n), time=time, doubt=doubt) for n, time in enumerate(times)
        )
        return Scale(unit_s=1.0, references=references)

    assert scale().lack == "no reference passes"
    assert scale(1.0).lack == "one reference passes"
    assert scale(1.0, 1.0).lack == "all references take the same time"
    assert scale(1.0, 1.01).lack == "the references differ by less than the noise"
    assert scale(1.0, 2.0).lack == ""
    assert scale(1.0, 2.0, doubt=0.5).lack == "the references differ by less than the noise"
