"""Which machine takes the next piece of work."""

import asyncio

import pytest

from harness.features.cluster.machine_slots import MachineSlots
from harness.sandbox.executor import ExecutorError


async def test_the_least_busy_machine_is_next() -> None:
    slots: MachineSlots[str] = MachineSlots()
    slots.add("small", 1)
    slots.add("large", 3)
    taken = [await slots.take() for _ in range(4)]
    assert sorted(taken) == ["large", "large", "large", "small"]
    assert slots.size == 4
    slots.give_back("small")
    assert await slots.take() == "small"


async def test_urgent_work_goes_first_then_who_came_first() -> None:
    slots: MachineSlots[str] = MachineSlots()
    slots.add("one", 1)
    await slots.take()
    order: list[str] = []

    async def work(name: str, *, urgent: bool) -> None:
        machine = await slots.take(urgent=urgent)
        order.append(name)
        slots.give_back(machine)

    tasks = []
    for name, urgent in (("a", False), ("b", False), ("c", True)):
        tasks.append(asyncio.create_task(work(name, urgent=urgent)))
        await asyncio.sleep(0)
    slots.give_back("one")
    await asyncio.gather(*tasks)
    assert order == ["c", "a", "b"]


async def test_a_waiting_call_takes_a_new_machine_and_none_that_is_gone() -> None:
    slots: MachineSlots[str] = MachineSlots()
    slots.add("first", 1)
    await slots.take()
    waiting = asyncio.create_task(slots.take())
    await asyncio.sleep(0)
    assert slots.remove("first")
    slots.give_back("first")
    await asyncio.sleep(0)
    assert not waiting.done()
    slots.add("second", 1)
    assert await waiting == "second"
    assert not slots.remove("first")


async def test_a_slot_given_to_one_who_was_cancelled_is_free_again() -> None:
    slots: MachineSlots[str] = MachineSlots()
    slots.add("one", 1)
    await slots.take()
    waiting = asyncio.create_task(slots.take())
    await asyncio.sleep(0)
    slots.give_back("one")  # the slot is given now, and taken up a turn of the loop later
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await asyncio.wait_for(slots.take(), 60) == "one"


async def test_where_no_machine_is_to_come_who_waits_is_told_until_one_comes() -> None:
    slots: MachineSlots[str] = MachineSlots()
    waiting = asyncio.create_task(slots.take())
    await asyncio.sleep(0)
    slots.close("all are gone")
    for asked in (waiting, slots.take()):
        with pytest.raises(ExecutorError, match="all are gone"):
            await asked
    slots.add("late", 1)
    assert await slots.take() == "late"
