"""Requests from the worker, and answers to it."""

# What lies beneath `socket`: that brings a megabyte, which every process forked here would carry.
import _socket
import array
import json
import struct
from typing import Any

HEAD = struct.Struct(">I")
MOST_DESCRIPTORS = 10


class Connection:
    """A length, big-endian, and that many bytes of JSON, both ways; the report of a run is packed.

    Requests carry descriptors beside the length.
    """

    def __init__(self, descriptor: int) -> None:
        self.socket = _socket.socket(fileno=descriptor)

    def receive(self) -> tuple[dict[str, Any], list[int]] | None:
        """The next request and its descriptors; None when the worker has hung up."""
        descriptors = array.array("i")
        room = _socket.CMSG_LEN(MOST_DESCRIPTORS * descriptors.itemsize)
        head, messages, _, _ = self.socket.recvmsg(HEAD.size, room)
        if len(head) < HEAD.size:
            return None
        for _, _, data in messages:  # nothing but descriptors is ever sent
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
        """Answer in words."""
        self.answer(json.dumps(answer).encode())

    def answer(self, data: bytes) -> None:
        """Answer with bytes. Those of JSON begin with a brace; no report does: no signal is 123."""
        self.socket.sendall(HEAD.pack(len(data)) + data)
