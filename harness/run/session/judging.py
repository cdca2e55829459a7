"""Judge many solutions in sandboxes, with progress, until an interrupt."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from threading import current_thread, main_thread
from typing import Any

from harness.grading.jobs import Job, Judged, Options, judge_all
from harness.grading.verdict import INFRASTRUCTURE, Verdict
from harness.run.reporter import JudgingProgress, Reporter
from harness.run.session.judging_session import JudgingSession
from harness.run.session.sync import run
from harness.sandbox.executor import Executor, ExecutorError

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Work = Callable[[Executor], Coroutine[Any, Any, None]]

CountedWork = Callable[[Executor, JudgingProgress], Coroutine[Any, Any, None]]


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
