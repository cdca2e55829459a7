"""Nodes of a Ray cluster: the actor on each, the choice of the next one, and work as bytes.

The actor's process receives none of the driver's environment variables, and so no API key.

Work and outcomes are pickles between processes of one cluster, which trust each other. Output of a
judged program is in them as text and numbers, never as a pickle.
"""

import asyncio
import heapq
import io
import itertools
import pickle
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Generic, TypeVar, cast

from harness.sandbox.executor import ExecutorError, Shared
from harness.sandbox.isolation import IsolationError, Level
from harness.sandbox.pool import SandboxPool
from harness.sandbox.program import SandboxError
from harness.sandbox.strongest import choose
from harness.version import __version__

LARGE = 32_768
"""Bytes from which shared data are sent to a machine only once."""

M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class Raised:
    """The outcome of work that raised an exception."""

    error: Exception


def pack(
    work: Callable[..., Any],
    keep: Callable[[object, bytes], Any],
    kept: Callable[[object], Any | None],
    pickler: type[pickle.Pickler] = pickle.Pickler,
) -> tuple[bytes, list[Any]]:
    """Serialize work; return the bytes and references to large shared data.

    Args:
        work: the work with its data.
        keep: stores an object's large data where every machine can fetch them; returns a reference.
        kept: returns the reference to an object's data stored before, or None.
        pickler: class that can pickle the work.

    Raises:
        DataError: data that are loaded on sending cannot be read.
    """
    places: list[Any] = []

    def persistent(value: object) -> Any:
        if not isinstance(value, Shared):
            return None
        shared = cast("Shared[Any]", value).value
        place = kept(shared)
        if place is None:
            data = _dumps(shared, pickler)
            if len(data) < LARGE:
                return data
            place = keep(shared, data)
        places.append(place)
        return len(places) - 1

    file = io.BytesIO()

    class Packer(pickler):
        def persistent_id(self, obj: Any) -> Any:
            return persistent(obj)

    Packer(file, pickle.HIGHEST_PROTOCOL).dump(work)
    return file.getvalue(), places


def unpack(body: bytes, parts: Sequence[bytes]) -> Callable[..., Any]:
    """Restore work that `pack` serialized.

    Args:
        body: the bytes.
        parts: the large shared data, in the order of their references.
    """
    return _Unpacker(io.BytesIO(body), parts).load()


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, parts: Sequence[bytes]) -> None:
        super().__init__(file)
        self._parts = parts

    def persistent_load(self, pid: bytes | int) -> Shared[Any]:
        data = self._parts[pid] if isinstance(pid, int) else pid
        return Shared(pickle.loads(data))  # noqa: S301 - made by the trusted driver


def pack_outcome(outcome: object) -> bytes:
    """Serialize the return value of a piece of work, or `Raised`."""
    try:
        data = pickle.dumps(outcome, pickle.HIGHEST_PROTOCOL)
        if isinstance(outcome, Raised):
            pickle.loads(data)  # noqa: S301 - own data; many exceptions cannot be unpickled
    except Exception as error:  # noqa: BLE001 - pickling runs methods of any class
        shown = outcome.error if isinstance(outcome, Raised) else error
        return pickle.dumps(Raised(SandboxError(f"{type(shown).__name__}: {shown}")))
    return data


def unpack_outcome(data: bytes) -> Any:
    """Return the return value of the work, or raise its exception."""
    outcome = pickle.loads(data)  # noqa: S301 - from an actor that this process started
    if isinstance(outcome, Raised):
        raise outcome.error
    return outcome


def _dumps(value: object, pickler: type[pickle.Pickler]) -> bytes:
    file = io.BytesIO()
    pickler(file, pickle.HIGHEST_PROTOCOL).dump(value)
    return file.getvalue()


@dataclass(frozen=True, slots=True)
class Greeting:
    """A node's description of itself.

    Attributes:
        name: host name of the machine.
        version: version of harness on the node.
        isolation: isolation of its sandboxes, in words.
        refusal: why the node cannot be used; empty if it can.
    """

    name: str
    version: str
    isolation: str = ""
    refusal: str = ""


class Node:
    """Actor that judges as many programs at a time as it has workers.

    Args:
        workers: number of workers.
        least: lowest isolation level allowed for a sandbox.
    """

    def __init__(self, workers: int, least: Level) -> None:
        self._workers = workers
        self._least = least
        self._pool: SandboxPool | None = None

    async def greet(self, version: str) -> Greeting:
        """Check versions and isolation, and start the sandbox pool.

        Args:
            version: the driver's version of harness, which must equal the node's.
        """
        name, own = socket.gethostname(), __version__
        if own != version:
            why = f"it has harness {own}, and this is {version}; install the same version there"
            return Greeting(name, own, refusal=why)
        try:
            unsafe = self._least is Level.NONE
            choice = await asyncio.to_thread(choose, self._least, unsafe=unsafe)
        except IsolationError as error:
            return Greeting(name, own, refusal=str(error))
        self._pool = SandboxPool(workers=self._workers, isolation=choice.isolation)
        return Greeting(name, own, isolation=str(choice.isolation))

    async def call(self, body: bytes, urgent: bool, *parts: bytes) -> bytes:
        """Run work packed by `pack`; return its outcome packed by `pack_outcome`.

        Cancelling the call stops the worker.
        """
        assert self._pool is not None
        try:
            work = await asyncio.to_thread(unpack, body, parts)
            return pack_outcome(await self._pool.call(work, urgent=urgent))
        except Exception as error:  # noqa: BLE001 - raised again in the driver
            return pack_outcome(Raised(error))


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
