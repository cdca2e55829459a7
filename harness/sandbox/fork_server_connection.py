"""The worker's end of a fork server: its messages, and ending it."""

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from harness.sandbox.inside.working_directory import empty_folder

LEAVE_S = 2.0  # time for it to end its programs
EXCERPT_BYTES = 500
LOOK_S = 1  # seconds between checks that the fork server still runs
SEND_S = 20  # seconds for a message to be taken
PIECE = 1 << 16  # bytes; few answers are longer
HEAD = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class ForkServer:
    """A running fork server, or the process that waits for one in its own namespaces.

    Attributes:
        process: the fork server's process.
        socket: the connection to it.
        folder: its working directory, if that is on this machine's own file system.
        errors: descriptor of the file that receives its stderr.
    """

    process: subprocess.Popen[bytes]
    socket: socket.socket
    folder: str | None
    errors: int

    def send(self, order: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Send an order with optional descriptors; not thread-safe. Raises OSError."""
        try:
            data = to_json(order)
        except ValueError:  # a lone surrogate in a preamble
            data = json.dumps(order).encode()
        self.send_bytes(data, descriptors)

    def send_bytes(self, data: bytes, descriptors: Sequence[int] = ()) -> None:
        """Send a message as it is. Raises OSError."""
        data = HEAD.pack(len(data)) + data
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", descriptors))]
        sent = self.socket.sendmsg([data], rights if descriptors else [])
        if sent < len(data):
            self.socket.sendall(data[sent:])

    def settle(self) -> None:
        """Let the kernel limit each wait, in place of Python, which polls before each call.

        A wait for an answer ends after `LOOK_S`, so that the worker can check the fork server.
        """
        self.socket.settimeout(None)
        for option, seconds in ((socket.SO_RCVTIMEO, LOOK_S), (socket.SO_SNDTIMEO, SEND_S)):
            self.socket.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", seconds, 0))

    def receive(self) -> dict[str, Any]:
        """Receive and parse the greeting.

        Raises:
            OSError, EOFError: none arrives.
            ValueError: it is not JSON.
        """
        return json.loads(self.receive_bytes(lambda: None))

    def receive_bytes(self, look: Callable[[], None]) -> bytes:
        """Receive the next answer as bytes.

        Args:
            look: called about every `LOOK_S` seconds without data; may raise.

        Raises:
            OSError, EOFError: no answer arrives.
        """
        data = bytearray(self._some(look))
        while len(data) < HEAD.size:
            data += self._some(look)
        end = HEAD.size + HEAD.unpack_from(data)[0]
        while len(data) < end:
            data += self._some(look)
        if len(data) > end:
            raise ValueError("the fork server said more than it was asked")
        return bytes(data[HEAD.size :])

    def _some(self, look: Callable[[], None]) -> bytes:
        while True:
            try:
                part = self.socket.recv(PIECE)
            except BlockingIOError:
                look()
                continue
            if not part:
                raise EOFError("the fork server hung up")
            return part

    def last_words(self) -> str:
        """Return the last line of its stderr."""
        size = os.fstat(self.errors).st_size
        text = os.pread(self.errors, EXCERPT_BYTES, max(0, size - EXCERPT_BYTES))
        lines = text.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""

    def leave(self) -> None:
        """Forget it in a forked process, whose parent uses it and ends it."""
        self.socket.close()
        os.close(self.errors)
        self.process.returncode = 0  # it is not a child of this process: nothing to wait for

    def end(self) -> str:
        """End it and its children, close its files, and return its last stderr line."""
        with contextlib.suppress(OSError):  # wakes a thread that waits for an answer
            self.socket.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(ProcessLookupError):  # it may be stopped
            self.process.send_signal(signal.SIGCONT)
        # Then it kills its programs and exits, or is killed.
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
            with contextlib.suppress(OSError):  # already removed by the fork server
                _remove(self.folder)
        return last_words


def _remove(path: str) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        empty_folder(folder)
    finally:
        os.close(folder)
    Path(path).rmdir()
