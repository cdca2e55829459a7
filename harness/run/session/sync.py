"""Synchronous calls of asynchronous work, from any context: one, or many in a pool that stays open.

In a plain program the work runs in the calling thread; in a notebook, whose thread already has a
running loop, in a separate thread. The caller's loop is never replaced. A `WarmPool` has a thread
and a loop of its own, for callers in any thread.
"""

import asyncio
import atexit
import contextvars
import os
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from harness.errors import UsageError
from harness.run.reporter import LOG
from harness.sandbox.executor import Executor, Where
from harness.sandbox.isolation import Isolation
from harness.sandbox.pool import SandboxPool
from harness.text import printable_line

T = TypeVar("T")
LOOK_S = 0.1
Work = Callable[[], Coroutine[Any, Any, T]]


def run(work: Work[T]) -> T:
    """Run the work to completion and return its result.

    An interrupt of the calling thread cancels the work, and is raised when that has ended; in a
    task run by `asyncio.run` it is a CancelledError, as usual there.

    Args:
        work: makes the coroutine, in the thread in which it runs.
    """
    return _in_thread(work) if _is_running() else _run(_alone(work))


def _is_running() -> bool:
    """Whether this thread has a running loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    # With a factory the runner does not change the thread's current loop.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(coroutine)


async def _alone(work: Work[T]) -> T:
    """Do the work; of several errors at once only one is raised."""
    try:
        return await work()
    except BaseExceptionGroup as errors:
        raise first_of(errors) from None


def first_of(error: BaseException) -> BaseException:
    """Return the first error of a group, at any depth."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


def _in_thread(work: Work[T]) -> T:
    outcome: Future[T] = Future()
    under_way: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = []

    async def main() -> T:
        under_way.append((asyncio.get_running_loop(), asyncio.current_task()))
        return await _alone(work)

    def target() -> None:
        try:
            found = _run(main())
        except BaseException as error:  # noqa: BLE001 - passed on to the caller
            outcome.set_exception(error)
        else:
            outcome.set_result(found)

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(target,), name="harness", daemon=True)
    thread.start()
    try:
        return _wait(outcome)
    except (KeyboardInterrupt, asyncio.CancelledError):
        for loop, task in under_way:
            if task is not None:
                with suppress(RuntimeError):  # it has already ended
                    loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise


def _wait(outcome: Future[T]) -> T:
    """Return the result of the work.

    In a loop of `asyncio.run`, an interrupt raises no exception here: it cancels the task, which
    does not notice while it waits.
    """
    task = asyncio.current_task()
    before = 0 if task is None else task.cancelling()
    while not outcome.done():
        wait([outcome], timeout=LOOK_S)
        if task is not None and task.cancelling() > before:
            raise asyncio.CancelledError
    return outcome.result()


@dataclass(frozen=True, slots=True)
class _Open:
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
