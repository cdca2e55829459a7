"""Judge many solutions: options in range, workers, progress, interrupts."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import cache
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any

from harness.errors import UsageError
from harness.grading.jobs import Job, Judged, Options, judge_all
from harness.grading.rules import find_rule
from harness.grading.verdict import INFRASTRUCTURE, Verdict
from harness.run.plan.judging_options import judging_of, reference_limits
from harness.run.plan.problem_kinds import said_in
from harness.run.reporter import JudgingProgress, Reporter
from harness.run.session.sync import run
from harness.run.spec.execution_settings import read_test_timeout
from harness.run.spec.spec import RunSpec, read_spec
from harness.sandbox.executor import Executor, ExecutorError, Where
from harness.sandbox.isolation import Level
from harness.sandbox.strongest import ChosenSandbox, choose
from harness.text import printable_line

if TYPE_CHECKING:
    from harness.problem import Problem

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def level(name: str) -> Level:
    """Return the level of a name; UsageError if there is none."""
    try:
        return Level(name)
    except ValueError as error:
        known = ", ".join(Level)
        raise UsageError(f"--require-isolation {name}: known are {known}") from error


@cache
def isolate(reporter: Reporter, least: Level, *, unsafe: bool) -> ChosenSandbox:
    """Return the strongest available sandbox; it is determined and reported once.

    Args:
        reporter: shows what the sandbox lacks.
        least: the lowest acceptable level.
        unsafe: whether to continue without a sandbox if none is available.

    Raises:
        IsolationError: no sandbox of that level is available.
    """
    choice = choose(least, unsafe=unsafe)
    if choice.notice:
        reporter.notice(printable_line(choice.notice))
    return choice


Work = Callable[[Executor], Coroutine[Any, Any, None]]
CountedWork = Callable[[Executor, JudgingProgress], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class JudgingSession:
    """How solutions are graded, according to the flags.

    Attributes:
        options: options of grading.
        where: executor: this machine or several, and the number of workers.
        least: the lowest acceptable sandbox level.
        unsafe: whether to continue without a sandbox if none is available.
        by_reference: `reference*FACTOR`, if time limits are derived from references.
        said: keys of the spec that were given.
    """

    options: Options
    where: Where = Where()  # noqa: RUF009 - frozen
    least: Level = Level.LANDLOCK
    unsafe: bool = False
    by_reference: str | None = None
    said: tuple[str, ...] = ()

    def open(self, reporter: Reporter) -> AbstractAsyncContextManager[Executor]:
        """Return the workers that judge, as a context manager.

        Raises:
            IsolationError: there is no sandbox that is strong enough.
        """
        isolation = isolate(reporter, self.least, unsafe=self.unsafe).isolation
        return self.where.open(isolation, lambda line: reporter.notice(printable_line(line)))

    def for_problems(
        self, problems: Sequence["Problem"], spec: str, reporter: Reporter
    ) -> "JudgingSession":
        """Return the session with limits from the problems' references, if requested.

        Args:
            problems: the problems of the solutions.
            spec: the problems' `NAME[:WHERE]`.
            reporter: shows how many have no reference.

        Raises:
            UsageError: no problem has a verified reference.
        """
        if self.by_reference is None:
            return self
        limits, notice = reference_limits(self.by_reference, problems, spec, self.options)
        if notice:
            reporter.notice(notice)
        return replace(self, options=replace(self.options, cpu_by_problem=limits))


def judging(flags: Mapping[str, Any], *, by_reference: bool = True) -> JudgingSession:
    """Return the session of some flags, checked as for a run.

    Args:
        flags: the given flags, by key of the spec.
        by_reference: whether `--test-timeout` may be `reference*FACTOR`.

    Raises:
        UsageError: a value is out of range.
    """
    if "test_timeout" in flags and not by_reference:
        try:
            read_test_timeout(flags["test_timeout"], by_reference=False)
        except ValueError as error:
            raise UsageError(f"--test-timeout {flags['test_timeout']}: {error}") from error
    spec = read_spec(None, flags)
    if spec.rule is not None:
        find_rule(spec.rule)
    return session_of(spec)


def session_of(spec: RunSpec) -> JudgingSession:
    """Return how a spec has solutions judged."""
    return JudgingSession(
        judging_of(spec),
        spec.where,
        spec.require_isolation,
        spec.unsafe_no_sandbox,
        spec.test_timeout if isinstance(spec.test_timeout, str) else None,
        tuple(said_in(spec)),
    )


def judge_jobs(
    jobs: Sequence[Job],
    judging: JudgingSession,
    reporter: Reporter,
    noun: str,
    keep: Callable[[Judged], None],
) -> bool:
    """Grade with a progress bar; return whether an interrupt ended it.

    Args:
        jobs: the solutions to grade.
        judging: how to grade them.
        reporter: shows the progress.
        noun: noun for the solutions in the progress bar.
        keep: called with each graded solution.

    Raises:
        IsolationError: no sandbox is strong enough.
    """
    if not jobs:
        return False
    options = judging.options
    return in_session(
        lambda pool: judge_reported(pool, jobs, options, noun, keep, reporter=reporter),
        judging,
        reporter,
    )


async def judge_reported(
    pool: Executor,
    jobs: Sequence[Job],
    options: Options,
    noun: str,
    keep: Callable[[Judged], None],
    *,
    reporter: Reporter,
) -> None:
    """Judge in workers that are open, and report progress; see `judge_jobs`."""
    with reporter.judging(len(jobs), f"{noun} accepted") as progress:

        def done(each: Judged) -> None:
            keep(each)
            verdict = each.grade.verdict
            progress.judged(good=verdict is Verdict.ACCEPTED, failed=verdict in INFRASTRUCTURE)

        await judge_all(pool, jobs, options, done)


def in_pool(
    work: CountedWork, judging: JudgingSession, reporter: Reporter, total: int, noun: str
) -> bool:
    """Run work in sandboxes with a progress bar; return whether an interrupt ended it.

    Args:
        work: the coroutine function to run; an interrupt cancels it.
        judging: workers and isolation.
        reporter: shows the progress.
        total: the number of things that are judged.
        noun: the word for them, and for the good ones, in the progress bar.

    Raises:
        IsolationError: no sandbox is strong enough.
    """

    async def counted(pool: Executor) -> None:
        with reporter.judging(total, noun) as progress:
            await work(pool, progress)

    return in_session(counted, judging, reporter)


def in_session(work: Work, judging: JudgingSession, reporter: Reporter) -> bool:
    """Run work in sandboxes; return whether an interrupt ended it.

    Raises:
        IsolationError: there is no sandbox that is strong enough.
    """
    return run(lambda: _until_interrupted(work, judging.open(reporter)))


async def _until_interrupted(work: Work, executor: AbstractAsyncContextManager[Executor]) -> bool:
    loop = asyncio.get_running_loop()
    async with executor as pool:
        task = asyncio.ensure_future(work(pool))
        stopping = STOPPING if current_thread() is main_thread() else ()  # in a notebook it is not
        for word in stopping:
            loop.add_signal_handler(word, task.cancel)
        try:
            await task
        except asyncio.CancelledError:
            return True
        except ExceptionGroup as errors:
            lost = errors.subgroup(ExecutorError)
            raise lost.exceptions[0] if lost else errors from None
        finally:
            for word in stopping:
                loop.remove_signal_handler(word)
    return False
