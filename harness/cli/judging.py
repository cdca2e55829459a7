"""Judging many solutions from the command line: progress, interrupts, options in range."""

import asyncio
import signal
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from rich.console import Console

from harness.errors import UsageError
from harness.grading.rules import RULES
from harness.report.judging import JudgingProgress
from harness.runs.judging import Job, Judged, Options, judge_all
from harness.runs.spec import LEAST_MEMORY, LONGEST_SECONDS, MOST_MEMORY
from harness.sandbox.limits import MEBIBYTE
from harness.sandbox.pool import SandboxPool

if TYPE_CHECKING:
    from harness.problem import RuleName

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def options(
    rule: str | None,
    test_timeout: float | None,
    memory: int | None = None,
    *,
    isolate: bool = False,
) -> Options:
    """How to judge, from flags.

    Raises:
        UsageError: a value is none that can be.
    """
    if rule is not None and rule not in RULES:
        raise UsageError(f"--rule {rule}: known are {', '.join(RULES)}")
    if test_timeout is not None and not 0 < test_timeout <= LONGEST_SECONDS:
        most = f"more than 0, at most {LONGEST_SECONDS:g}"
        raise UsageError(f"--test-timeout {test_timeout}: give CPU seconds, {most}")
    if memory is not None and not LEAST_MEMORY <= memory <= MOST_MEMORY:
        raise UsageError(f"--memory {memory}: give MiB, from {LEAST_MEMORY} to {MOST_MEMORY}")
    size = None if memory is None else memory * MEBIBYTE
    return Options(cast("RuleName | None", rule), test_timeout, size, isolate)


def judge_jobs(  # noqa: PLR0917 - as many things as it takes
    jobs: Sequence[Job],
    options: Options,
    workers: int | None,
    console: Console,
    noun: str,
    keep: Callable[[Judged], None],
) -> bool:
    """Judge with a progress bar; returns whether an interrupt ended it.

    Args:
        jobs: what to judge.
        options: how.
        workers: how many at a time; None for one a core.
        console: where the bar is.
        noun: what the solutions are called there.
        keep: is given each as it is judged.

    Raises:
        UsageError: there can be no such number of workers.
    """
    if workers is not None and workers < 1:
        raise UsageError(f"--workers {workers}: give 1 or more")
    if not jobs:
        return False
    with JudgingProgress(console, len(jobs), noun) as progress:

        def done(each: Judged) -> None:
            keep(each)
            progress.judged(each.grade.verdict)

        return asyncio.run(_judge(jobs, options, workers, done))


async def _judge(
    jobs: Sequence[Job], options: Options, workers: int | None, done: Callable[[Judged], None]
) -> bool:
    """Judge; returns whether it was interrupted."""
    loop = asyncio.get_running_loop()
    async with SandboxPool(workers) as pool:
        task = asyncio.ensure_future(judge_all(pool, jobs, options, done))
        for word in STOPPING:
            loop.add_signal_handler(word, task.cancel)
        try:
            await task
        except asyncio.CancelledError:
            return True
        finally:
            for word in STOPPING:
                loop.remove_signal_handler(word)
    return False
