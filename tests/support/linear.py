"""Time of processing that must grow in proportion to the size of what is processed."""

import time
from collections.abc import Callable

STEP = 4  # a quadratic reader takes 16 times as long for four times the size
MOST = 10  # a linear one may take so many times as long on a busy machine
LOOKS = 3


def assert_linear(work: Callable[[int], object], size: int, soon: float) -> None:
    """Fail if the CPU time of `work(size)` grows faster than in proportion to the size.

    What is done soon passes at once. What is not, on a busy machine, is compared with the time of a
    quarter of the size: the shortest of a few.

    Args:
        work: processes a text of a size.
        size: the size.
        soon: CPU seconds that are enough on any machine that does nothing else.
    """
    if _seconds(work, size) < soon:
        return
    short = min(_seconds(work, size // STEP) for _ in range(LOOKS))
    long = min(_seconds(work, size) for _ in range(LOOKS))
    assert long < MOST * max(short, soon / STEP), f"{short:.2f} s, {long:.2f} s of {STEP} times"


def _seconds(work: Callable[[int], object], size: int) -> float:
    started = time.process_time()
    work(size)
    return time.process_time() - started
