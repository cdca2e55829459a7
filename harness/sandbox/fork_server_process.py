"""A fork server's process, from outside: what it says, and its end."""

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.sandbox.inside.processes import empty_folder

LEAVE_S = 2.0  # to end what it runs
EXCERPT_BYTES = 500


@dataclass(frozen=True, slots=True)
class ForkServer:
    """A fork server, or what waits for one in namespaces of its own.

    Attributes:
        folder: its working directory, where that lies on this machine's own file system.
        errors: what was written on stderr.
    """

    process: subprocess.Popen[bytes]
    socket: socket.socket
    folder: str | None
    errors: int

    def send(self, order: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Send an order, descriptors beside it; not for two threads at a time. Raises OSError."""
        data = json.dumps(order).encode()
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", descriptors))]
        self.socket.sendmsg([struct.pack(">I", len(data))], rights if descriptors else [])
        self.socket.sendall(data)

    def receive(self) -> dict[str, Any]:
        """Its next answer.

        Raises:
            OSError, EOFError: it does not come.
            ValueError: it is none.
        """
        return json.loads(self.receive_bytes())

    def receive_bytes(self) -> bytes:
        """Its next answer as it came. Raises OSError or EOFError where none comes."""
        length = struct.unpack(">I", self._receive(4))[0]
        return self._receive(length)

    def _receive(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise EOFError("the fork server hung up")
            data += part
        return bytes(data)

    def last_words(self) -> str:
        """The last line on stderr."""
        size = os.fstat(self.errors).st_size
        text = os.pread(self.errors, EXCERPT_BYTES, max(0, size - EXCERPT_BYTES))
        lines = text.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""

    def end(self) -> str:
        """End it and its children at once, and let go of what it had; its last words."""
        with contextlib.suppress(OSError):  # wakes a thread that waits for an answer
            self.socket.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(ProcessLookupError):  # one that was stopped does not hear it
            self.process.send_signal(signal.SIGCONT)
        # Hung up on, it kills what it runs and leaves; what does not leave is killed.
        try:
            self.process.wait(timeout=LEAVE_S)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.socket.close()
        last_words = self.last_words()
        os.close(self.errors)
        if self.folder is not None:
            with contextlib.suppress(OSError):  # the fork server has removed it already
                _remove(self.folder)
        return last_words


def _remove(path: str) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        empty_folder(folder)
    finally:
        os.close(folder)
    Path(path).rmdir()
