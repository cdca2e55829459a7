"""Judging many solutions: each problem's tests decoded once, the judges kept busy."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from harness.errors import DataError
from harness.grading.judge import Stop, Task, judge
from harness.grading.verdict import Grade, Verdict
from harness.problem import Problem, RuleName, TestCase
from harness.sandbox.execution import Program, SandboxError
from harness.sandbox.limits import Limits, limits_of
from harness.sandbox.pool import SandboxPool


@dataclass(frozen=True, slots=True)
class Job:
    """A solution to be judged; `number` is the caller's name for it."""

    number: int
    problem: Problem
    code: str


class Judged(NamedTuple):
    """What came of a job.

    Attributes:
        grade: its verdict is an infrastructure's where that failed.
        cause: why it failed.
    """

    number: int
    grade: Grade
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Options:
    """How to judge.

    Attributes:
        rule: in place of each problem's own rule or checker.
        cpu_s: CPU seconds per test in place of each source's own.
        memory_bytes: memory of a test, likewise.
        isolate: a process for every test.
        wall_s: wall seconds per test in place of what follows from the CPU seconds.
        stop: where to leave off.
    """

    rule: RuleName | None = None
    cpu_s: float | None = None
    memory_bytes: int | None = None
    isolate: bool = False
    wall_s: float | None = None
    stop: Stop = Stop.AUTO

    def limits(self, problem: Problem) -> Limits:
        """What a test of a problem may use."""
        return limits_of(
            problem.source, cpu_s=self.cpu_s, memory_bytes=self.memory_bytes, wall_s=self.wall_s
        )

    def task(self, problem: Problem, code: str, tests: Sequence[TestCase]) -> Task:
        """What the judge is asked of one solution."""
        return Task(
            Program.of(problem, code),
            tests,
            self.limits(problem),
            self.rule or problem.rule,
            None if self.rule else problem.checker,
            self.isolate,
            self.stop,
        )


async def judge_all(
    pool: SandboxPool, jobs: Iterable[Job], options: Options, done: Callable[[Judged], None]
) -> None:
    """Judge solutions, as many at a time as the pool has workers.

    A job that infrastructure stopped is reported as such and stops no other. Cancelled, it drops
    what is being judged; what was reported stands.

    Args:
        pool: where they run.
        jobs: solutions of one problem should follow one another: its tests are decoded once.
        options: how.
        done: told of each as it is judged, in no particular order.
    """
    waiting = _with_tests(jobs)

    async def take_turns() -> None:
        for job, tests in waiting:
            done(await _judge(pool, job, tests, options))

    async with asyncio.TaskGroup() as group:
        for _ in range(pool.size):
            group.create_task(take_turns())


class _Tests:
    """A problem's tests, decoded when first needed."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._lock = asyncio.Lock()
        self._tests: tuple[TestCase, ...] | None = None

    async def get(self) -> tuple[TestCase, ...]:
        async with self._lock:
            if self._tests is None:
                self._tests = await asyncio.to_thread(self._problem.tests.all)
            return self._tests


def _with_tests(jobs: Iterable[Job]) -> Iterator[tuple[Job, _Tests]]:
    for _, group in groupby(jobs, key=lambda job: job.problem.id):
        tests: _Tests | None = None
        for job in group:
            tests = tests or _Tests(job.problem)
            yield job, tests


async def _judge(pool: SandboxPool, job: Job, tests: _Tests, options: Options) -> Judged:
    try:
        task = options.task(job.problem, job.code, await tests.get())
        grade = await pool.call(lambda worker: judge(worker, task))
    except SandboxError as error:
        return Judged(job.number, Grade(verdict=Verdict.SANDBOX_ERROR), str(error))
    except DataError as error:
        return Judged(job.number, Grade(verdict=Verdict.CHECKER_ERROR), str(error))
    return Judged(job.number, grade, grade.checker_error)
