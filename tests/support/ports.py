"""Ports of this machine that a test lets go of and takes again."""

import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LOWEST = 10_000
GIVEN = Path("/proc/sys/net/ipv4/ip_local_port_range")
"""Ports that the system gives to those who name none, as other tests do all the time."""


def free_port() -> int:
    """Return a port that nobody listens at, and that nobody gets who does not name it."""
    end = int(GIVEN.read_text().split()[0]) if GIVEN.exists() else 0
    while end > LOWEST:
        port = LOWEST + secrets.randbelow(end - LOWEST)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@contextmanager
def deserted_port() -> Iterator[int]:
    """Hold a port at which nobody listens, so that connections to it are refused."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]
