"""Mercury's protocol, as its README has it: so many iterations, by this process's own clocks.

The CPU time of an iteration is what `getrusage` says of user and system together, its interval that
of the wall times: it says nothing of the CPU time that is scored, and is here because the protocol
has it. The clocks are in the process that they time: whoever bends them is believed.
"""

import copy
import math
import resource
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

DEEPEST = 1_000_000  # nodes of a linked list that are copied one within the other
QUANTILE = 1.96  # of the standard normal distribution, for 95 %


class Iteration(Protocol):
    """What is timed: it is made ready, called and looked after once an iteration."""

    def ready(self) -> None:
        """Before the clocks are read."""
        ...

    def call(self) -> None:
        """Between the readings."""
        ...

    def done(self) -> None:
        """After them."""
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
        """Nothing is left to do."""


def iterate(iteration: Iteration, times: int) -> dict[str, float]:
    """Time something over and over.

    Returns:
        `cpu_s`, the mean of an iteration's CPU time; `low` and `high`, the 95 % interval of the
        mean of its wall times; all in seconds.
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
