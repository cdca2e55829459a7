"""A worker keeps a copy of a compiled program only where recent trials needed a second process."""

import pytest
from processes import children, resting

from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.trial import Trial
from harness.sandbox.worker import Worker

LIMITS = Limits(cpu_s=10.0)
DOUBLE = "print(2 * int(input()))"


def judge(worker: Worker, *, again: int) -> int:
    """Run two tests, and one of them so many times again; the copies after the first run."""
    assert worker.process_id is not None
    server = resting(worker.process_id)
    with Trial(Program(DOUBLE), [b"1", b"2"], LIMITS) as trial:
        first = worker.try_out(trial, [0, 1], last=None)
        copies = len(children(server))
        assert [each.stdout for each in first] == [b"2\n", b"4\n"]
        for _ in range(again):
            (execution,) = worker.try_out(trial, [1])
            assert execution.stdout == b"4\n"
        worker.leave(trial)
    return copies


def test_a_new_worker_expects_that_one_process_is_enough(fresh_worker: Worker) -> None:
    fresh_worker.run(Program(DOUBLE), [b"1"], LIMITS)
    assert judge(fresh_worker, again=0) == 0


@pytest.mark.thorough
def test_a_worker_whose_trials_need_more_keeps_a_copy_until_they_do_not(
    fresh_worker: Worker,
) -> None:
    fresh_worker.run(Program(DOUBLE), [b"1"], LIMITS)
    more = [judge(fresh_worker, again=2) for _ in range(25)]
    assert more[0] == 0
    assert more[-1] == 1
    fewer = [judge(fresh_worker, again=0) for _ in range(25)]
    assert fewer[0] == 1
    assert fewer[-1] == 0
