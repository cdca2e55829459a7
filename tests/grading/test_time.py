"""Limits of time and memory: what is tried again, what counts, and where the judge leaves off."""

import dataclasses
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each
from processes import resting

from harness.grading.judge import judge
from harness.grading.stop import MANY_TESTS, Stop
from harness.grading.task import Task
from harness.grading.verdict import Grade, JudgedAgain, Verdict
from harness.problem import TestCase
from harness.sandbox.execution import Ending, Execution
from harness.sandbox.limits import GRACE, MEBIBYTE, Limits
from harness.sandbox.program import Program
from harness.sandbox.trial import Trial
from harness.sandbox.worker import Worker

CPU_S = 0.4
LIMITS = Limits(cpu_s=CPU_S, memory_bytes=512 * MEBIBYTE, output_bytes=MEBIBYTE, own_wall_s=20.0)
BURN = """
import time
def burn(seconds):
    while time.process_time() - start < seconds:
        pass
start = time.process_time()
"""
DOUBLES = [(str(n), str(2 * n)) for n in range(1, 5)]
DOUBLE = "\nprint(2 * int(input()))"


def grade(
    worker: Worker,
    code: str,
    pairs: Sequence[tuple[str, str]] = DOUBLES[:1],
    limits: Limits = LIMITS,
    **task: Any,
) -> Grade:
    tests = [TestCase(input=given, output=wanted, public=True) for given, wanted in pairs]
    return judge(worker, Task(Program(code), tests, limits, **task))


def vector(grade: Grade) -> list[str]:
    return [str(test.verdict) for test in grade.tests]


Runs = list[tuple[int, bool]]
"""Of each batch that a worker ran: the number of tests, and whether it had a process alone."""
Told = Callable[[Execution, Runs], Execution]
Record = Callable[..., Runs]


@pytest.fixture
def record(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> Record:
    """Has the worker tell what it runs from now on, and report what `told` makes of it."""

    def record(told: Told = lambda execution, _: execution) -> Runs:
        runs: Runs = []

        def try_out(trial: Trial, indexes: Sequence[int], **how: Any) -> list[Execution]:
            runs.append((len(indexes), how.get("alone", False)))
            executions = Worker.try_out(worker, trial, indexes, **how)
            return [told(each, runs) for each in executions]

        monkeypatch.setattr(worker, "try_out", try_out)
        return runs

    return record


def busy(execution: Execution, runs: Runs) -> Execution:
    """As on a machine that is so busy, the first time, that a limit is missed narrowly."""
    return execution if any(alone for _, alone in runs) else _missed(execution)


def busy_beside(execution: Execution, runs: Runs) -> Execution:
    """Let every test that is not alone miss its limit, after much waiting."""
    if runs[-1][1]:
        return execution._replace(wall_s=LIMITS.wall_s)
    return _missed(execution)


def _missed(execution: Execution) -> Execution:
    over = execution._replace(ending=Ending.CPU_LIMIT, cpu_s=1.1 * CPU_S)
    return over._replace(borderline=True)


def cpu_s_of(worker: Worker) -> float:
    """CPU seconds of a worker's processes that have ended, those below them included."""
    process = worker.process_id
    assert process is not None
    fields = (
        Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        for each in {process, resting(process)}
    )
    return sum(int(each) for row in fields for each in row[11:15]) / os.sysconf("SC_CLK_TCK")


class TestNarrowly:
    """A program is let run on a little beyond its limit, to see how narrowly it missed it."""

    def test_a_limit_missed_narrowly_is_tried_again_alone(
        self, worker: Worker, record: Record
    ) -> None:
        runs = record()
        result = grade(worker, f"{BURN}burn({1.1 * CPU_S}){DOUBLE}")
        assert vector(result) == ["time_limit"]
        assert CPU_S < result.tests[0].cpu_s < GRACE * CPU_S
        assert result.judged_again.retimed == (1, 0)
        assert runs == [(1, False), (1, True)]

    def test_a_limit_missed_by_far_is_not_tried_again(self, worker: Worker, record: Record) -> None:
        runs = record()
        result = grade(worker, "while True: pass")
        assert vector(result) == ["time_limit"]
        assert result.judged_again.retimed == (0, 0)
        assert runs == [(1, False)]
        assert GRACE * CPU_S <= result.tests[0].cpu_s < 3 * CPU_S

    def test_a_limit_that_is_kept_is_not_tried_again(self, worker: Worker) -> None:
        result = grade(worker, f"{BURN}burn({0.7 * CPU_S}){DOUBLE}")
        assert vector(result) == ["accepted"]
        assert result.judged_again.retimed == (0, 0)
        assert 0.7 * CPU_S <= result.tests[0].cpu_s < CPU_S

    def test_the_verdict_of_the_second_try_stands(self, worker: Worker, record: Record) -> None:
        first = record(busy)
        result = grade(worker, DOUBLE)
        record(busy)
        other = grade(worker, "print(0)")
        assert result.solved
        assert result.judged_again.retimed == (1, 1)
        assert first == [(1, False), (1, True)]
        assert vector(other) == ["wrong_answer"]
        assert other.judged_again.retimed == (1, 1)

    def test_a_narrow_miss_in_a_batch_is_tried_again_in_a_process_of_its_own(
        self, worker: Worker, record: Record
    ) -> None:
        runs = record()
        code = f"{BURN}n = int(input())\nif n == 2: burn({1.1 * CPU_S})\nprint(2 * n)"
        result = grade(worker, code, DOUBLES, stop=Stop.NEVER)
        assert vector(result) == ["accepted", "time_limit", "accepted", "accepted"]
        assert result.judged_again.confirmed == (0, 0)
        assert result.judged_again.retimed == (1, 0)
        assert [run for run in runs if run[1]] == [(1, True)]

    def test_the_verdict_of_the_second_try_stands_in_a_batch(
        self, worker: Worker, record: Record
    ) -> None:
        record(busy)
        result = grade(worker, DOUBLE, DOUBLES[:2], isolate=True)
        assert result.solved
        assert result.judged_again.retimed == (1, 1)

    def test_cpu_time_of_all_threads_counts(self, worker: Worker) -> None:
        """Two that share the limit between them exceed it together."""
        code = """
import hashlib, threading, time
def work():
    data = bytes(1 << 20)
    while time.process_time() < 60:
        hashlib.sha256(data).digest()
threads = [threading.Thread(target=work) for _ in range(3)]
for each in threads: each.start()
for each in threads: each.join()
"""
        result = grade(worker, code)
        assert vector(result) == ["time_limit"]
        assert result.tests[0].cpu_s < 4 * CPU_S


class TestAsleep:
    NAP = dataclasses.replace(LIMITS, own_wall_s=0.4)

    def test_a_sleeper_is_tried_again_and_keeps_nobody_waiting(
        self, worker: Worker, record: Record
    ) -> None:
        """That it slept is known; the machine may have done so too."""
        runs = record()
        start = time.monotonic()
        result = grade(worker, "import time\ntime.sleep(100)", limits=self.NAP)
        assert vector(result) == ["time_limit"]
        assert 0.8 <= time.monotonic() - start < 20
        assert 0.4 <= result.tests[0].wall_s < 5
        assert result.tests[0].cpu_s < CPU_S / 2
        assert result.tests[0].error.startswith("the limit of wall time was reached after")
        assert result.judged_again.retimed == (1, 0)
        assert runs == [(1, False), (1, False)]

    @pytest.mark.parametrize(
        "wait",
        [
            "import sys, threading\nthreading.Event().wait()",
            "import os\nos.read(os.pipe()[0], 1)",
            *(
                pytest.param(code, marks=pytest.mark.thorough)
                for code in (
                    "import signal\nsignal.pause()",
                    "import select\nselect.select([], [], [])",
                    "import threading\nl = threading.Lock()\nl.acquire()\nl.acquire()",
                )
            ),
        ],
    )
    def test_a_program_that_waits_in_any_way_is_a_time_limit(
        self, wait: str, worker: Worker
    ) -> None:
        result = grade(worker, wait, limits=self.NAP)
        assert vector(result) == ["time_limit"]
        assert result.judged_again.retimed == (1, 0)

    def test_a_short_sleep_is_nobody_s_business(self, worker: Worker) -> None:
        result = grade(worker, f"import time\ntime.sleep({2 * CPU_S}){DOUBLE}")
        assert vector(result) == ["accepted"]
        assert result.tests[0].wall_s > CPU_S > result.tests[0].cpu_s

    def test_wall_time_is_looser_than_cpu_time_unless_it_is_said(self) -> None:
        for seconds in (0.1, 1.0, 6.0, 100.0):
            assert Limits(cpu_s=seconds).wall_s >= max(3 * seconds, seconds + 5)
            assert Limits(cpu_s=seconds, own_wall_s=0.5).wall_s == 0.5


class TestCost:
    """What a test that does not end costs."""

    @pytest.mark.thorough
    @pytest.mark.parametrize("number", [1, 2, 8])
    def test_an_endless_test_is_run_to_its_limit_once(self, worker: Worker, number: int) -> None:
        code = "n = int(input())\nwhile n == 2: pass\nprint(2 * n)"
        tests = [("2", "4")] if number == 1 else MANY[:number]
        limits = dataclasses.replace(LIMITS, cpu_s=0.5)
        grade(worker, DOUBLE, DOUBLES[:1])
        before = cpu_s_of(worker)
        result = grade(worker, code, tests, limits)
        spent = cpu_s_of(worker) - before
        assert result.verdict is Verdict.TIME_LIMIT
        assert 0.59 < spent < 0.85  # of which 0.02 before, each time that it is cut short

    @pytest.mark.thorough
    def test_tests_that_are_slow_share_no_process_after_the_first(
        self, worker: Worker, record: Record
    ) -> None:
        runs = record()
        result = grade(worker, f"for _ in range(3_000_000): pass{DOUBLE}", MANY[:10])
        assert result.solved
        assert [run for run, _ in runs].count(1) >= 8
        assert len(runs) <= 12
        assert result.judged_again == JudgedAgain(rechecked=(1, 0))

    def test_a_right_solution_that_is_slow_is_accepted_however_many_tests_are_retimed(
        self,
        worker: Worker,
        record: Record,
    ) -> None:
        record(busy_beside)
        result = grade(worker, DOUBLE, MANY[:12], isolate=True)
        assert result.solved
        assert result.judged_again.retimed == (12, 12)


MEMORY = dataclasses.replace(LIMITS, cpu_s=5.0, memory_bytes=200 * MEBIBYTE)
TOUCH = "x = bytearray({} << 20)\n"


class TestMemory:
    """What counts is what is in use, not what is asked for."""

    def test_used_memory_counts(self, worker: Worker) -> None:
        result = grade(worker, TOUCH.format(300) + DOUBLE, limits=MEMORY)
        assert vector(result) == ["memory_limit"]
        assert result.peak_bytes > 0.99 * MEMORY.memory_bytes  # but the failed allocation

    @for_each("step", [1, 64, 4000])
    def test_no_more_can_be_used_than_the_limit(self, step: int, worker: Worker) -> None:
        code = f"x = []\nfor _ in range(4000 // {step}): x.append(b'x' * ({step} << 20))"
        limits = dataclasses.replace(MEMORY, memory_bytes=400 * MEBIBYTE, cpu_s=10.0)
        for number in (1, 3):
            for _ in range(3):  # a judge that has no core for 5 ms sees it too late
                result = grade(worker, code, [("1", "")] * number, limits)
                assert vector(result)[0] == "memory_limit"
                if result.peak_bytes < 1.05 * limits.memory_bytes:
                    break
            else:
                pytest.fail(f"{result.peak_bytes:,} bytes were used, three times")

    def test_mapped_memory_does_not_count(self, worker: Worker) -> None:
        code = f"import mmap\nx = mmap.mmap(-1, 600 << 20)\n{DOUBLE}"
        result = grade(worker, code, limits=MEMORY)
        assert vector(result) == ["accepted"]
        assert 0 < result.peak_bytes < 100 * MEBIBYTE

    def test_what_was_used_counts_whatever_became_of_it(self, worker: Worker) -> None:
        code = TOUCH.format(300) + "del x" + DOUBLE
        assert vector(grade(worker, code, limits=MEMORY)) == ["memory_limit"]

    def test_an_error_that_was_caught_after_too_much_was_used(self, worker: Worker) -> None:
        code = TOUCH.format(250) + "try: y = bytearray(8 << 30)\nexcept MemoryError: pass" + DOUBLE
        assert vector(grade(worker, code, limits=MEMORY)) == ["memory_limit"]

    def test_an_error_that_was_caught_before_that(self, worker: Worker) -> None:
        code = "try: y = bytearray(8 << 30)\nexcept MemoryError: pass" + DOUBLE
        assert vector(grade(worker, code, limits=MEMORY)) == ["accepted"]

    def test_an_error_that_was_not_caught(self, worker: Worker) -> None:
        result = grade(worker, "y = bytearray(8 << 30)" + DOUBLE, limits=MEMORY)
        assert vector(result) == ["memory_limit"]

    def test_a_list_that_grows(self, worker: Worker) -> None:
        code = "x = []\nwhile True: x.append(bytearray(1 << 20))"
        assert vector(grade(worker, code, limits=MEMORY)) == ["memory_limit"]

    def test_the_memory_limit_outranks_the_time_limit(self, worker: Worker) -> None:
        code = TOUCH.format(300) + "while True: pass"
        limits = dataclasses.replace(MEMORY, cpu_s=0.5)
        assert vector(grade(worker, code, limits=limits)) == ["memory_limit"]
        assert vector(grade(worker, "while True: pass", limits=limits)) == ["time_limit"]

    def test_the_threads_of_a_program_share_it(self, worker: Worker) -> None:
        code = f"""
import threading
kept = []
threads = [threading.Thread(target=lambda: kept.append(bytearray(80 << 20))) for _ in range(4)]
for each in threads: each.start()
for each in threads: each.join()
{DOUBLE}"""
        assert vector(grade(worker, code, limits=MEMORY)) == ["memory_limit"]

    def test_the_peak_is_that_of_a_solution(self, worker: Worker) -> None:
        small = grade(worker, DOUBLE, DOUBLES)
        large = grade(worker, TOUCH.format(100) + DOUBLE, DOUBLES)
        assert small.solved
        assert large.solved
        assert 0 < small.peak_bytes < 100 * MEBIBYTE
        assert 100 * MEBIBYTE < large.peak_bytes < 250 * MEBIBYTE

    def test_what_the_tests_of_a_batch_keep_is_not_held_against_them(self, worker: Worker) -> None:
        code = "import math\nmath.kept = [*getattr(math, 'kept', []), bytearray(80 << 20)]" + DOUBLE
        result = grade(worker, code, DOUBLES, limits=MEMORY)
        assert vector(result) == ["accepted"] * 4
        peaks = [test.peak_bytes for test in result.tests if test.peak_bytes]
        assert peaks, "all together are too much for one process"
        assert all(80 << 20 < peak < 200 << 20 for peak in peaks)

    def test_a_memory_limit_in_a_batch_fails_one_test(self, worker: Worker) -> None:
        code = "n = int(input())\nif n == 3: x = bytearray(300 << 20)\nprint(2 * n)"
        result = grade(worker, code, DOUBLES, limits=MEMORY, stop=Stop.NEVER)
        assert vector(result) == ["accepted", "accepted", "memory_limit", "accepted"]


WRONG_AT_2 = "n = int(input())\nprint(2 * n + (n == 2))"
SPINS_AT_2 = "n = int(input())\nwhile n == 2: pass\nprint(2 * n)"
LONG_AT_2 = "n = int(input())\nprint('x' * (2 << 20) if n == 2 else 2 * n)"
FAT_AT_2 = "n = int(input())\nx = bytearray(160 << 20) if n == 2 else 0\nprint(2 * n)"
FAILS_AT_2 = {
    Verdict.WRONG_ANSWER: WRONG_AT_2,
    Verdict.RUNTIME_ERROR: "n = int(input())\nprint(2 * n // (n != 2))",
    Verdict.TIME_LIMIT: SPINS_AT_2,
    Verdict.OUTPUT_LIMIT: LONG_AT_2,
    Verdict.MEMORY_LIMIT: FAT_AT_2,
}
# Little enough that to touch it takes a fraction of the time limit on a slow machine.
SMALL = dataclasses.replace(LIMITS, memory_bytes=100 * MEBIBYTE)
SHORT = dataclasses.replace(SMALL, cpu_s=0.15)
LIMITS_HIT = {Verdict.TIME_LIMIT, Verdict.OUTPUT_LIMIT, Verdict.MEMORY_LIMIT}
MANY = [(str(n), str(2 * n)) for n in range(1, MANY_TESTS + 6)]


def failing(verdict: Verdict) -> tuple[str, Limits]:
    return FAILS_AT_2[verdict], SHORT if verdict is Verdict.TIME_LIMIT else SMALL


@pytest.mark.parametrize("isolate", [False, pytest.param(True, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("verdict", FAILS_AT_2)
class TestStop:
    """The tests after a failure: four tests, the second fails."""

    def test_stop_never_runs_every_test(
        self, verdict: Verdict, isolate: bool, worker: Worker
    ) -> None:
        code, limits = failing(verdict)
        result = grade(worker, code, DOUBLES, limits, stop=Stop.NEVER, isolate=isolate)
        assert vector(result) == ["accepted", verdict, "accepted", "accepted"]
        assert result.verdict is verdict

    def test_stop_at_a_failure(self, verdict: Verdict, isolate: bool, worker: Worker) -> None:
        code, limits = failing(verdict)
        result = grade(worker, code, DOUBLES, limits, stop=Stop.FAILURE, isolate=isolate)
        assert vector(result) == ["accepted", verdict]

    def test_stop_at_a_limit(self, verdict: Verdict, isolate: bool, worker: Worker) -> None:
        code, limits = failing(verdict)
        result = grade(worker, code, DOUBLES, limits, stop=Stop.AUTO, isolate=isolate)
        rest = [] if verdict in LIMITS_HIT else ["accepted", "accepted"]
        assert vector(result) == ["accepted", verdict, *rest]
        assert result.public_total == 4


class TestStopWithMany:
    @pytest.mark.parametrize(
        ("number", "run"), [(MANY_TESTS, MANY_TESTS), (MANY_TESTS + 1, 2), (MANY_TESTS + 5, 2)]
    )
    def test_more_than_a_hundred_stop_at_a_failure(
        self, number: int, run: int, worker: Worker
    ) -> None:
        result = grade(worker, WRONG_AT_2, MANY[:number])
        assert len(result.tests) == run
        assert vector(result)[:2] == ["accepted", "wrong_answer"]
        assert result.public_total == number
        assert result.public_passed == run - 1

    def test_unless_all_are_wanted(self, worker: Worker) -> None:
        result = grade(worker, WRONG_AT_2, MANY, stop=Stop.NEVER)
        assert vector(result) == ["accepted", "wrong_answer", *["accepted"] * (len(MANY) - 2)]

    def test_what_passes_is_run_to_the_end(self, worker: Worker) -> None:
        for stop in Stop:
            assert vector(grade(worker, DOUBLE, MANY, stop=stop)) == ["accepted"] * len(MANY)
