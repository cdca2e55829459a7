"""Measures this judge on one suite: `judging.py SUITES NAME MODE LEVEL WORKERS`.

Modes:

- `batch`: as it is used, one worker, confirmation and re-check included.
- `bare`: the tests run in one process and compared, and nothing more.
- `single`: as it is used, on solutions that have one test each.
- `isolate`: a process for every test.
- `pool`: as `batch`, through the pool of so many workers.
"""

import asyncio
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import workload
from cost import Cost, cpu_s, tree_cpu_s
from levels import LEVELS, Level

from harness.grading.jobs import Job, Judged, Options, judge_all
from harness.grading.judge import judge
from harness.grading.rules import RULES
from harness.grading.verdict import Grade
from harness.problem import Problem, TestCase
from harness.sandbox.execution import Ending
from harness.sandbox.limits import limits_of
from harness.sandbox.pool import SandboxPool
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker

STARTS = 3
LEAST_S = 1.0
"""A suite is graded again and again for so long: a short span drowns in the cost of starting."""
OPTIONS = Options()


class WrongVerdictError(Exception):
    """A solution that is right was not accepted."""


def warm(worker: Worker, preambles: set[str]) -> None:
    """Have a worker started and a source's preamble imported."""
    for preamble in preambles:
        worker.run(Program("print(1)", preamble), [b""], limits_of("livecodebench"))


def main(suites: str, name: str, mode: str, level: str, workers: str) -> Cost:
    """Measure."""
    rows = workload.read(Path(suites))[name]
    jobs = workload.jobs(rows)
    preambles = {row.preamble for row in rows}
    if mode == "pool":
        return asyncio.run(_on_pool(LEVELS[level], int(workers), jobs, preambles))
    work = {"batch": _batch, "single": _batch, "bare": _bare, "isolate": _isolate}[mode]
    return _on_worker(LEVELS[level], lambda worker: work(worker, jobs), preambles)


def _on_worker(level: Level, work: Callable[[Worker], int], preambles: set[str]) -> Cost:
    starting = statistics.median(_start_and_stop(level, preambles) for _ in range(STARTS))
    before = cpu_s()
    worker = level.worker()
    try:
        warm(worker, preambles)
        seen, wall = tree_cpu_s(), time.perf_counter()
        tests = 0
        while time.perf_counter() - wall < LEAST_S:
            tests += work(worker)
        wall, seen = time.perf_counter() - wall, tree_cpu_s() - seen
    finally:
        worker.stop()
    return Cost(tests, wall, cpu_s() - before - starting, seen)


def _start_and_stop(level: Level, preambles: set[str]) -> float:
    before = cpu_s()
    worker = level.worker()
    try:
        warm(worker, preambles)
    finally:
        worker.stop()
    return cpu_s() - before


def _checked(problem: Problem, grade: Grade) -> int:
    if not grade.solved:
        raise WrongVerdictError(f"{problem.id} is {grade.verdict}")
    return len(grade.tests)


def _batch(worker: Worker, jobs: Sequence[Job]) -> int:
    return sum(
        _checked(job.problem, judge(worker, OPTIONS.task(job.problem, job.code, _tests(job))))
        for job in jobs
    )


def _isolate(worker: Worker, jobs: Sequence[Job]) -> int:
    options = Options(isolate=True)
    return sum(
        _checked(job.problem, judge(worker, options.task(job.problem, job.code, _tests(job))))
        for job in jobs
    )


def _bare(worker: Worker, jobs: Sequence[Job]) -> int:
    return sum(_run_and_compare(worker, job) for job in jobs)


def _tests(job: Job) -> Sequence[TestCase]:
    return job.problem.tests.all()


def _run_and_compare(worker: Worker, job: Job) -> int:
    rule = RULES[job.problem.rule]
    functional = job.problem.entry_point is not None
    compare = rule.value if functional else rule.output
    tests = _tests(job)
    inputs = [test.input.encode() for test in tests]
    program = Program.of(job.problem, job.code)
    executions = worker.run(program, inputs, OPTIONS.limits(job.problem))
    for test, execution in zip(tests, executions, strict=True):
        answer = (execution.result or b"") if functional else execution.stdout
        if execution.ending is not Ending.FINISHED or compare(test.output, answer.decode()):
            raise WrongVerdictError(f"{job.problem.id} is not accepted")
    return len(tests)


async def _on_pool(level: Level, workers: int, jobs: Sequence[Job], preambles: set[str]) -> Cost:
    starts = [await _open_and_close(level, workers, preambles) for _ in range(STARTS)]
    before = cpu_s()
    async with level.pool(workers) as pool:
        await _warm_all(pool, preambles)
        seen, wall = tree_cpu_s(), time.perf_counter()
        tests = 0
        while time.perf_counter() - wall < LEAST_S:
            grades = await judged(pool, jobs)
            tests += sum(_checked(job.problem, grades[job.number]) for job in jobs)
        wall, seen = time.perf_counter() - wall, tree_cpu_s() - seen
    return Cost(tests, wall, cpu_s() - before - statistics.median(starts), seen)


async def judged(pool: SandboxPool, jobs: Sequence[Job]) -> dict[int, Grade]:
    """The grades of all jobs."""
    grades: dict[int, Grade] = {}

    def keep(each: Judged) -> None:
        grades[each.number] = each.grade

    await judge_all(pool, jobs, OPTIONS, keep)
    return grades


async def _open_and_close(level: Level, workers: int, preambles: set[str]) -> float:
    before = cpu_s()
    async with level.pool(workers) as pool:
        await _warm_all(pool, preambles)
    return cpu_s() - before


async def _warm_all(pool: SandboxPool, preambles: set[str]) -> None:
    """Every worker, each of them once."""
    together = threading.Barrier(pool.size)

    def one(worker: Worker) -> None:
        together.wait()
        warm(worker, preambles)

    await asyncio.gather(*(pool.call(one) for _ in range(pool.size)))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:]).tell()
    except Exception as error:  # noqa: BLE001 - the line that the table shows for it
        sys.exit(f"{type(error).__name__}: {error}")
