"""Work on the executor: limited wait, cancellation and metrics."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.features.serve.metrics import Metrics
from harness.features.serve.refusal import Refusal
from harness.sandbox.executor import Executor, ExecutorError
from harness.sandbox.program import WorkerStoppedError
from harness.sandbox.worker import Worker

T = TypeVar("T")
LONGEST_RETRY_S = 60.0


@dataclass(slots=True)
class Workers:
    """The executor, with counts of waiting and running work.

    Attributes:
        pool: executor of the work.
        metrics: metrics of each piece of work.
        waiting, running: numbers of pieces of work.
    """

    pool: Executor
    metrics: Metrics
    waiting: int = 0
    running: int = 0

    @property
    def retry_s(self) -> float:
        """Estimated seconds until a worker is free."""
        wait = self.waiting * self.metrics.usual_s / max(1, self.pool.size)
        return min(max(1.0, wait), LONGEST_RETRY_S)

    async def do(self, work: Callable[[Worker], T], wait_s: float) -> T:
        """Run a piece of work.

        Args:
            work: function for `Executor.call`.
            wait_s: seconds to wait for a free worker.

        Raises:
            Refusal: 504, no worker was free in time; 503, the executor is gone.
            SandboxError: the sandbox failed.
        """
        began: asyncio.Future[float] = asyncio.get_running_loop().create_future()

        def begin(_: float) -> None:
            if not began.done():
                began.set_result(time.monotonic())

        asked = time.monotonic()
        self.waiting += 1
        task = asyncio.ensure_future(self.pool.call(work, queued=begin))
        try:
            async with _ended(task):
                await asyncio.wait(
                    {task, began}, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED
                )
                self.metrics.waited.observe(time.monotonic() - asked)
                if not began.done() and not task.done():
                    what = f"no worker was free within {wait_s:g} s; ask again"
                    raise Refusal(504, what, self.retry_s)
                self.waiting -= 1
                self.running += 1
                try:
                    return await self._finish(task, began)
                finally:
                    self.running -= 1
                    self.waiting += 1
        finally:
            self.waiting -= 1

    async def _finish(self, task: "asyncio.Future[T]", began: "asyncio.Future[float]") -> T:
        start = began.result() if began.done() else time.monotonic()
        failed = True
        try:
            found = await task
            failed = False
        except WorkerStoppedError:
            raise Refusal(503, "the server is shutting down; use another") from None
        except ExecutorError as error:
            raise Refusal(503, str(error), LONGEST_RETRY_S) from None
        except asyncio.CancelledError:
            failed = False
            raise
        finally:
            self.metrics.done(time.monotonic() - start, failed=failed)
        return found


@asynccontextmanager
async def _ended(task: "asyncio.Future[Any]") -> AsyncGenerator[None]:
    """Cancel a task at the end of the block."""
    try:
        yield
    finally:
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


class LeftError(Exception):
    """The client has closed the connection."""


async def while_there(answer: Coroutine[Any, Any, T], left: Coroutine[Any, Any, None]) -> T:
    """Return the answer to a request, unless the client leaves first.

    Args:
        answer: coroutine that makes the answer; cancelled if the client leaves.
        left: coroutine that ends when the client leaves.

    Raises:
        LeftError: the client left.
    """
    making, leaving = asyncio.ensure_future(answer), asyncio.ensure_future(left)
    async with _ended(making), _ended(leaving):
        await asyncio.wait({making, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if making.done():
            return making.result()
        raise LeftError
