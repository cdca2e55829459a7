"""Synchronous calls of asynchronous work, from any context.

In a plain program the work runs in the calling thread; in a notebook, whose thread already has a
running loop, in a separate thread. The caller's loop is never replaced.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Any, TypeVar, cast

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
            result = _run(main())
        except BaseException as error:  # noqa: BLE001 - passed on to the caller
            outcome.set_exception(error)
        else:
            outcome.set_result(result)

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
