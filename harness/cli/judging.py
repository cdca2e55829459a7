"""Judging many solutions from the command line: progress, interrupts, options in range."""

import asyncio
import signal
from collections.abc import Callable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple, cast

from rich.console import Console

from harness.errors import UsageError
from harness.grading.rules import RULES
from harness.report.judging import JudgingProgress
from harness.runs.judging import Job, Judged, Options, judge_all
from harness.sandbox.pool import SandboxPool

if TYPE_CHECKING:
    from harness.problem import RuleName

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Judgements(NamedTuple):
    """What was judged, by the jobs' numbers, and whether it was interrupted before the end."""

    judged: dict[int, Judged]
    interrupted: bool


def options(rule: str | None, test_timeout: float | None, *, isolate: bool = False) -> Options:
    """How to judge, from flags.

    Raises:
        UsageError: a value is none that can be.
    """
    if rule is not None and rule not in RULES:
        raise UsageError(f"--rule {rule}: known are {', '.join(RULES)}")
    if test_timeout is not None and not (isfinite(test_timeout) and test_timeout > 0):
        raise UsageError(f"--test-timeout {test_timeout}: give CPU seconds, more than 0")
    return Options(cast("RuleName | None", rule), test_timeout, isolate)


def judge_jobs(
    jobs: Sequence[Job], options: Options, workers: int | None, console: Console, noun: str
) -> Judgements:
    """Judge with a progress bar; an interrupt ends it, and what was judged stands.

    Raises:
        UsageError: there can be no such number of workers.
    """
    if workers is not None and workers < 1:
        raise UsageError(f"--workers {workers}: give 1 or more")
    judged: dict[int, Judged] = {}
    if not jobs:
        return Judgements(judged, interrupted=False)
    with JudgingProgress(console, len(jobs), noun) as progress:

        def done(each: Judged) -> None:
            judged[each.number] = each
            progress.judged(each.grade.verdict)

        interrupted = asyncio.run(_judge(jobs, options, workers, done))
    return Judgements(judged, interrupted)


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
