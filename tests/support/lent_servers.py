"""Running sandboxes for commands that a test waits for, and for calls in its own process.

To start one takes 80 ms of CPU, more than the rest of most commands. A command takes the lent one
in place of the one that it would have started to choose its sandbox, and gives it back where it
would have ended it, as a run does between two problems. One that is left with work under way ends.
"""

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from harness.sandbox import strongest
from harness.sandbox.fork_server_connection import ForkServer
from harness.sandbox.isolation import Findings, IsolationError

UNANSWERED = {"close", "pause", "resume"}


class Lender:
    """The sandboxes that a process lends to those that it forks."""

    def __init__(self) -> None:
        self.found: Findings | None = None
        with contextlib.suppress(IsolationError):
            self.found = strongest.choose().findings
        self._idle: list[ForkServer] = [server for server, _ in strongest.spare_servers.values()]
        strongest.spare_servers.clear()
        self._lent: dict[int, ForkServer] = {}

    def lend(self) -> int | None:
        """Choose a sandbox for the process that is forked next; return a pipe to tell it by."""
        if self.found is None:
            return None
        server = self._idle.pop() if self._idle else strongest.start(self.found.isolation)[0]
        if server is None:
            return None
        returned, self._back = os.pipe()
        os.set_blocking(returned, False)
        self._lent[returned] = server
        return returned

    def take(self, returned: int | None) -> None:
        """In the forked process: use the chosen one, and leave all others."""
        mine = self._lent.pop(returned) if returned is not None else None
        for server in (*self._idle, *self._lent.values()):
            server.leave()
        for pipe in self._lent:
            os.close(pipe)
        if mine is not None and self.found is not None:
            process = cast("subprocess.Popen[bytes]", Watched(mine.process.pid))
            lent = Lent(process, mine.socket, mine.folder, mine.errors, [], self._back)
            strongest.spare_servers[self.found.isolation] = (lent, self.found)

    def forked(self, returned: int | None) -> None:
        """Note, after the fork, that only the forked process can give it back."""
        if returned is not None:
            os.close(self._back)

    def ended(self, returned: int | None) -> None:
        """Take a sandbox back from a process that has ended, if it gave it back."""
        if returned is None:
            return
        server, return_notice = self._lent.pop(returned), b""
        with contextlib.suppress(BlockingIOError):  # something that the process left behind has it
            return_notice = os.read(returned, 1)
        os.close(returned)
        if return_notice and server.process.poll() is None:
            self._idle.append(server)
        else:
            server.end()


class Watched:
    """A process that this one has not started, with what is used of `Popen`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._descriptor = os.pidfd_open(pid)

    def poll(self) -> int | None:
        if select.select([self._descriptor], [], [], 0)[0]:
            self.returncode = 0
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if not select.select([self._descriptor], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("a sandbox", timeout or 0)
        return 0

    def send_signal(self, word: int) -> None:
        signal.pidfd_send_signal(self._descriptor, word)


@dataclass(frozen=True, slots=True)
class Reused(ForkServer):
    """A fork server that is given back where it would have been ended.

    Attributes:
        under_way: requests that have no answer yet.
    """

    under_way: list[str]

    def send(self, order: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        self.under_way.extend({order["do"]} - UNANSWERED)
        ForkServer.send(self, order, descriptors)

    def receive_bytes(self, look: Callable[[], None]) -> bytes:
        answer = ForkServer.receive_bytes(self, look)
        self.under_way.clear()
        return answer

    @property
    def is_idle(self) -> bool:
        """Whether it can be used again."""
        return not self.under_way and self.process.poll() is None


@dataclass(frozen=True, slots=True)
class Lent(Reused):
    """A fork server of the process that lent it.

    Attributes:
        back: the pipe that says that it is given back.
    """

    back: int

    def end(self) -> str:
        if not self.is_idle:
            return ForkServer.end(self)
        with contextlib.suppress(OSError):
            self.send({"do": "close"})
            os.write(self.back, b"y")
        self.socket.close()
        return ""


@dataclass(frozen=True, slots=True)
class Kept(Reused):
    """A fork server of this process, which goes from one call to the next.

    Attributes:
        findings: what its probe found.
        over: not empty once it is to be ended.
    """

    findings: Findings
    over: list[bool]

    def end(self) -> str:
        spares, isolation = strongest.spare_servers, self.findings.isolation
        if self.over or not self.is_idle or spares.get(isolation, (self,))[0] is not self:
            return ForkServer.end(self)
        with contextlib.suppress(OSError):
            self.send({"do": "close"})
            spares[isolation] = (self, self.findings)
        return ""


class Keeper:
    """Keeps a sandbox for the calls of this process that start one."""

    def __init__(self) -> None:
        self._kept: Kept | None = None

    def lend(self) -> None:
        """Let the next call that needs a sandbox take the kept one."""
        isolation = strongest.strongest().isolation
        if self._kept is None or not self._kept.is_idle:
            self.end()
            server, findings = strongest.take(isolation)
            if server is None:
                return
            files = (server.process, server.socket, server.folder, server.errors)
            self._kept = Kept(*files, [], findings, [])
        elif other := strongest.spare_servers.pop(isolation, None):
            other[0].end()
        strongest.spare_servers[isolation] = (self._kept, self._kept.findings)

    def take_back(self) -> None:
        """Leave other calls to start their own."""
        if self._kept is None:
            return
        isolation = self._kept.findings.isolation
        if strongest.spare_servers.get(isolation, (None,))[0] is self._kept:
            del strongest.spare_servers[isolation]
        else:  # something has it still
            self._kept.over.append(True)
            self._kept = None

    def end(self) -> None:
        """End the kept one."""
        if self._kept is not None:
            self._kept.over.append(True)
            self._kept.end()
            self._kept = None
