"""Slots of workers on each machine."""

import asyncio
import heapq
import itertools
from operator import itemgetter
from typing import Generic, TypeVar

from harness.sandbox.executor import ExecutorError

M = TypeVar("M")


class MachineSlots(Generic[M]):
    """Slots on machines that come and go; the least busy machine is used first.

    If all slots are taken, urgent pieces go first, then those that have waited longest.
    """

    def __init__(self) -> None:
        self._sizes: dict[M, int] = {}
        self._taken: dict[M, int] = {}
        self._waiting: list[tuple[bool, int, asyncio.Future[M]]] = []
        self._arrivals = itertools.count()
        self._closed: str | None = None

    @property
    def size(self) -> int:
        """Number of slots on all machines."""
        return sum(self._sizes.values())

    def add(self, machine: M, slots: int) -> None:
        """Add a machine with its slots."""
        self._closed = None
        self._sizes[machine], self._taken[machine] = slots, 0
        self._admit()

    def remove(self, machine: M) -> bool:
        """Remove a machine; return whether it was present."""
        self._taken.pop(machine, None)
        return self._sizes.pop(machine, None) is not None

    def close(self, why: str) -> None:
        """Fail waiting and later calls of `take` until a machine is added."""
        self._closed = why
        while self._waiting:
            *_, turn = heapq.heappop(self._waiting)
            if not turn.done():
                turn.set_exception(ExecutorError(why))

    async def take(self, *, urgent: bool = False) -> M:
        """Wait for a slot and return its machine; the caller must give the slot back.

        Raises:
            ExecutorError: the slots are closed, as no machine is left.
        """
        if self._closed is not None:
            raise ExecutorError(self._closed)
        machine = self._free()
        if machine is not None:
            self._taken[machine] += 1
            return machine
        turn: asyncio.Future[M] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (not urgent, next(self._arrivals), turn))
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.give_back(turn.result())  # the slot was assigned before the cancellation
            raise

    def give_back(self, machine: M) -> None:
        """Free a slot, unless its machine is gone."""
        if machine in self._taken:
            self._taken[machine] -= 1
            self._admit()

    def _admit(self) -> None:
        while self._waiting:
            machine = self._free()
            if machine is None:
                return
            *_, turn = heapq.heappop(self._waiting)
            if not turn.done():
                self._taken[machine] += 1
                turn.set_result(machine)

    def _free(self) -> M | None:
        """Return the machine with the smallest share taken; None if all are full."""
        shares = ((self._taken[each] / size, each) for each, size in self._sizes.items())
        share, least = min(shares, key=itemgetter(0), default=(1.0, None))
        return least if share < 1 else None
