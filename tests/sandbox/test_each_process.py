"""Several tests at one request, each in a process of its own."""

import pytest
from for_each import for_each

from harness.sandbox.execution import Ending, SandboxError
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.trial import Trial
from harness.sandbox.worker import Worker

LEAKY = """
import math, os, pathlib
line = input()
print(line, os.getpid(), hasattr(math, "seen"), pathlib.Path("left").exists())
math.seen = True
pathlib.Path("left").write_text("here")
"""
INPUTS = [b"0", b"1", b"2", b"3"]


@for_each("last", [False, True])
def test_each_has_a_fresh_process(worker: Worker, last: bool) -> None:
    with Trial(Program(LEAKY), INPUTS, Limits(cpu_s=3)) as trial:
        worker.try_out(trial, [0, 1])
        executions = worker.try_each(trial, [1, 2, 3], last=last)
        worker.leave(trial)
    rows = [execution.stdout.decode().split() for execution in executions]
    assert [(line, seen, left) for line, _, seen, left in rows] == [
        (str(n), "False", "False") for n in (1, 2, 3)
    ]
    assert all(execution.alone and execution.peak_bytes for execution in executions)


def test_a_trial_stays_open_for_later_inputs(worker: Worker) -> None:
    with Trial(Program("print(input())"), INPUTS, Limits(cpu_s=3)) as trial:
        first = worker.try_each(trial, [2, 0], last=True)
        again = worker.try_each(trial, [3, 1], last=False)
        worker.leave(trial)
    assert [each.stdout for each in (*first, *again)] == [b"2\n", b"0\n", b"3\n", b"1\n"]


ENDS = {
    "a loop": ("while line == '1': pass", Ending.CPU_LIMIT),
    "an exit": ("import os\nif line == '1': os._exit(3)", Ending.EXIT),
    "a signal": ("import os\nif line == '1': os.kill(os.getpid(), 9)", Ending.SIGNAL),
}


@for_each("name", ENDS)
def test_after_a_process_that_does_not_end_well_no_other_is_started(
    worker: Worker, name: str
) -> None:
    code, ending = ENDS[name]
    with Trial(Program(f"line = input()\n{code}"), INPUTS, Limits(cpu_s=0.3)) as trial:
        executions = worker.try_each(trial, [0, 1, 2, 3], last=True)
        worker.leave(trial)
    assert [each.ending for each in executions] == [Ending.FINISHED, ending]


def test_a_wrong_answer_by_exception_stops_none(worker: Worker) -> None:
    with Trial(Program("raise ValueError(input())"), INPUTS, Limits(cpu_s=3)) as trial:
        executions = worker.try_each(trial, [0, 1, 2], last=True)
    assert [each.error.splitlines()[-1] for each in executions] == [
        f"ValueError: {n}" for n in range(3)
    ]


def test_too_much_output_together_stops_them(worker: Worker) -> None:
    with Trial(Program("print('x' * (9 << 20))"), INPUTS, Limits(cpu_s=9)) as trial:
        executions = worker.try_each(trial, [0, 1, 2], last=True)
    assert [len(each.stdout) for each in executions] == [(9 << 20) + 1] * 2


def test_a_preamble_that_fails_is_a_sandbox_error(worker: Worker) -> None:
    program = Program("print(1)", preamble="def (")
    with Trial(program, INPUTS, Limits(cpu_s=3)) as trial, pytest.raises(SandboxError):
        worker.try_each(trial, [0, 1], last=True)


def test_a_program_that_cannot_be_compiled_is_told_once(worker: Worker) -> None:
    with Trial(Program("def ("), INPUTS, Limits(cpu_s=3)) as trial:
        executions = worker.try_each(trial, [0, 1], last=True)
    assert [each.ending for each in executions] == [Ending.CANNOT_COMPILE]
