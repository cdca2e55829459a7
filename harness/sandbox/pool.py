"""A pool of workers: judged work spread over the machine's cores."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from types import TracebackType
from typing import Self, TypeVar

from harness.sandbox.worker import Worker

T = TypeVar("T")


class SandboxPool:
    """Fork servers, one a worker, started when first needed; an asynchronous context manager.

    Args:
        workers: how many run at a time; default: the cores this process may use.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.size = workers or len(os.sched_getaffinity(0))
        self._workers: set[Worker] = set()
        self._idle: SimpleQueue[Worker] = SimpleQueue()
        for _ in range(self.size):
            self._add()
        self._threads = ThreadPoolExecutor(self.size, thread_name_prefix="judge")

    def _add(self) -> None:
        worker = Worker()
        self._workers.add(worker)
        self._idle.put(worker)

    async def call(self, work: Callable[[Worker], T]) -> T:
        """Run blocking work on an idle worker, waiting for one.

        A cancelled call stops its worker, so that the thread comes back at once whatever the work
        does about failures, and another worker takes its place.

        Raises:
            WorkerStoppedError: the pool was closed meanwhile.
        """
        taken: list[Worker] = []

        def task() -> T:
            worker = self._idle.get()
            taken.append(worker)
            try:
                return work(worker)
            finally:
                taken.clear()
                if worker.stopped:
                    self._workers.discard(worker)
                    self._add()
                else:
                    self._idle.put(worker)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, task)
        except asyncio.CancelledError:
            for worker in taken:
                worker.stop()
            raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """End every worker, whatever it is doing."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in tuple(self._workers):
            worker.stop()
        self._threads.shutdown(wait=True)
