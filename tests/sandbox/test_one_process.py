"""A worker keeps a copy of a compiled program only where recent trials needed a second process."""

from pathlib import Path

from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.trial_input import Trial
from harness.sandbox.worker import Worker

LIMITS = Limits(cpu_s=10.0)
DOUBLE = "print(2 * int(input()))"


def processes(worker: Worker) -> int:
    """How many processes a worker has."""
    assert worker.process_id is not None
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:  # it has ended
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found = [worker.process_id]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return len(found)


def judge(worker: Worker, *, again: int) -> int:
    """Run two tests, and one of them so many times again; the processes after the first run."""
    with Trial(Program(DOUBLE), [b"1", b"2"], LIMITS) as trial:
        first = worker.try_out(trial, [0, 1], last=None)
        living = processes(worker)
        assert [each.stdout for each in first] == [b"2\n", b"4\n"]
        for _ in range(again):
            (execution,) = worker.try_out(trial, [1])
            assert execution.stdout == b"4\n"
        worker.leave(trial)
    return living


def test_a_new_worker_expects_that_one_process_is_enough(worker: Worker) -> None:
    worker.run(Program(DOUBLE), [b"1"], LIMITS)
    idle = processes(worker)
    assert judge(worker, again=0) == idle


def test_a_worker_whose_trials_need_more_keeps_a_copy_until_they_do_not(worker: Worker) -> None:
    worker.run(Program(DOUBLE), [b"1"], LIMITS)
    idle = processes(worker)
    more = [judge(worker, again=2) - idle for _ in range(25)]
    assert more[0] == 0
    assert more[-1] == 1
    fewer = [judge(worker, again=0) - idle for _ in range(25)]
    assert fewer[0] == 1
    assert fewer[-1] == 0
