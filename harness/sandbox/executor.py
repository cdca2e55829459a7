"""Where the work that costs CPU is done: on this machine, or on many.

Of a run, the driver (the process that was started) keeps all that there may be only one of: the run
directory, the budget, the places among the requests in flight, the journals, the keys. So resuming,
budgets, rate limits and interrupts are the same wherever else work is done. It also has the
conversations: a turn costs it about 0.5 ms of CPU (`tests/benchmarks/loop.py`), sending anything to
another machine and back 0.7 to 1.1 ms (`tests/benchmarks/scale.py`).

What is spread is what costs: public and hidden tests, programs that a model wants to be run,
references, calibrations. Each is a piece of work, a function of a `Worker`, which is a sandbox on
the machine that the piece came to. It brings all data that it needs and leaves nothing behind but
what it returns. So a piece that is lost with its machine is done again on another, and nothing is
counted twice: its caller hears of one outcome.
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
    """There is no machine left, or none to begin with, that work could be done on."""


@dataclass(frozen=True, slots=True)
class Shared(Generic[T]):
    """Data that many pieces of work need; a machine is sent them once, if they are large.

    The same data are recognised by being the same object.
    """

    value: T


class Executor(Protocol):
    """Does pieces of work in sandboxes; an asynchronous context manager.

    `harness.sandbox.pool.SandboxPool` uses this machine's cores; `harness.registry.EXECUTORS` has
    the others.
    """

    @property
    def size(self) -> int:
        """How many pieces it has use for at a time; may change while machines come and go."""
        ...

    async def call(
        self,
        work: "Callable[[Worker], T]",
        *,
        urgent: bool = False,
        queued: Callable[[float], None] | None = None,
    ) -> T:
        """Do a piece of work on a worker that is free, waiting for one.

        Args:
            work: can be pickled with what it holds, and so can what it returns. It may be done more
                than once, on several machines; what it changes of itself is lost.
            urgent: goes before what is not: a model waits for it.
            queued: is told how many seconds the work waited for a worker.

        Raises:
            SandboxError: the sandbox failed, or every machine that it came to was lost.
            ExecutorError: no machine is left.
            Exception: what the work raised.
        """
        ...


@dataclass(frozen=True, slots=True)
class Where:
    """Which executor.

    Attributes:
        executor: its name.
        ray_address: of the cluster: `HOST:PORT`, or `auto` for the one that this machine is part
            of, which is the default.
        workers: how many on a machine; None for one a core.
    """

    executor: ExecutorName = "local"
    ray_address: str | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        if self.ray_address is not None and self.executor != "ray":
            raise UsageError("--ray-address goes with --executor ray")

    def open(
        self, isolation: Isolation, say: Callable[[str], None]
    ) -> AbstractAsyncContextManager[Executor]:
        """The executor, to be entered.

        Args:
            isolation: how well the sandboxes are to hold here; on another machine at least so well.
            say: is told, in a line, of machines that are refused or lost.

        Raises:
            UsageError: Ray is not installed.
        """
        if self.executor == "local":
            from harness.sandbox.pool import SandboxPool

            return SandboxPool(workers=self.workers, isolation=isolation)
        executor = feature(EXECUTORS[self.executor], f"--executor {self.executor}")
        return executor(
            self.ray_address or "auto", workers=self.workers, least=isolation.level, say=say
        )
