"""The fork server's connection to its worker, and open file descriptors."""

from __future__ import annotations

# The module below `socket`, which itself would add a megabyte to every forked process.
import _socket
import os
import struct

TYPE_CHECKING = False  # `enter.py` imports neither `typing` nor `json`
if TYPE_CHECKING:
    from typing import Any

HEAD = struct.Struct(">I")
DESCRIPTOR = struct.Struct("i")
MOST_DESCRIPTORS = 10
ABOVE_ALL = 1 << 16  # more descriptors than a fork server ever has


class Connection:
    """Messages: big-endian length, then JSON of that length; run reports are packed.

    Requests may carry descriptors beside the length. The settings for `enter.py` are bytes too.
    """

    def __init__(self, descriptor: int) -> None:
        self.socket = _socket.socket(fileno=descriptor)

    def receive(self) -> tuple[dict[str, Any], list[int]] | None:
        """Return the next request and its descriptors; None if the worker has hung up."""
        import json

        received = self.receive_bytes()
        return received and (json.loads(received[0]), received[1])

    def receive_bytes(self) -> tuple[bytes, list[int]] | None:
        """Return the next message as it is."""
        descriptors: list[int] = []
        room = _socket.CMSG_LEN(MOST_DESCRIPTORS * DESCRIPTOR.size)
        head, messages, _, _ = self.socket.recvmsg(HEAD.size, room)
        if len(head) < HEAD.size:
            return None
        for _, _, data in messages:  # only descriptors are ever sent
            descriptors += (number for (number,) in DESCRIPTOR.iter_unpack(data))
        (left,) = HEAD.unpack(head)
        parts: list[bytes] = []
        while left:
            part = self.socket.recv(left)
            if not part:
                return None
            parts.append(part)
            left -= len(part)
        return b"".join(parts), descriptors

    def say(self, answer: dict[str, Any]) -> None:
        """Send an answer as JSON."""
        import json

        self.answer(json.dumps(answer).encode())

    def answer(self, data: bytes) -> None:
        """Send bytes. JSON starts with a brace (123), a report never: no signal is 123."""
        self.socket.sendall(HEAD.pack(len(data)) + data)


def close_all_but(*kept: int) -> None:
    """Close all descriptors above 2 except the given ones.

    They would give access to other programs, their inputs and their outputs.
    """
    first = 3
    for descriptor in sorted(kept):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, ABOVE_ALL)


def copy(source: int, offset: int, length: int, target: int) -> int:
    """Copy a span of a memory file to another file's position, without buffering it.

    Returns:
        Number of bytes copied; fewer if a program shortens the file meanwhile.
    """
    copied = 0
    while copied < length:
        done = os.sendfile(target, source, offset + copied, length - copied)
        if not done:
            break
        copied += done
    return copied
