"""Scripts timed on all their tests in one turn, several passes at a time."""

from collections.abc import Iterable

import pytest
from for_each import for_each

from harness.features.efficiency import paired_timing, reference_times
from harness.features.efficiency.scale import Scale
from harness.features.efficiency.turns import Expected, Grouping, race_of
from harness.grading.task import Task
from harness.problem import TestCase
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.timing_race import Lap, ProgramStep
from harness.sandbox.worker import Worker

NUMBERS = (300, 400, 700)
FAST = "n = int(input())\ns = 0\nfor i in range(n): s += i\nprint(s)\n"
MIDDLE = FAST.replace("s += i", "s += i; i * i; i * i; i * i")
SLOW = FAST.replace("s += i", "s += i; " + "i * i; " * 12)
CODES = {"fast": FAST, "middle": MIDDLE, "slow": SLOW}
KEPT = "import sys\nkept = sys.modules.setdefault('kept', type('State', (), {})()).__dict__\n"
NUMBERED = """
import sys
state = sys.modules.setdefault("state", type("State", (), {"runs": 0}))
state.runs += 1
print(state.runs, input())
"""


def expected_of(worker: Worker, tests: dict[str, str]) -> Expected:
    cases = [TestCase(input=given, output=out, public=False) for given, out in tests.items()]
    return Expected.of(worker, Task(Program(FAST), cases, Limits()))


def sums_of(worker: Worker, numbers: Iterable[int]) -> Expected:
    return expected_of(worker, {f"{n}\n": f"{n * (n - 1) // 2}\n" for n in numbers})


@pytest.fixture(scope="module")
def sums(worker: Worker) -> Expected:
    return sums_of(worker, NUMBERS)


@pytest.fixture(scope="module")
def scale(worker: Worker, sums: Expected) -> Scale:
    return reference_times.calibrate(worker, sums, CODES)


def laps(worker: Worker, code: str, inputs: list[str], *steps: ProgramStep) -> list[Lap]:
    expected = expected_of(worker, dict.fromkeys(inputs, ""))
    with race_of(expected, [code], Grouping.of(len(inputs), apart=False)) as race:
        return worker.take_turns(race, steps)


@pytest.mark.usefixtures("roughly")
def test_the_tests_of_a_script_are_run_together(worker: Worker, sums: Expected) -> None:
    codes = {name: CODES[name] for name in ("slow", "fast")}  # apart by far
    scale = reference_times.calibrate(worker, sums, codes)
    assert not scale.apart
    assert [each.code_hash for each in scale.references] == ["fast", "slow"]


@pytest.mark.thorough
def test_references_are_in_the_order_of_their_times(scale: Scale) -> None:
    assert [each.code_hash for each in scale.references] == ["fast", "middle", "slow"]


@pytest.mark.thorough
def test_a_solution_stands_where_the_reference_with_its_code_does(
    worker: Worker, sums: Expected, scale: Scale
) -> None:
    fast, middle, slow = scale.times
    efficiency = paired_timing.measure(worker, sums, scale, CODES, MIDDLE)
    assert efficiency.beyond == pytest.approx((slow - middle) / (slow - fast), abs=0.05)


def test_the_answers_are_those_of_the_pass_that_is_looked_at(worker: Worker) -> None:
    program_laps = laps(
        worker,
        NUMBERED,
        ["a\n", "b\n"],
        ProgramStep(0, 0, 3, shown=1),
        ProgramStep(0, 0, 2, shown=0),
    )
    assert [lap.answers for lap in program_laps] == [(b"3 a\n", b"4 b\n"), (b"7 a\n", b"8 b\n")]


@for_each(
    "spoils",
    [
        "import sys; sys.stdout.flush(); sys.stdout.close()",
        "import sys; sys.stdout.flush(); sys.stdout.detach()",
        "import io, sys; sys.stdout = io.StringIO()",
        "import os, sys; sys.stdout.flush(); [os.close(n) for n in range(3)]",
        "import builtins; del builtins.print",
        "import sys; sys.setrecursionlimit(50)",
        "import os; os.chdir('/')",
        "raise SystemExit(3)",
        "import gc; gc.enable()",
    ],
)
def test_an_execution_does_not_reach_the_next(worker: Worker, spoils: str) -> None:
    code = f"import os\nassert os.getcwd() != '/'\nprint(input())\n{spoils}\n"
    (lap,) = laps(worker, code, ["a\nand what is not read\n", "b\n"], ProgramStep(0, 0, 2, shown=1))
    assert (lap.error, lap.answers) == ("", (b"a\n", b"b\n"))


def test_a_failure_in_any_execution_is_one_of_the_lap(worker: Worker) -> None:
    code = "print(int(input()))"
    (lap,) = laps(worker, code, ["1\n", "x\n"], ProgramStep(0, 0, 2))
    assert "ValueError" in lap.error


@pytest.mark.thorough
@pytest.mark.usefixtures("roughly")
def test_scripts_that_leave_threads_are_run_test_by_test(worker: Worker) -> None:
    sums = sums_of(worker, (2 * n for n in NUMBERS))
    waits = "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()"
    codes = {name: f"{waits}\n{CODES[name]}" for name in ("slow", "fast")}  # apart by far
    scale = reference_times.calibrate(worker, sums, codes)
    assert scale.apart
    assert [each.code_hash for each in scale.references] == ["fast", "slow"]


@pytest.mark.usefixtures("roughly")
def test_inputs_with_a_nul_are_given_one_by_one(worker: Worker) -> None:
    tests = {"a\0b\n": "a\0b\n", "c\n": "c\n"}
    scale = reference_times.calibrate(
        worker, expected_of(worker, tests), {"echo": "print(input())"}
    )
    assert scale.apart
    assert len(scale.references) == 1


@pytest.mark.thorough
def test_a_script_that_remembers_its_answers_gains_nothing(
    worker: Worker, sums: Expected, scale: Scale
) -> None:
    work = SLOW.replace("n = int(input())\n", "").replace("print(s)", "kept[str(n)] = s")
    indented = "".join(f"    {line}\n" for line in work.splitlines())
    code = f"{KEPT}n = int(input())\nif str(n) not in kept:\n{indented}print(kept[str(n)])\n"
    efficiency = paired_timing.measure(worker, sums, scale, CODES, code)
    assert "run before" in efficiency.remark
    assert efficiency.time_high is not None
    assert efficiency.time_high > 0.8 * scale.times[-1]


@pytest.mark.thorough
def test_a_script_that_answers_garbage_after_a_while_is_wrong(
    worker: Worker, sums: Expected, scale: Scale
) -> None:
    code = f"{KEPT}kept['runs'] = kept.get('runs', 0) + 1\n" + FAST.replace(
        "print(s)", "print(s if kept['runs'] < 12 else 0)"
    )
    efficiency = paired_timing.measure(worker, sums, scale, CODES, code)
    assert (efficiency.beyond, efficiency.remark) == (0.0, "gave a wrong answer when it was timed")
