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
        self._workers = [Worker() for _ in range(self.size)]
        self._idle: SimpleQueue[Worker] = SimpleQueue()
        for worker in self._workers:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(self.size, thread_name_prefix="judge")

    async def call(self, work: Callable[[Worker], T]) -> T:
        """Run blocking work on an idle worker, waiting for one.

        A cancelled call kills its worker's process, so that the thread comes back at once.
        """
        taken: list[Worker] = []

        def task() -> T:
            worker = self._idle.get()
            taken.append(worker)
            try:
                return work(worker)
            finally:
                taken.clear()
                self._idle.put(worker)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, task)
        except asyncio.CancelledError:
            for worker in taken:
                worker.kill()
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
        for worker in self._workers:
            worker.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for worker in self._workers:
            worker.kill()  # one that was just starting
