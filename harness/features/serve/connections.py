"""HTTP connections with a limit on their number and a time limit for headers."""

from typing import TYPE_CHECKING, Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

HEADERS_S = 10.0
MOST_CONNECTIONS = 4_096
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n"
    b"connection: close\r\n\r\n"
)


class BoundedConnection(H11Protocol):
    """A connection that is closed if a request's headers take too long."""

    headers_s = HEADERS_S
    most = MOST_CONNECTIONS

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Refuse the connection if there are too many; else wait for its headers."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.write(_FULL)
            transport.close()
            return
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Process the data; the timer runs until the headers are complete."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Run the timer only while the client has not sent complete headers."""
        if cast("Any", self.conn).their_state is not h11.IDLE:
            self._stop()
        elif self._patience is None:
            self._patience = self.loop.call_later(self.headers_s, self._drop)

    def _stop(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _drop(self) -> None:
        self._patience = None
        if cast("Any", self.conn).their_state is h11.IDLE:
            self.transport.abort()
