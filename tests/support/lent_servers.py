"""Running sandboxes for commands that a test waits for.

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
            lent = Lent(process, mine.socket, mine.folder, mine.errors, self._back, [])
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
class Lent(ForkServer):
    """A fork server of the process that lent it.

    Attributes:
        back: the pipe that says that it is given back.
        under_way: requests that have no answer yet.
    """

    back: int
    under_way: list[str]

    def send(self, order: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        self.under_way.extend({order["do"]} - UNANSWERED)
        ForkServer.send(self, order, descriptors)

    def receive_bytes(self, look: Callable[[], None]) -> bytes:
        answer = ForkServer.receive_bytes(self, look)
        self.under_way.clear()
        return answer

    def end(self) -> str:
        if self.under_way or self.process.poll() is not None:
            return ForkServer.end(self)
        with contextlib.suppress(OSError):
            self.send({"do": "close"})
            os.write(self.back, b"y")
        self.socket.close()
        return ""
