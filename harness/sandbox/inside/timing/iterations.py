"""Mercury's timing protocol, see its README: repeated runs timed in this process.

The CPU time of an iteration is user plus system time from `getrusage`. The interval is that of
wall times: it says nothing about the scored CPU time, and is here because the protocol has it. The
clocks are read in the timed process, so a solution could tamper with them.
"""

import copy
import math
import resource
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

DEEPEST = 1_000_000  # nodes of a linked list copied recursively
QUANTILE = 1.96  # of the standard normal distribution, for a 95 % interval


class Iteration(Protocol):
    """A timed action: prepared, called and finished once per iteration."""

    def ready(self) -> None:
        """Prepare, before the clocks are read."""
        ...

    def call(self) -> None:
        """Run the timed action."""
        ...

    def done(self) -> None:
        """Finish, after the clocks are read."""
        ...


class CallOfCopies:
    """A function called with deep copies of its arguments."""

    def __init__(self, function: Callable[..., Any], arguments: list[Any]) -> None:
        self.function = function
        self.original = arguments
        self.arguments = arguments
        self.result: Any = None

    def ready(self) -> None:
        """Copy the arguments."""
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(DEEPEST)
        self.arguments = copy.deepcopy(self.original)
        sys.setrecursionlimit(limit)

    def call(self) -> None:
        """Call the function."""
        self.result = self.function(*self.arguments)

    def done(self) -> None:
        """Do nothing."""


def iterate(iteration: Iteration, times: int) -> dict[str, float]:
    """Time an action repeatedly.

    Returns:
        `cpu_s`, the mean CPU time of an iteration; `low` and `high`, the 95 % interval of the mean
            wall time; all in seconds.
    """
    cpu: list[float] = []
    wall: list[float] = []
    for _ in range(times):
        iteration.ready()
        before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        iteration.call()
        end, after = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
        iteration.done()
        cpu.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
        wall.append(end - start)
    mean = sum(wall) / times
    spread = math.sqrt(sum((each - mean) ** 2 for each in wall) / max(times - 1, 1))
    half = QUANTILE * spread / math.sqrt(times)
    return {"cpu_s": sum(cpu) / times, "low": mean - half, "high": mean + half}
