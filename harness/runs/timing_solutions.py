"""Timing solutions that somebody has, as many at a time as there are workers."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.efficiency.measurement import Scales, unmeasured
from harness.efficiency.scale import Efficiency
from harness.errors import DataError
from harness.problem import Problem
from harness.sandbox.executor import Executor
from harness.sandbox.program import SandboxError


@dataclass(frozen=True, slots=True)
class Timed:
    """A solution to be timed, if it passes; `number` is the caller's name for it."""

    number: int
    problem: Problem
    code: str
    solved: bool


async def time_all(
    pool: Executor,
    solutions: Sequence[Timed],
    scales: Scales,
    keep: Callable[[int, Efficiency], None],
) -> None:
    """Time solutions; what infrastructure keeps from being timed is said to be so.

    Args:
        pool: where they run.
        solutions: those of a problem should follow one another.
        scales: of the problems.
        keep: is given each as it is timed.
    """
    rest = iter(solutions)

    async def take_turns() -> None:
        for each in rest:
            try:
                found = await scales.measure(each.problem, each.code, pool, solved=each.solved)
            except (DataError, SandboxError) as error:
                found = unmeasured(scales.timing, error)
            keep(each.number, found)

    async with asyncio.TaskGroup() as group:
        for _ in range(pool.size):
            group.create_task(take_turns())
