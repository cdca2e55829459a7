"""HTTP connections of the server: headers have to arrive in time, and there is an end to them."""

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
    """A connection that is closed where a request's headers take too long."""

    headers_s = HEADERS_S
    most = MOST_CONNECTIONS

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Refuse it where there are too many; else wait for its headers."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.write(_FULL)
            transport.close()
            return
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Read on; the clock runs while headers have begun and not ended."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of the clock."""
        self._stop()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Run the clock while the client owes headers, and only then."""
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
