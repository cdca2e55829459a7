"""Workers side by side."""

import asyncio
import os
import threading
import time
from collections.abc import Callable
from typing import Protocol

import pytest
from processes import is_alive, state

from harness.grading.judge import judge
from harness.grading.task import Task
from harness.problem import TestCase
from harness.sandbox.execution import Ending, Execution, WorkerStoppedError
from harness.sandbox.limits import Limits
from harness.sandbox.pool import SandboxPool
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker

PATIENCE_S = 60.0
HOURS = Limits(cpu_s=10_000)
PAUSE_S = 5  # longer than the wall limit of what is paused, which a busy machine must not reach


def program(code: str) -> Callable[[Worker], Execution]:
    return lambda worker: worker.run(Program(code), [b""], HOURS)[0]


class Marks(Protocol):
    """See the fixture."""

    code: str

    def wait(self) -> int: ...
    def are_there(self) -> bool: ...


def gone(process: int) -> bool:
    return not is_alive(process)


def ends(process: int) -> bool:
    end = time.monotonic() + PATIENCE_S
    while is_alive(process) and time.monotonic() < end:
        time.sleep(0.005)
    return gone(process)


async def test_programs_run_at_the_same_time(marks: Marks) -> None:
    async with SandboxPool(workers=2) as pool:
        calls = [
            asyncio.create_task(pool.call(program(marks.code + "while True: pass")))
            for _ in range(2)
        ]
        first, second = [await asyncio.to_thread(marks.wait) for _ in calls]
        assert first != second
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)


def becomes(process: int, wanted: str) -> bool:
    end = time.monotonic() + PATIENCE_S
    while state(process) != wanted and time.monotonic() < end:
        pass
    return state(process) == wanted


@pytest.mark.thorough
async def test_the_others_pause_while_one_is_alone(marks: Marks) -> None:
    """In the midst of a test; what they have left of their limits is not touched."""
    short = Limits(cpu_s=0.6, own_wall_s=4.0)
    spin = "import time\nwhile time.process_time() < 0.3: pass\nprint('done')"
    sleeper = Program(f"{marks.code}import time\ntime.sleep({PAUSE_S})")

    def beside(worker: Worker) -> tuple[list[Execution], float]:
        begun = time.monotonic()
        return worker.run(Program(marks.code + spin), [b"", b""], short), time.monotonic() - begun

    def alone(worker: Worker) -> bool:
        return worker.run(sleeper, [b""], HOURS, alone=True)[0].ending is Ending.FINISHED

    async with SandboxPool(workers=3) as pool:
        first = asyncio.create_task(pool.call(beside))
        judged = await asyncio.to_thread(marks.wait)
        second = asyncio.create_task(pool.call(alone))
        quiet = await asyncio.to_thread(marks.wait)
        assert await asyncio.to_thread(becomes, judged, "T")
        third = asyncio.create_task(pool.call(beside))
        assert await second
        assert ends(quiet)
        await asyncio.to_thread(marks.wait)
        executions, seconds = await first
        others, _ = await third
        assert [each.ending for each in executions + others] == [Ending.FINISHED] * 4
        assert sum(each.wall_s for each in executions) <= seconds - PAUSE_S


async def test_who_waits_to_be_alone_or_for_that_one_is_not_waited_for_when_cancelled(
    marks: Marks,
) -> None:
    def alone(worker: Worker) -> Execution:
        return worker.run(Program(marks.code + "while True: pass"), [b""], HOURS, alone=True)[0]

    async with SandboxPool(workers=3) as pool:
        first = asyncio.create_task(pool.call(alone))
        process = await asyncio.to_thread(marks.wait)
        waiting = [
            asyncio.create_task(pool.call(work)) for work in (alone, program("while True: pass"))
        ]
        await asyncio.sleep(0)
        for call in waiting:
            call.cancel()
        ended = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), PATIENCE_S)
        assert [type(each) for each in ended] == [asyncio.CancelledError] * 2
        assert not gone(process)
        first.cancel()


async def test_no_more_run_than_there_are_workers() -> None:
    running, most, lock = 0, 0, threading.Lock()

    def work(worker: Worker) -> Worker:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        program("")(worker)
        with lock:
            running -= 1
        return worker

    async with SandboxPool(workers=2) as pool:
        workers = await asyncio.gather(*(pool.call(work) for _ in range(12)))
    assert most <= 2
    assert len(set(workers)) <= 2


async def test_what_the_work_raises_reaches_the_caller_and_the_worker_goes_on() -> None:
    def fail(_: Worker) -> None:
        raise LookupError

    async with SandboxPool(workers=1) as pool:
        with pytest.raises(LookupError):
            await pool.call(fail)
        assert (await pool.call(program("print(1)"))).stdout == b"1\n"


async def test_the_default_is_a_worker_for_each_core_at_hand() -> None:
    async with SandboxPool() as pool:
        assert pool.size == len(os.sched_getaffinity(0))


async def test_a_cancelled_call_ends_its_program_and_frees_its_worker(marks: Marks) -> None:
    async with SandboxPool(workers=1) as pool:
        call = asyncio.create_task(pool.call(program(marks.code + "while True: pass")))
        process = await asyncio.to_thread(marks.wait)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert ends(process)
        after = await asyncio.wait_for(pool.call(program("print(1)")), PATIENCE_S)
        assert after.stdout == b"1\n"


async def test_a_cancelled_call_is_not_tried_again_by_the_judge(marks: Marks) -> None:
    """The judge repeats what a sandbox failed at; nobody waits for this."""
    tests = [TestCase(input="", output="", public=True)] * 3
    endless = Task(Program(marks.code + "while True: pass"), tests, HOURS)
    async with SandboxPool(workers=1) as pool:
        call = asyncio.create_task(pool.call(lambda worker: judge(worker, endless)))
        await asyncio.to_thread(marks.wait)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(pool.call(program("print(1)")), PATIENCE_S)
    assert not marks.are_there()


async def test_a_call_cancelled_while_it_waits_never_runs(marks: Marks) -> None:
    async with SandboxPool(workers=1) as pool:
        first = asyncio.create_task(pool.call(program(marks.code + "while True: pass")))
        await asyncio.to_thread(marks.wait)
        ran = threading.Event()
        second = asyncio.create_task(pool.call(lambda _: ran.set()))
        await asyncio.sleep(0)  # it has been handed in
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        await pool.call(program(""))
        assert not ran.is_set()


async def test_closing_ends_what_runs_and_leaves_no_process(marks: Marks) -> None:
    servers: list[int | None] = []

    def endless(worker: Worker) -> Execution:
        worker.run(Program(""), [b""], HOURS)
        servers.append(worker.process_id)
        return program(marks.code + "while True: pass")(worker)

    async with SandboxPool(workers=2) as pool:
        calls = [asyncio.create_task(pool.call(endless)) for _ in range(2)]
        judged = [await asyncio.to_thread(marks.wait), await asyncio.to_thread(marks.wait)]
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [WorkerStoppedError] * 2
    assert len(servers) == 2
    assert all(gone(server) for server in servers if server is not None)
    assert all(ends(process) for process in judged), "without namespaces a moment after its server"


async def test_closing_ends_calls_that_wait_too(marks: Marks) -> None:
    async with SandboxPool(workers=1) as pool:
        code = marks.code + "while True: pass"
        calls = [asyncio.create_task(pool.call(program(code))) for _ in range(5)]
        await asyncio.to_thread(marks.wait)
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert all(
        isinstance(outcome, WorkerStoppedError | asyncio.CancelledError) for outcome in outcomes
    )


async def test_nothing_is_started_that_is_not_needed() -> None:
    async with SandboxPool(workers=2) as pool:
        worker = await pool.call(lambda worker: worker)
        assert worker.process_id is None


async def test_urgent_work_goes_before_what_waits() -> None:
    order: list[str] = []
    async with SandboxPool(workers=1) as pool:
        release = threading.Event()
        begun = asyncio.Event()
        loop = asyncio.get_running_loop()

        def hold(_: Worker) -> None:
            loop.call_soon_threadsafe(begun.set)
            release.wait(PATIENCE_S)

        holding = asyncio.create_task(pool.call(hold))
        await begun.wait()
        calls = [
            asyncio.create_task(pool.call(lambda _, name=name: order.append(name), urgent=urgent))
            for name, urgent in (("first", False), ("second", False), ("urgent", True))
        ]
        await asyncio.sleep(0)  # each of them has taken its place in the queue
        release.set()
        await asyncio.gather(holding, *calls)
    assert order == ["urgent", "first", "second"]


async def test_who_leaves_the_queue_keeps_nobody_waiting() -> None:
    async with SandboxPool(workers=1) as pool:
        release = threading.Event()
        begun = asyncio.Event()
        loop = asyncio.get_running_loop()

        def hold(_: Worker) -> None:
            loop.call_soon_threadsafe(begun.set)
            release.wait(PATIENCE_S)

        holding = asyncio.create_task(pool.call(hold))
        await begun.wait()
        leaves = asyncio.create_task(pool.call(lambda _: "never"))
        stays = asyncio.create_task(pool.call(lambda _: "done"))
        await asyncio.sleep(0)
        leaves.cancel()
        release.set()
        await holding
        assert await asyncio.wait_for(stays, PATIENCE_S) == "done"
        assert await asyncio.wait_for(pool.call(lambda _: "again"), PATIENCE_S) == "again"


async def test_what_waits_for_a_worker_is_told_how_long() -> None:
    held, waiting_times = threading.Event(), list[float]()

    def hold(_worker: Worker) -> bool:
        return held.wait(PATIENCE_S)

    async with SandboxPool(workers=1) as pool:
        first = asyncio.create_task(pool.call(hold))
        await asyncio.sleep(0)
        second = asyncio.create_task(pool.call(lambda _worker: None, queued=waiting_times.append))
        await asyncio.sleep(0)
        begun = time.monotonic()
        await asyncio.sleep(0.2)
        assert waiting_times == []
        least = time.monotonic() - begun
        held.set()
        assert await first
        await second
    (waited,) = waiting_times
    assert least <= waited < PATIENCE_S
