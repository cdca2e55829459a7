"""Time existing solutions."""

from collections.abc import Callable, Sequence
from typing import cast, get_args

from harness.efficiency import Timing
from harness.efficiency.measurement import Scales, Timed, time_all
from harness.efficiency.scale import Efficiency
from harness.errors import UsageError
from harness.grading.jobs import Options
from harness.run.reporter import Reporter
from harness.sandbox.executor import Executor


def timing_of(word: str) -> Timing:
    """Return the timing method of a flag. Raises UsageError."""
    known = get_args(Timing)
    if word not in known:
        raise UsageError(f"--timing {word}: known are {', '.join(known)}")
    return cast("Timing", word)


def asked_timing(word: str | None, *, efficiency: bool) -> Timing | None:
    """Return the timing method of the flags; None without timing. Raises UsageError."""
    if word is not None and not efficiency:
        raise UsageError("--timing says how --efficiency measures; give that too")
    return timing_of(word or "paired") if efficiency else None


async def time_reported(
    pool: Executor,
    solutions: Sequence[Timed],
    options: Options,
    timing: Timing,
    keep: Callable[[int, Efficiency], None],
    *,
    reporter: Reporter,
) -> None:
    """Time solutions, and report progress.

    Args:
        pool: the workers.
        solutions: those of one problem should follow one another.
        options: limits of time and memory.
        timing: the method.
        keep: receives each solution's number and result.
        reporter: shows the progress.
    """
    with reporter.judging(len(solutions), "solutions timed") as progress:

        def done(number: int, found: Efficiency) -> None:
            keep(number, found)
            progress.judged(good=found.time is not None, failed=False)

        await time_all(pool, solutions, Scales(options, timing), done)
