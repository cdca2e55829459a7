"""A fork server that is started when first needed, and again after a failure."""

import contextlib
import itertools
import os
import threading
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from harness.closing import Closing
from harness.sandbox.execution import WorkerStoppedError
from harness.sandbox.fork_server_connection import LOOK_S, ForkServer
from harness.sandbox.isolation import Isolation
from harness.sandbox.launch import FileView
from harness.sandbox.limits import GRACE, Limits
from harness.sandbox.strongest import start, strongest, take
from harness.sandbox.timing_race import TimingRace
from harness.sandbox.trial import Trial

COLLECT_BYTES = 16 << 20
"""Output in bytes after which a process gets no further test, to bound memory."""

_numbers = itertools.count(os.getpid())


class LazyForkServer:
    """A fork server, whether it runs or not, and the one job that is open in it.

    Args:
        isolation: isolation of the sandbox; default: the strongest available.
        view: view of its files; default: the interpreter's.

    Not thread-safe, except for `pause`, `resume`, `stop`, `end` and `process_id`.
    """

    def __init__(self, isolation: Isolation | None, view: FileView | None) -> None:
        self.stopped = False
        self.copies = True  # whether a process can make a sibling in it
        self._isolation = isolation
        self._view = view
        self._number = next(_numbers)
        self._gate = threading.Condition()  # guards sending; one message at a time
        self._paused = False
        self._lock = threading.Lock()  # guards `stopped` and the server
        self._server: ForkServer | None = None
        self._open: Trial | TimingRace | None = None

    @property
    def isolation(self) -> Isolation:
        """Isolation of its sandbox. Raises IsolationError if none is available."""
        return self._isolation or strongest().isolation

    @property
    def process_id(self) -> int | None:
        """Id of the started process, to watch or kill it; None if there is none.

        It is the fork server, or the process that waits for one in its own namespaces.
        """
        server = self._server
        return server.process.pid if server else None

    def started(self) -> ForkServer:
        """Return the running fork server. Raises WorkerStoppedError or OSError."""
        server = self._server
        if server is not None and server.process.poll() is None:
            return server
        self.end()
        self._open = None
        server, findings = (
            take(self.isolation) if self._view is None else start(self.isolation, self._view)
        )
        if server is None:
            raise OSError(f"no sandbox of level {findings.isolation} can be had: {findings.broken}")
        with self._lock:
            if not self.stopped:
                self._server, self.copies = server, findings.copies
                return server
        server.end()
        raise WorkerStoppedError

    def send(
        self,
        server: ForkServer,
        job: Trial | TimingRace,
        order: dict[str, Any],
        *,
        closes: bool = False,
        ends: Sequence[int] = (),
    ) -> None:
        """Send an order after a pause has ended; one that opens the job if it is not open.

        Args:
            server: what `started` returned; it may have ended since.
            job: what the order is about.
            order: the order.
            closes: whether the order is the job's last, so that the job is not open after it.
            ends: descriptors of pipes in place of stdin and stdout; for a job that is not open.

        Raises:
            OSError: it cannot be sent.
        """
        files: Sequence[int] = ()
        if self._open is not job:
            files = [*job.files, *ends]
            limits = _plain(job.limits, COLLECT_BYTES)
            order = {**order, **job.opening, "limits": limits, "core": self._number}
            order |= {"pipes": True} if ends else {}
        with self._gate:
            self._gate.wait_for(lambda: not self._paused or self.stopped)
            server.send(order, files)
        self._open = None if closes else job

    def answer(self, server: ForkServer, seconds: float) -> bytes:
        """Wait for the answer, unless a signal stops the fork server.

        Raises:
            OSError: it does not come in time, or the fork server was stopped.
            EOFError: the fork server has ended.
        """
        end = time.monotonic() + seconds

        def look() -> None:
            nonlocal end
            if self._paused:
                end += LOOK_S
            if time.monotonic() > end:
                raise TimeoutError("timed out")
            process_id = self.process_id
            if process_id is not None and _is_stopped(process_id):
                raise InterruptedError("the fork server was stopped")

        return server.receive_bytes(look)

    def leave(self, job: Closing) -> None:
        """Close a job in the fork server: none of its processes is needed any more."""
        if self._open is job:
            self._open = None
            self._tell("close")  # where it has ended, the next call will notice

    def pause(self) -> None:
        """Stop running programs and start none until `resume`."""
        with self._gate:
            self._paused = True
            self._tell("pause")

    def resume(self) -> None:
        """Continue after a pause."""
        with self._gate:
            self._tell("resume")
            self._paused = False
            self._gate.notify_all()

    def _tell(self, word: str) -> None:
        if (server := self._server) is not None:
            with self._gate, contextlib.suppress(OSError):  # it has ended, and runs nothing
                server.send({"do": word})

    def stop(self) -> None:
        """End it for good: what waits for a pause to end goes on, and fails."""
        with self._lock:
            self.stopped = True
        self.end()
        with self._gate:
            self._gate.notify_all()

    def end(self) -> str:
        """End the fork server and its children at once; return its last stderr line."""
        with self._lock:
            server, self._server = self._server, None
        return "" if server is None else server.end()


def _is_stopped(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:  # gone: the connection will report it
        return False
    return stat.rpartition(")")[2].split()[0] in {"T", "t"}


@lru_cache
def _plain(limits: Limits, collect_bytes: int) -> dict[str, float]:
    names = "cpu_s wall_s longest_s beside_cpu_s beside_wall_s memory_bytes output_bytes"
    plain = {name: getattr(limits, name) for name in names.split()}
    return plain | {"grace_s": limits.cpu_s * GRACE, "collect_bytes": collect_bytes}
