"""The fork server's connection to its worker."""

# The module below `socket`, which itself would add a megabyte to every forked process.
import _socket
import array
import json
import struct
from typing import Any

HEAD = struct.Struct(">I")
MOST_DESCRIPTORS = 10


class Connection:
    """Messages: big-endian length, then JSON of that length; run reports are packed.

    Requests may carry descriptors beside the length.
    """

    def __init__(self, descriptor: int) -> None:
        self.socket = _socket.socket(fileno=descriptor)

    def receive(self) -> tuple[dict[str, Any], list[int]] | None:
        """Return the next request and its descriptors; None if the worker has hung up."""
        descriptors = array.array("i")
        room = _socket.CMSG_LEN(MOST_DESCRIPTORS * descriptors.itemsize)
        head, messages, _, _ = self.socket.recvmsg(HEAD.size, room)
        if len(head) < HEAD.size:
            return None
        for _, _, data in messages:  # only descriptors are ever sent
            descriptors.frombytes(data)
        (left,) = HEAD.unpack(head)
        parts: list[bytes] = []
        while left:
            part = self.socket.recv(left)
            if not part:
                return None
            parts.append(part)
            left -= len(part)
        return json.loads(b"".join(parts)), list(descriptors)

    def say(self, answer: dict[str, Any]) -> None:
        """Send an answer as JSON."""
        self.answer(json.dumps(answer).encode())

    def answer(self, data: bytes) -> None:
        """Send bytes. JSON starts with a brace (123), a report never: no signal is 123."""
        self.socket.sendall(HEAD.pack(len(data)) + data)
