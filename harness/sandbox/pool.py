"""A pool of workers that runs judged programs on the machine's cores."""

import asyncio
import heapq
import itertools
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import LifoQueue
from types import TracebackType
from typing import Any, Self, TypeVar

from harness.sandbox.cores import usable_cores
from harness.sandbox.exclusive import Exclusive
from harness.sandbox.execution import Execution, SandboxError, WorkerStoppedError
from harness.sandbox.isolation import Isolation
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker

T = TypeVar("T")


class _Turns:
    """A semaphore: urgent callers first, then first come, first served."""

    def __init__(self, size: int) -> None:
        self._free = size
        self._waiting: list[tuple[bool, int, asyncio.Future[None]]] = []
        self._arrivals = itertools.count()

    async def take(self, *, urgent: bool) -> None:
        if self._free:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (not urgent, next(self._arrivals), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # its turn came at the same time
                self.give_back()
            raise

    def give_back(self) -> None:
        while self._waiting:
            *_, turn = heapq.heappop(self._waiting)
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


class SandboxPool:
    """Fork servers, one per worker, started when needed; an async context manager.

    Args:
        limits: limits of programs passed to `run`.
        workers: number of workers; default: `usable_cores`.
        isolation: isolation of the sandboxes; default: the strongest available.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        workers: int | None = None,
        isolation: Isolation | None = None,
    ) -> None:
        self._limits = limits or Limits()
        self._isolation = isolation
        self._quiet = Exclusive()
        self.size = workers or usable_cores()
        self._workers: set[Worker] = set()
        self._idle: LifoQueue[Worker] = LifoQueue()  # the last one used: its server runs
        for _ in range(self.size):
            self._add()
        self._turns = _Turns(self.size)
        self._threads = ThreadPoolExecutor(self.size, thread_name_prefix="judge")
        self._closed = False

    def _add(self) -> None:
        worker = Worker(self._isolation, self._quiet)
        self._workers.add(worker)
        self._idle.put(worker)

    async def run(
        self,
        program: Program | str,
        stdin: str | bytes = b"",
        *,
        arguments: Sequence[Any] | None = None,
    ) -> Execution:
        """Run a program once, in its own process.

        Args:
            program: the source or a `Program`; if it has an entry point, that is called.
            stdin: input of the program.
            arguments: JSON values to call the entry point with; replace `stdin`.

        Raises:
            SandboxError: the sandbox failed twice.
            IsolationError: no sandbox is available.
            WorkerStoppedError: the pool was closed meanwhile.
        """
        asked = Program(program) if isinstance(program, str) else program
        if arguments is not None:
            stdin = "\n".join(json.dumps(argument) for argument in arguments)

        def work(worker: Worker) -> Execution:
            try:
                return worker.run(asked, [stdin], self._limits)[0]
            except SandboxError:  # retry on a fresh one
                return worker.run(asked, [stdin], self._limits)[0]

        return await self.call(work)

    async def call(
        self,
        work: Callable[[Worker], T],
        *,
        urgent: bool = False,
        queued: Callable[[float], None] | None = None,
    ) -> T:
        """Run blocking work on the next idle worker; urgent work goes first.

        A cancelled call stops its worker, which another replaces, so that the thread is free at
        once, however the work handles failures.

        Args:
            work: a function of the worker.
            urgent: whether a model waits for the result.
            queued: called with the seconds the work waited for a worker.

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

        asked = time.monotonic()
        await self._turns.take(urgent=urgent)
        try:
            if queued is not None:
                queued(time.monotonic() - asked)
            if self._closed:
                raise WorkerStoppedError
            return await asyncio.get_running_loop().run_in_executor(self._threads, task)
        except asyncio.CancelledError:
            for worker in taken:
                worker.stop()
            raise
        finally:
            self._turns.give_back()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await asyncio.to_thread(self.close)
        except RuntimeError:  # not enough memory for a thread
            self.close()

    def close(self) -> None:
        """End every worker, even one at work."""
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in tuple(self._workers):
            worker.stop()
        self._threads.shutdown(wait=True)
