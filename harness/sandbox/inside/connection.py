"""Requests from the worker, and answers to it."""

import json
import socket
import struct
from typing import Any

HEAD = struct.Struct(">I")
MOST_DESCRIPTORS = 3


class Connection:
    """A length, big-endian, and that many bytes of JSON, both ways; the report of a run is packed.

    Requests carry descriptors beside the length.
    """

    def __init__(self, descriptor: int) -> None:
        self.socket = socket.socket(fileno=descriptor)

    def receive(self) -> tuple[dict[str, Any], list[int]] | None:
        """The next request and its descriptors; None when the worker has hung up."""
        head, descriptors, _, _ = socket.recv_fds(self.socket, HEAD.size, MOST_DESCRIPTORS)
        if len(head) < HEAD.size:
            return None
        (left,) = HEAD.unpack(head)
        parts: list[bytes] = []
        while left:
            part = self.socket.recv(left)
            if not part:
                return None
            parts.append(part)
            left -= len(part)
        return json.loads(b"".join(parts)), descriptors

    def say(self, answer: dict[str, Any]) -> None:
        """Answer in words."""
        self.answer(json.dumps(answer).encode())

    def answer(self, data: bytes) -> None:
        """Answer with bytes. Those of JSON begin with a brace; no report does: no signal is 123."""
        self.socket.sendall(HEAD.pack(len(data)) + data)
