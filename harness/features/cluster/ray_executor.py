"""An executor that runs work on the nodes of a Ray cluster.

Each node with free cores gets one actor. The actor holds a pool of sandboxes, as on a single
machine, so exclusive work (such as timing) is isolated in the same way. Nodes that join later are
used; the work of a lost node is done by others. The driver must run on a machine of the cluster,
and needs no core.

The actor is one process, which compares outputs with expected values: a fifth of the CPU time of
judging if programs are quick. More than four or five cores per node help only for slower programs;
a large machine can be several nodes.
"""

import asyncio
import contextlib
import os
import re
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, TypeVar, cast

from harness.errors import UsageError
from harness.features.cluster.machine_slots import MachineSlots
from harness.features.cluster.outcomes import unpack_outcome
from harness.features.cluster.packed_work import pack
from harness.features.cluster.ray_node import Greeting, Node
from harness.sandbox.execution import SandboxError
from harness.sandbox.executor import ExecutorError
from harness.sandbox.isolation import Level
from harness.sandbox.worker import Worker
from harness.version import __version__

T = TypeVar("T")

LOOK_S = 2.0
"""Seconds between two checks of the cluster's nodes."""
PATIENCE_S = 60.0
"""Seconds without a usable node after which waiting work fails."""
ATTEMPTS = 3
"""Most nodes lost on a piece of work, which may be the cause, until it fails."""
AHEAD = 2
"""Pieces of work sent to a node per worker, to keep workers busy."""
KEPT_BYTES = 256 << 20
"""Most bytes of large shared data kept in the cluster for later pieces of work."""
SETTLE_S = 30.0
"""Seconds to wait for more nodes once one is ready; later ones are still added."""
LONGEST_CAUSE = 200
KNOCK_S = 10.0
GREETING_S = 120.0
"""Seconds to wait for the first node: another job may hold all cores."""


_WRAPPING = re.compile(
    r"The actor \w+ is unavailable: |The actor is temporarily unavailable: |RpcError: RPC error: "
    r"| rpc_code: \d+|The task may or may not have been.*"
)


@dataclass(frozen=True, eq=False, slots=True)
class Member:
    """A node in use: its id and the actor on it. A node that rejoins is a new member."""

    node: str
    actor: Any


class RayExecutor:
    """Executor on the nodes of a Ray cluster; an asynchronous context manager.

    Args:
        address: the cluster's address, or `auto`.
        workers: most workers per node; None for the node's cores as Ray counts them.
        least: lowest isolation level allowed for the sandboxes of a node.
        say: called with a line of text when a node is refused or lost.

    Raises:
        UsageError: Ray is not installed, or the cluster cannot be reached.
    """

    def __init__(
        self, address: str, *, workers: int | None, least: Level, say: Callable[[str], None]
    ) -> None:
        self._ray = _import()
        self._address = address
        self._workers = workers
        self._least = least
        self._say = say
        self._slots: MachineSlots[Member] = MachineSlots()
        self._members: dict[str, Member] = {}
        self._joining: dict[str, asyncio.Task[None]] = {}
        self._refused: set[str] = set()
        self._failed: dict[str, int] = {}
        self._kept: OrderedDict[int, tuple[object, Any, int]] = OrderedDict()
        self._lock = threading.Lock()  # guards `_kept`
        self._own = False
        self._watching: asyncio.Task[None] | None = None

    @property
    def size(self) -> int:
        """Number of pieces of work the cluster takes at a time."""
        return self._slots.size

    async def call(
        self,
        work: Callable[[Worker], T],
        *,
        urgent: bool = False,
        queued: Callable[[float], None] | None = None,
    ) -> T:
        """Run a piece of work on a node; see `harness.sandbox.executor.Executor`."""
        body, places = await self._packed(work)
        why, attempts = "", 0
        while attempts < ATTEMPTS:
            asked = time.monotonic()
            member = await self._slots.take(urgent=urgent or attempts > 0)
            if queued is not None:
                queued(time.monotonic() - asked)
            if self._members.get(member.node) is not member:
                continue  # the node was lost after its slot was assigned and before this line ran
            attempts += 1
            try:
                return unpack_outcome(await self._send(member, body, urgent, places))
            except self._ray.exceptions.RayActorError as error:
                why = _line(error)
                self._lose(member, why)
            except self._ray.exceptions.RayError as error:  # shared data were lost
                why = _line(error)
                self._forget_kept()
                body, places = await self._packed(work)
            finally:
                self._slots.give_back(member)
        raise SandboxError(f"{ATTEMPTS} nodes were lost while they worked at it; the last: {why}")

    async def _packed(self, work: Callable[[Worker], Any]) -> tuple[bytes, list[Any]]:
        """Pack the work in a thread, because packing may read a file."""
        pickler = self._ray.cloudpickle.Pickler
        return await asyncio.to_thread(pack, work, self._keep, self._place, pickler)

    async def _send(self, member: Member, body: bytes, urgent: bool, places: list[Any]) -> bytes:
        asked = member.actor.call.remote(body, urgent, *places)
        try:
            return await asked
        except asyncio.CancelledError:
            with contextlib.suppress(self._ray.exceptions.RayError):
                self._ray.cancel(asked)
            raise

    def _place(self, value: object) -> Any | None:
        """Return the reference to large data that were shared before, or None."""
        with self._lock:
            kept = self._kept.get(id(value))
            if kept is None:
                return None
            self._kept.move_to_end(id(value))
            return kept[1]

    def _keep(self, value: object, data: bytes) -> Any:
        """Share large data with all nodes; evict the least recently used."""
        place = self._ray.put(data)
        with self._lock:
            self._kept[id(value)] = value, place, len(data)
            while sum(size for *_, size in self._kept.values()) > KEPT_BYTES:
                self._kept.popitem(last=False)
        return place

    def _forget_kept(self) -> None:
        """Forget the large data shared so far, so that they are sent again when needed."""
        with self._lock:
            self._kept.clear()

    async def __aenter__(self) -> Self:
        self._connect()
        try:
            await self._look()
            await self._await_nodes()
            self._watching = asyncio.create_task(self._watch())
        except BaseException:
            self._leave()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._watching is not None:
            self._watching.cancel()
        self._leave()

    async def _await_nodes(self) -> None:
        """Wait for the nodes present to join; longer if no node has joined yet."""
        clock = asyncio.get_running_loop().time
        start = clock()
        while self._joining:
            waited = clock() - start
            if waited > (SETTLE_S if self._members else GREETING_S):
                break
            joining = list(self._joining.values())
            await asyncio.wait(joining, timeout=1.0, return_when=asyncio.FIRST_COMPLETED)
        if not self._members:
            raise ExecutorError(self._nobody)

    def _connect(self) -> None:
        ray = self._ray
        if ray.is_initialized():
            return
        try:
            _knock(self._address)
            ray.init(address=self._address, log_to_driver=False, logging_level="ERROR")
        except UsageError:
            raise
        except Exception as error:
            where = "here" if self._address == "auto" else f"at {self._address}"
            raise UsageError(
                f"no Ray cluster can be reached {where} ({_line(error)}); start one with `ray "
                "start --head`, or join one with `ray start --address HOST:PORT`, on this machine"
            ) from error
        self._own = True
        # Ray would print messages about its nodes to stdout, among the results. This is the
        # switch that Ray's debugger uses; there is no public one.
        ray._private.worker._worker_logs_enabled = False  # noqa: SLF001

    def _leave(self) -> None:
        """Release the nodes, and leave the cluster if this executor connected to it."""
        for task in self._joining.values():
            task.cancel()
        self._slots.close("the run has ended")
        for member in self._members.values():
            with contextlib.suppress(Exception):
                self._ray.kill(member.actor)
        self._members.clear()
        self._forget_kept()
        if self._own:
            self._ray.shutdown()

    async def _watch(self) -> None:
        """Add nodes that join; fail waiting work after too long without any node."""
        clock = asyncio.get_running_loop().time
        seen = clock()
        while True:
            await asyncio.sleep(LOOK_S)
            with contextlib.suppress(self._ray.exceptions.RayError):
                await self._look()
            if self._members:
                seen = clock()
            elif clock() - seen > PATIENCE_S:
                self._slots.close(self._nobody)

    async def _look(self) -> None:
        """List the cluster's nodes and start to add new ones."""
        for node in await asyncio.to_thread(self._ray.nodes):
            key, cores = node["NodeID"], int(node["Resources"].get("CPU", 0))
            known = key in self._members or key in self._refused or key in self._joining
            if node["Alive"] and cores and not known:
                task = asyncio.create_task(self._join(key, min(self._workers or cores, cores)))
                self._joining[key] = task
                task.add_done_callback(lambda _, key=key: self._joining.pop(key, None))

    async def _join(self, node: str, workers: int) -> None:
        """Start an actor with a sandbox pool on a node, or refuse the node."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        actor = (
            self._ray.remote(Node)
            .options(
                num_cpus=workers,
                max_concurrency=AHEAD * workers + 8,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
            )
            .remote(workers, self._least)
        )
        try:
            greeting = cast("Greeting", await actor.greet.remote(__version__))
        except self._ray.exceptions.RayError as error:
            self._failed[node] = self._failed.get(node, 0) + 1
            if self._failed[node] >= ATTEMPTS:
                self._refuse(node, node[:8], _line(error))
            return
        if greeting.refusal:
            self._ray.kill(actor)
            self._refuse(node, greeting.name, greeting.refusal)
            return
        member = self._members[node] = Member(node, actor)
        self._slots.add(member, AHEAD * workers)

    def _refuse(self, node: str, name: str, why: str) -> None:
        self._refused.add(node)
        self._say(f"node {name} is left out: {why}")

    def _lose(self, member: Member, why: str) -> None:
        """Drop a node whose actor is gone; other nodes take its work, and it may rejoin."""
        if self._members.get(member.node) is not member:
            return  # already dropped; the node may have rejoined as a new member
        del self._members[member.node]
        self._slots.remove(member)
        with contextlib.suppress(Exception):
            self._ray.kill(member.actor)
        self._say(f"node {member.node[:8]} was lost ({why}); its work is repeated on other nodes")

    @property
    def _nobody(self) -> str:
        named = "" if self._address == "auto" else f" {self._address}"
        return f"the Ray cluster{named} has no node left that can judge; what was committed is safe"


def _import() -> Any:
    """Import Ray with usage statistics off. Raises UsageError if not installed."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError as error:
        raise UsageError(
            "--set executor=ray needs Ray, which is not installed; install harness[ray]"
        ) from error
    return ray


def _knock(address: str) -> None:
    """Check that the address accepts connections, because Ray would wait for minutes.

    Raises:
        UsageError: the address is malformed.
        OSError: nothing listens there.
    """
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or "/" in host:
        raise UsageError(f"--set ray_address={address}: give auto, or HOST:PORT")
    socket.create_connection((host.strip("[]"), int(port)), timeout=KNOCK_S).close()


def _line(error: BaseException) -> str:
    """Shorten an exception of Ray's to its last line, which states the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    last = lines[-1] if lines else type(error).__name__
    return _WRAPPING.sub("", last).strip().rstrip(".")[:LONGEST_CAUSE]
