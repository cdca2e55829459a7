"""Judging many solutions from the command line: progress, interrupts, options in range."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast, get_args

from rich.console import Console

from harness.cli.isolating import isolate, level
from harness.errors import UsageError
from harness.grading.judge import STOPS
from harness.grading.rules import find_rule
from harness.grading.verdict import INFRASTRUCTURE, Verdict
from harness.problem import known_rule
from harness.report.judging import JudgingProgress
from harness.report.text import printable_line
from harness.runs.executor import Executor, ExecutorError, ExecutorName, Where
from harness.runs.judging import Job, Judged, Options, judge_all
from harness.runs.spec import LEAST_MEMORY, LONGEST_SECONDS, MOST_MEMORY, read_test_timeout
from harness.runs.verified_limits import reference_limits, without_reference
from harness.sandbox.isolation import Level
from harness.sandbox.limits import MEBIBYTE

if TYPE_CHECKING:
    from harness.problem import Problem

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
Work = Callable[[Executor, JudgingProgress], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class Judging:
    """What the flags say of how solutions are judged.

    Attributes:
        where: on this machine or on many, and how many at a time.
        least: the level beneath which there shall be no sandbox.
        unsafe: do without where none can be had.
        by_reference: `reference*FACTOR`, where limits of time are to follow the references.
    """

    options: Options
    where: Where = Where()  # noqa: RUF009 - frozen
    least: Level = Level.LANDLOCK
    unsafe: bool = False
    by_reference: str | None = None

    def for_problems(self, problems: Sequence["Problem"], spec: str, console: Console) -> "Judging":
        """The same with the limits that follow from these problems' references, if any shall.

        Args:
            problems: what is judged are solutions of these.
            spec: the `NAME[:WHERE]` that they are of.
            console: where it is said how many have no reference to go by.

        Raises:
            UsageError: none of them has one.
        """
        if self.by_reference is None:
            return self
        limits = reference_limits(self.by_reference, problems, spec, self.options)
        notice = without_reference(problems, limits, spec)
        if notice:
            console.print(notice, soft_wrap=True)
        return replace(self, options=replace(self.options, cpu_by_problem=limits))


def judging(
    *,
    rule: str | None,
    test_timeout: float | str | None,
    wall_timeout: float | None,
    memory: int | None,
    isolate_tests: bool,
    all_tests: bool | None,
    workers: int | None,
    require_isolation: str,
    unsafe_no_sandbox: bool,
    executor: str = "local",
    ray_address: str | None = None,
) -> Judging:
    """How to judge, from flags.

    Raises:
        UsageError: a value is none that can be.
    """
    if rule is not None:
        try:
            find_rule(known_rule(rule))
        except ValueError as error:
            raise UsageError(f"--rule {rule}: {error}") from error
    cpu_s = _test_timeout(test_timeout)
    if wall_timeout is not None and not 0 < wall_timeout <= LONGEST_SECONDS:
        most = f"more than 0, at most {LONGEST_SECONDS:g}"
        raise UsageError(f"--wall-timeout {wall_timeout}: give wall seconds, {most}")
    if memory is not None and not LEAST_MEMORY <= memory <= MOST_MEMORY:
        raise UsageError(f"--memory {memory}: give MiB, from {LEAST_MEMORY} to {MOST_MEMORY}")
    if workers is not None and workers < 1:
        raise UsageError(f"--workers {workers}: give 1 or more")
    options = Options(
        rule=rule,
        cpu_s=None if isinstance(cpu_s, str) else cpu_s,
        memory_bytes=None if memory is None else memory * MEBIBYTE,
        isolate=isolate_tests,
        wall_s=wall_timeout,
        stop=STOPS[all_tests],
    )
    by_reference = cpu_s if isinstance(cpu_s, str) else None
    least = level(require_isolation)
    place = where(executor, ray_address, workers)
    return Judging(options, place, least, unsafe_no_sandbox, by_reference)


def where(executor: str, ray_address: str | None, workers: int | None) -> Where:
    """Where to judge, from flags. Raises UsageError."""
    known = get_args(ExecutorName)
    if executor not in known:
        raise UsageError(f"--executor {executor}: known are {', '.join(known)}")
    return Where(cast("ExecutorName", executor), ray_address, workers)


def _test_timeout(value: float | str | None) -> float | str | None:
    try:
        return None if value is None else read_test_timeout(value)
    except ValueError as error:
        raise UsageError(f"--test-timeout {value}: {error}") from error


def judge_jobs(
    jobs: Sequence[Job],
    judging: Judging,
    console: Console,
    noun: str,
    keep: Callable[[Judged], None],
) -> bool:
    """Judge with a progress bar; returns whether an interrupt ended it.

    Args:
        jobs: what to judge.
        judging: how.
        console: where the bar is.
        noun: what the solutions are called there.
        keep: is given each as it is judged.

    Raises:
        IsolationError: there is no sandbox that is strong enough.
    """
    if not jobs:
        return False

    def work(pool: Executor, progress: JudgingProgress) -> Coroutine[Any, Any, None]:
        def done(each: Judged) -> None:
            keep(each)
            verdict = each.grade.verdict
            progress.judged(good=verdict is Verdict.ACCEPTED, failed=verdict in INFRASTRUCTURE)

        return judge_all(pool, jobs, judging.options, done)

    return in_pool(work, judging, console, len(jobs), f"{noun} accepted")


def in_pool(work: Work, judging: Judging, console: Console, total: int, noun: str) -> bool:
    """Do work in sandboxes with a progress bar; returns whether an interrupt ended it.

    Args:
        work: what to do; cancelled by an interrupt.
        judging: workers and isolation.
        console: where the bar is.
        total: how many things are judged.
        noun: what they are called there, and the word for the good ones.

    Raises:
        IsolationError: there is no sandbox that is strong enough.
    """
    isolation = isolate(console, judging.least, unsafe=judging.unsafe).isolation
    with JudgingProgress(console, total, noun) as progress:
        executor = judging.where.open(isolation, lambda line: console.print(printable_line(line)))
        return asyncio.run(_until_interrupted(work, progress, executor))


async def _until_interrupted(
    work: Work, progress: JudgingProgress, executor: AbstractAsyncContextManager[Executor]
) -> bool:
    """Do it; returns whether it was interrupted."""
    loop = asyncio.get_running_loop()
    async with executor as pool:
        task = asyncio.ensure_future(work(pool, progress))
        for word in STOPPING:
            loop.add_signal_handler(word, task.cancel)
        try:
            await task
        except asyncio.CancelledError:
            return True
        except ExceptionGroup as errors:
            lost = errors.subgroup(ExecutorError)
            raise lost.exceptions[0] if lost else errors from None
        finally:
            for word in STOPPING:
                loop.remove_signal_handler(word)
    return False
