"""HTTP connections of the MCP server, which check the key first.

A connection is a stranger until one of its requests has the key. Strangers have a time limit for
their headers and a separate connection limit, so they cannot use up the places of clients.
"""

import hmac
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

    from starlette.types import ASGIApp, Receive, Scope, Send

MOST_CONNECTIONS = 32
"""Most open connections of clients with the key."""
MOST_STRANGERS = 64
"""Most open connections without the key; a new one closes the oldest."""
HEADERS_S = 10.0
"""Seconds for the headers of a connection's first request."""
LONGEST_KEY = 1_000


class Door:
    """The open connections of a server.

    Args:
        key: bearer token that a client must send.
        headers_s: seconds a stranger has to send its headers.
    """

    def __init__(self, key: str, headers_s: float = HEADERS_S) -> None:
        self._wanted = f"Bearer {key}".encode()
        self.headers_s = headers_s
        self.strangers: OrderedDict[int, _Connection] = OrderedDict()
        self.clients: set[int] = set()

    def has_key(self, scope: "Scope") -> bool:
        """Return whether a request has the key."""
        given = dict(scope["headers"]).get(b"authorization", b"")[:LONGEST_KEY]
        return hmac.compare_digest(given, self._wanted)

    def arrive(self, connection: "_Connection") -> None:
        """Add a new connection as a stranger."""
        while len(self.strangers) >= MOST_STRANGERS:
            _, oldest = self.strangers.popitem(last=False)
            oldest.drop()
        self.strangers[id(connection)] = connection

    def admit(self, connection: "_Connection") -> bool:
        """Count a connection with the key as a client; False if too many."""
        self.strangers.pop(id(connection), None)
        if id(connection) not in self.clients and len(self.clients) >= MOST_CONNECTIONS:
            return False
        self.clients.add(id(connection))
        return True

    def leave(self, connection: "_Connection") -> None:
        """Remove a closed connection."""
        self.strangers.pop(id(connection), None)
        self.clients.discard(id(connection))


class _Connection(H11Protocol):
    """One connection, registered with its `Door`."""

    door: Door

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._served: ASGIApp = self.app
        self.app = self._enter
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._patience = self.loop.call_later(self.door.headers_s, self.drop)
        self.door.arrive(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._known()
        self.door.leave(self)
        super().connection_lost(exc)

    def drop(self) -> None:
        """Close the connection at once."""
        self._known()
        self.transport.abort()

    def _known(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    async def _enter(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Pass on a request with the key; refuse others before their body is read."""
        if not self.door.has_key(scope):
            await refuse(send, 401)
            return
        self._known()
        if not self.door.admit(self):
            await refuse(send, 503)
            return
        await self._served(scope, receive, send)


def connections_of(door: Door) -> type[H11Protocol]:
    """Return the protocol class of a server's connections, for uvicorn."""
    return type("Connection", (_Connection,), {"door": door})


async def refuse(send: "Send", status: int) -> None:
    """Answer a request with only a status, and close its connection."""
    headers = [(b"content-length", b"0"), (b"connection", b"close")]
    if status == 401:  # noqa: PLR2004 - unauthorized
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
