"""What the HTTP servers of features share: their socket, their address, and uvicorn's settings."""

import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from asyncio import TimerHandle

LOOPBACK = "127.0.0.1"
BACKLOG = 2_048
"""Connections that the system queues for a busy server."""


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 means any that is free. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.create_server((host, port), family=family, backlog=BACKLOG)
    bound.set_inheritable(False)
    return bound


def address_of(bound: socket.socket) -> str:
    """Return the URL of a server that listens on a socket, without a path."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def quiet_config(app: Any, **settings: Any) -> uvicorn.Config:
    """Return uvicorn's settings of a server without logs, without names and without WebSockets."""
    return uvicorn.Config(
        app,
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        **settings,
    )


class PatientConnection(H11Protocol):
    """Connection that is closed unless its client does in time what the server waits for."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._patience: TimerHandle | None = None

    def wait(self, seconds: float) -> None:
        """Close the connection in so many seconds; a wait that has begun goes on."""
        if self._patience is None:
            self._patience = self.loop.call_later(seconds, self.drop)

    def stop_waiting(self) -> None:
        """Keep the connection, if the server waited."""
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def drop(self) -> None:
        """Close the connection at once."""
        self.stop_waiting()
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self.stop_waiting()
        super().connection_lost(exc)


class Server(uvicorn.Server):
    """Server that tells when it is ready.

    Args:
        config: uvicorn's settings.
        ready: called when requests can be answered and interrupts are handled.
    """

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen and call `ready`."""
        await super().startup(sockets)
        self._ready()
