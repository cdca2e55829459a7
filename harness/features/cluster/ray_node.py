"""The actor on each node of a Ray cluster.

Its process receives none of the driver's environment variables, and so no API key.
"""

import asyncio
import socket
from typing import NamedTuple

from harness.features.cluster.outcomes import Raised, pack_outcome
from harness.features.cluster.packed_work import unpack
from harness.sandbox.isolation import IsolationError, Level
from harness.sandbox.pool import SandboxPool
from harness.sandbox.strongest import choose
from harness.version import __version__


class Greeting(NamedTuple):
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
