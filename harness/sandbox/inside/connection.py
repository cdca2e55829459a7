"""Requests from the worker, and answers to it."""

import json
import socket
import struct
from typing import Any

LENGTH_BYTES = 4
MOST_DESCRIPTORS = 3


class Connection:
    """A length, big-endian, and that many bytes of JSON, both ways."""

    def __init__(self, descriptor: int) -> None:
        self.socket = socket.socket(fileno=descriptor)

    def receive(self) -> tuple[dict[str, Any], list[int]] | None:
        """The next request and its descriptors; None when the worker has hung up."""
        head, descriptors, _, _ = socket.recv_fds(self.socket, LENGTH_BYTES, MOST_DESCRIPTORS)
        if len(head) < LENGTH_BYTES:
            return None
        left = struct.unpack(">I", head)[0]
        parts: list[bytes] = []
        while left:
            part = self.socket.recv(left)
            if not part:
                return None
            parts.append(part)
            left -= len(part)
        return json.loads(b"".join(parts)), descriptors

    def send(self, answer: dict[str, Any]) -> None:
        """Answer the last request."""
        data = json.dumps(answer).encode()
        self.socket.sendall(struct.pack(">I", len(data)) + data)
