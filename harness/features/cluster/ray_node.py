"""One node of a Ray cluster: a pool of sandboxes, in a process that the driver sends work to.

It is given nothing of the driver's environment, and so no key.
"""

import asyncio
import socket
from dataclasses import dataclass

from harness.features.cluster.serialization import Raised, pack_outcome, unpack
from harness.sandbox.isolation import IsolationError, Level
from harness.sandbox.pool import SandboxPool
from harness.sandbox.strongest import choose
from harness.version import __version__


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a node says of itself.

    Attributes:
        name: of its machine.
        version: of its harness.
        isolation: of its sandboxes, in words.
        refusal: why it cannot be used; empty where it can.
    """

    name: str
    version: str
    isolation: str = ""
    refusal: str = ""


class Node:
    """Judges, as many at a time as it has workers.

    Args:
        workers: how many.
        least: the level beneath which there shall be no sandbox.
    """

    def __init__(self, workers: int, least: Level) -> None:
        self._workers = workers
        self._least = least
        self._pool: SandboxPool | None = None

    async def greet(self, version: str) -> Greeting:
        """See that it can judge.

        Args:
            version: of the driver's harness, which must be the node's.
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
        """Do a piece of work, as `pack` made it bytes; its outcome, as `pack_outcome` does.

        Cancelled, it stops the worker that was at it.
        """
        assert self._pool is not None
        try:
            work = await asyncio.to_thread(unpack, body, parts)
            return pack_outcome(await self._pool.call(work, urgent=urgent))
        except Exception as error:  # noqa: BLE001 - its caller is elsewhere
            return pack_outcome(Raised(error))
