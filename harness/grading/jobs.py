"""Judge many solutions at once, decoding each problem's tests only once."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import NamedTuple

from harness.errors import DataError
from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.grading.task import Task
from harness.grading.verdict import Grade, Verdict
from harness.judged_by import Checker
from harness.languages import PYTHON, known
from harness.languages.functions import NoFunctionError
from harness.languages.program_key import code_hash
from harness.plugins import RuleName
from harness.problem import Problem, Reference, TestCase, TestSuite
from harness.sandbox.execution import Execution, SandboxError
from harness.sandbox.executor import Executor, Shared
from harness.sandbox.limits import Limits, limits_of
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker

LONGEST_CPU_S = 86_400.0


class Judgement(NamedTuple):
    """Judges a solution on all tests of a suite, which are decoded in the worker.

    Attributes:
        task: task to judge; its own tests are empty.
        suite: the tests.
    """

    task: Task
    suite: Shared[TestSuite]

    def __call__(self, worker: Worker) -> Grade:
        """Return the grade. Raises SandboxError, or DataError where the tests cannot be decoded."""
        return judge(worker, self.task._replace(tests=self.suite.value.all()))


class TrialRun(NamedTuple):
    """Runs a program once."""

    program: Program
    stdin: bytes
    limits: Limits

    def __call__(self, worker: Worker) -> Execution:
        """Return the execution. Raises SandboxError."""
        return worker.run(self.program, [self.stdin], self.limits)[0]


@dataclass(frozen=True, slots=True)
class ReferenceAt:
    """Reference read from the data only when judged: there may be very many.

    Attributes:
        index: its index in its problem's `known_solutions()`.
        hash: hash of its code.
    """

    index: int
    hash: str

    def among(self, problem: Problem, known: Sequence[Reference]) -> str:
        """Return its code. Raises DataError where that has changed."""
        code = known[self.index].code if self.index < len(known) else ""
        if code_hash(code) != self.hash:
            what = "has changed since the data were loaded"
            raise DataError(problem.id, None, f"reference {self.index} {what}")
        return code


@dataclass(frozen=True, slots=True)
class Job:
    """Solution to judge.

    Attributes:
        number: the caller's id for it.
        language: name of its language; None for that of the options.
    """

    number: int
    problem: Problem
    code: str | ReferenceAt
    language: str | None = field(default=None, kw_only=True)


class Judged(NamedTuple):
    """Result of a job.

    Attributes:
        grade: grade; its verdict is one of `INFRASTRUCTURE` where the infrastructure failed.
        cause: reason of that failure.
    """

    number: int
    grade: Grade
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Options:
    """Options for judging.

    Attributes:
        rule: rule that replaces each problem's own rule or checker.
        cpu_s: CPU seconds per test that replace each problem's and source's own.
        cpu_by_problem: CPU seconds per test by problem id, which replace either.
        memory_bytes: memory per test that replaces each problem's and source's own.
        isolate: whether every test gets its own process.
        wall_s: wall seconds per test, instead of those derived from the CPU seconds.
        stop: when to stop judging.
        language: language of solutions where nothing else is said.
        flags: the flags of a compiled language's compiler; empty for the usual ones.
        time_factor: multiple of the CPU limit for solutions in Python.
        to_the_end: ids of problems that are judged as by `Stop.LATE`, whatever `stop` says.
    """

    rule: RuleName | None = None
    cpu_s: float | None = None
    memory_bytes: int | None = None
    isolate: bool = False
    wall_s: float | None = None
    stop: Stop = Stop.AUTO
    cpu_by_problem: Mapping[str, float] = field(default_factory=dict[str, float])
    language: str = PYTHON
    flags: str = ""
    time_factor: float = 1.0
    to_the_end: frozenset[str] = frozenset()

    def limits(self, problem: Problem, language: str | None = None) -> Limits:
        """Return the limits of one test of a problem, for solutions in a language."""
        language = language or self.language
        limits = limits_of(
            problem.source,
            cpu_s=self.cpu_by_problem.get(problem.id, self.cpu_s) or problem.cpu_s,
            memory_bytes=self.memory_bytes or problem.memory_bytes,
            output_bytes=problem.output_bytes,
            wall_s=self.wall_s,
        )
        if self.time_factor == 1 or known.language(language).is_compiled:
            return limits
        return replace(limits, cpu_s=min(self.time_factor * limits.cpu_s, LONGEST_CPU_S))

    def rule_of(self, problem: Problem) -> RuleName:
        """Return the rule that outputs of a problem are compared by."""
        return self.rule or problem.rule

    def task(
        self, problem: Problem, code: str, tests: Sequence[TestCase], language: str | None = None
    ) -> Task:
        """Return the judge's task for one solution."""
        language = language or self.language
        return Task(
            Program.of(problem, code, language, self.flags),
            tests,
            self.limits(problem, language),
            self.rule_of(problem),
            _checker(problem, self.rule),
            self.isolate,
            Stop.LATE if problem.id in self.to_the_end else self.stop,
            problem.exit_code_counts,
            problem.scoring,
        )


def _checker(problem: Problem, rule: RuleName | None) -> Checker | None:
    """Return the problem's checker unless a rule replaces it; tests that are code stay.

    So do checkers that are programs: they talk, give points, or judge what is not compared.
    """
    checker = problem.checker
    if rule is None or checker is None or checker.tests is not None:
        return checker
    return None if checker.program is None else checker


async def judge_all(
    pool: Executor, jobs: Iterable[Job], options: Options, done: Callable[[Judged], None]
) -> None:
    """Judge solutions, as many at a time as the pool has workers.

    A job that fails because of the infrastructure is reported as such and stops no other. When
    cancelled, it drops the jobs in progress; reported results stand.

    Args:
        pool: executor that runs them.
        jobs: jobs; those of one problem should be adjacent, so that its tests, and its references
            where these are judged, are decoded once.
        options: options for judging.
        done: function called with each result, in no particular order.
    """
    waiting = _with_data(jobs)

    async def take_turns() -> None:
        for job, data in waiting:
            done(await _judge(pool, job, data, options))

    async with asyncio.TaskGroup() as group:
        for _ in range(pool.size):
            group.create_task(take_turns())


class _Data:
    """Tests and references of a problem, decoded when first needed."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._lock = asyncio.Lock()
        self._tests: Shared[TestSuite] | None = None
        self._known: tuple[Reference, ...] | None = None

    async def tests(self) -> Shared[TestSuite]:
        async with self._lock:
            if self._tests is None:
                decoded = await asyncio.to_thread(self._problem.tests.all)
                self._tests = Shared(TestSuite(decoded))
            return self._tests

    async def code(self, job: Job) -> str:
        if isinstance(job.code, str):
            return job.code
        async with self._lock:
            if self._known is None:
                self._known = await asyncio.to_thread(self._problem.known_solutions)
            return job.code.among(self._problem, self._known)


def _with_data(jobs: Iterable[Job]) -> Iterator[tuple[Job, _Data]]:
    for _, group in groupby(jobs, key=lambda job: job.problem.id):
        data: _Data | None = None
        for job in group:
            data = data or _Data(job.problem)
            yield job, data


async def _judge(pool: Executor, job: Job, data: _Data, options: Options) -> Judged:
    try:
        task = options.task(job.problem, await data.code(job), (), job.language)
        grade = await pool.call(Judgement(task, await data.tests()))
    except SandboxError as error:
        return Judged(job.number, Grade(verdict=Verdict.SANDBOX_ERROR), str(error))
    except (DataError, NoFunctionError) as error:
        return Judged(job.number, Grade(verdict=Verdict.CHECKER_ERROR), str(error))
    return Judged(job.number, grade, grade.checker_error)
