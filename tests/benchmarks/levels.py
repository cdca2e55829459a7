"""The isolation levels that are measured: the one place that names them."""

from collections.abc import Callable
from dataclasses import dataclass

from harness.sandbox.isolation import CANDIDATES, UNSAFE, Isolation
from harness.sandbox.pool import SandboxPool
from harness.sandbox.worker import Worker


@dataclass(frozen=True, slots=True)
class Level:
    """An isolation level, and how a worker and a pool of so many of it are made."""

    name: str
    worker: Callable[[], Worker]
    pool: Callable[[int], SandboxPool]


def _level(isolation: Isolation) -> Level:
    return Level(
        str(isolation),
        lambda: Worker(isolation),
        lambda workers: SandboxPool(workers=workers, isolation=isolation),
    )


LEVELS = {level.name: level for level in map(_level, (*CANDIDATES, UNSAFE))}
"""From the strongest; one that cannot be had here is skipped where it is measured."""
