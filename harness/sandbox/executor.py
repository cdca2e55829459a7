"""Executors, which run CPU-heavy work on this machine or on several.

The driver (the process the user started) keeps everything that must exist only once per run: the
run directory, the budget, the limit on requests in flight, the transcripts, the keys. So resuming,
budgets, rate limits and interrupts work the same wherever the work is done. The driver also holds
the conversations: a turn costs it about 0.5 ms of CPU (`tests/benchmarks/loop.py`), and a round
trip to another machine 0.7 to 1.1 ms (`tests/benchmarks/scale.py`).

The expensive work is distributed: public and hidden tests, programs a model wants to run,
references, calibrations. A piece of work is a function of a `Worker`, a sandbox on the machine
that runs it. It brings all its data and leaves only its return value. So a piece that is lost with
its machine is repeated on another, and nothing is counted twice: the caller gets one result.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar

from harness.errors import HarnessError, UsageError
from harness.registry import EXECUTORS, feature
from harness.sandbox.isolation import Isolation

if TYPE_CHECKING:
    from harness.sandbox.worker import Worker

T = TypeVar("T")
ExecutorName = Literal["local", "ray"]


class ExecutorError(HarnessError):
    """No machine is available for the work."""


@dataclass(frozen=True, slots=True)
class Shared(Generic[T]):
    """Data needed by many pieces of work; large data is sent to a machine only once.

    Data counts as the same if it is the same object.
    """

    value: T


class Executor(Protocol):
    """Runs pieces of work in sandboxes; an asynchronous context manager.

    `harness.sandbox.pool.SandboxPool` uses this machine's cores; the others are in
    `harness.registry.EXECUTORS`.
    """

    @property
    def size(self) -> int:
        """Number of pieces it can run at a time; may change as machines come and go."""
        ...

    async def call(
        self,
        work: "Callable[[Worker], T]",
        *,
        urgent: bool = False,
        queued: Callable[[float], None] | None = None,
    ) -> T:
        """Run a piece of work on the next free worker.

        Args:
            work: a picklable function with a picklable result. It may run more than once, on
                several machines; changes to its own state are lost.
            urgent: whether to run before non-urgent work, because a model waits for the result.
            queued: called with the seconds the work waited for a worker.

        Raises:
            SandboxError: the sandbox failed, or every machine that got the work was lost.
            ExecutorError: no machine is left.
            Exception: whatever the work raised.
        """
        ...


@dataclass(frozen=True, slots=True)
class Where:
    """Choice of an executor.

    Attributes:
        executor: the executor's name.
        ray_address: the cluster's address: `HOST:PORT`, or `auto` (the default) for the cluster
            this machine belongs to.
        workers: workers per machine; None for one per core.
    """

    executor: ExecutorName = "local"
    ray_address: str | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        if self.ray_address is not None and self.executor != "ray":
            raise UsageError("--set ray_address goes with --set executor=ray")

    def open(
        self, isolation: Isolation, say: Callable[[str], None]
    ) -> AbstractAsyncContextManager[Executor]:
        """Return the executor, not yet entered.

        Args:
            isolation: isolation of the sandboxes on this machine; other machines must be at least
                as strict.
            say: called with a line about each machine that is refused or lost.

        Raises:
            UsageError: Ray is not installed.
        """
        if self.executor == "local":
            from harness.sandbox.pool import SandboxPool

            return SandboxPool(workers=self.workers, isolation=isolation)
        executor = feature(EXECUTORS[self.executor], f"--set executor={self.executor}")
        return executor(
            self.ray_address or "auto", workers=self.workers, least=isolation.level, say=say
        )
