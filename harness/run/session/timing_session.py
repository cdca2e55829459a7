"""Timing of existing solutions from the command line."""

from collections.abc import Callable, Sequence
from typing import cast, get_args

from harness.efficiency.measurement import Scales, Timed, time_all
from harness.efficiency.scale import Efficiency, Timing
from harness.errors import UsageError
from harness.run.reporter import JudgingProgress, Reporter
from harness.run.session.judging_session import JudgingSession, in_pool
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


def time_solutions(
    solutions: Sequence[Timed],
    judging: JudgingSession,
    timing: Timing,
    reporter: Reporter,
    keep: Callable[[int, Efficiency], None],
) -> bool:
    """Time solutions with a progress bar; return whether an interrupt ended it.

    Args:
        solutions: solutions, with those of a problem in sequence.
        judging: executor and limits.
        timing: the timing method.
        reporter: shows the progress.
        keep: called with each timed solution's number and efficiency.

    Raises:
        IsolationError: no sandbox is strong enough.
    """
    if not solutions:
        return False
    scales = Scales(judging.options, timing)

    async def work(pool: Executor, progress: JudgingProgress) -> None:
        def done(number: int, found: Efficiency) -> None:
            keep(number, found)
            progress.judged(good=found.time is not None, failed=False)

        await time_all(pool, solutions, scales, done)

    return in_pool(work, judging, reporter, len(solutions), "solutions timed")
