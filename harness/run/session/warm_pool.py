"""A pool of workers that stays open, with a thread and a loop of its own."""

import asyncio
import atexit
import os
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, NamedTuple

from harness.errors import UsageError
from harness.run.reporter import LOG
from harness.run.session.sync import T, first_of
from harness.sandbox.executor import Executor, Where
from harness.sandbox.isolation import Isolation
from harness.sandbox.pool import SandboxPool
from harness.text import printable_line


class _Open(NamedTuple):
    """The pool, its loop, and the event that ends both."""

    pool: Executor
    loop: asyncio.AbstractEventLoop
    stop: asyncio.Event


def _stop(opened: Future[_Open]) -> None:
    """Close an opened pool, in its own thread."""
    with suppress(Exception):  # it was never opened, or its loop has ended
        there = opened.result()
        there.loop.call_soon_threadsafe(there.stop.set)


class WarmPool:
    """A pool that opens with the first piece of work and stays open until closed.

    Args:
        where: the executor.
        isolation: isolation of its workers.
        owner: name in messages.
    """

    def __init__(self, where: Where, isolation: Isolation, owner: str = "grader") -> None:
        self._owner = owner
        self._where = where
        self._isolation = isolation
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._opened: Future[_Open] = Future()
        self._closed = False
        self._process = os.getpid()

    def begin(self, work: Callable[[Executor], Coroutine[Any, Any, T]]) -> Future[T]:
        """Start a piece of work; cancelling the returned future cancels it.

        Raises:
            UsageError: the pool is closed, now or while the work goes on, or was opened before this
                process was forked.
            HarnessError: the pool cannot be opened.
        """
        with self._lock:
            if self._closed:
                raise self._is_closed()
            if self._process != os.getpid():
                raise UsageError(
                    f"the {self._owner} does not survive a fork: make one in each process"
                )
            if self._thread is None:
                atexit.register(self.close)
                self._thread = threading.Thread(target=self._live, name="grader", daemon=True)
                self._thread.start()
        there = self._opened.result()

        async def guarded() -> T:
            try:
                return await work(there.pool)
            except asyncio.CancelledError:
                if self._closed:
                    raise self._is_closed() from None
                raise
            except BaseExceptionGroup as errors:
                raise first_of(errors) from None

        with self._lock:  # what is begun before `close` is cancelled by it
            if self._closed:
                raise self._is_closed()
            return asyncio.run_coroutine_threadsafe(guarded(), there.loop)

    def _is_closed(self) -> UsageError:
        return UsageError(f"the {self._owner} is closed")

    def close(self) -> None:
        """Close the pool, cancelling any work under way."""
        self._end()
        if self._thread is not None and self._process == os.getpid():
            self._thread.join()

    def end_with(self, owner: object) -> None:
        """Close the pool when an object is no longer used, or at the end of the program.

        Where the object is collected, nothing is waited for: a collection may interrupt a thread
        that holds what the pool's own thread waits for.
        """
        weakref.finalize(owner, self._end).atexit = False

    def _end(self) -> None:
        with self._lock:
            self._closed = True
        if self._thread is not None and self._process == os.getpid():
            self._opened.add_done_callback(_stop)

    def _live(self) -> None:
        try:
            with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
                runner.run(self._open_until_closed())
        except BaseException as error:  # noqa: BLE001 - passed on to the caller
            if not self._opened.done():
                self._opened.set_exception(error)
        finally:
            atexit.unregister(self.close)

    async def _open_until_closed(self) -> None:
        opening = self._where.open(self._isolation, lambda line: LOG.notice(printable_line(line)))
        pool, stop = await opening.__aenter__(), asyncio.Event()
        try:
            self._opened.set_result(_Open(pool, asyncio.get_running_loop(), stop))
            await stop.wait()
            under_way = asyncio.all_tasks() - {asyncio.current_task()}
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)
        finally:
            try:
                await opening.__aexit__(None, None, None)
            except RuntimeError:  # the interpreter is exiting, and cannot start threads
                if isinstance(pool, SandboxPool):
                    pool.close()
