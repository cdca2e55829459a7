"""The MCP server of one sample over HTTP, for local clients with its key.

The key is checked first. A connection is a stranger until one of its requests has the key.
Strangers have a time limit for their headers and a separate connection limit, so they cannot use up
the places of clients.
"""

import asyncio
import contextlib
import hmac
import secrets
import socket
from collections import OrderedDict
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Self

from harness.agent.attempt import StopReason
from harness.agent.events import AgentLeft
from harness.features.external.session import McpSession
from harness.http_server import (
    LOOPBACK,
    PatientConnection,
    Server,
    address_of,
    listen,
    quiet_config,
)
from harness.tools.mcp_server import LONGEST_MESSAGE, NAME, server_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


MOST_CONNECTIONS = 32
"""Most open connections of clients with the key."""
MOST_STRANGERS = 64
"""Most open connections without the key; a new one closes the oldest."""
HEADERS_S = 10.0
"""Seconds for the headers of a connection's first request."""
LONGEST_KEY = 1_000
PATH = "/mcp"
MOST_REQUESTS = 20_000  # HTTP requests of any kind in a sample
KEEP_ALIVE_S = 60
GRACE_S = 1  # seconds to finish answers when the sample ends
CLOSING_S = 5.0


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


class _Connection(PatientConnection):
    """One connection, registered with its `Door`."""

    door: Door

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._served: ASGIApp = self.app
        self.app = self._enter

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.wait(self.door.headers_s)
        self.door.arrive(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.door.leave(self)
        super().connection_lost(exc)

    async def _enter(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Pass on a request with the key; refuse others before their body is read."""
        if not self.door.has_key(scope):
            await refuse(send, 401)
            return
        self.stop_waiting()
        if not self.door.admit(self):
            await refuse(send, 503)
            return
        await self._served(scope, receive, send)


def connections_of(door: Door) -> type[PatientConnection]:
    """Return the protocol class of a server's connections, for uvicorn."""
    return type("Connection", (_Connection,), {"door": door})


async def refuse(send: "Send", status: int) -> None:
    """Answer a request with only a status, and close its connection."""
    headers = [(b"content-length", b"0"), (b"connection", b"close")]
    if status == 401:  # noqa: PLR2004 - unauthorized
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def new_key() -> str:
    """Return a random key that cannot be guessed."""
    return secrets.token_urlsafe(32)


class ToolServer:
    """HTTP server of one sample's tools; an asynchronous context manager.

    Args:
        desk: session that executes the calls.
        key: bearer token that a client must send.
        bound: socket to listen on; by default a free port on the loopback address.
    """

    def __init__(self, desk: McpSession, key: str, bound: socket.socket | None = None) -> None:
        self._desk, self._key = desk, key
        self._bound = bound or listen(LOOPBACK, 0)
        self._server: _QuietServer | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        """The server's URL."""
        return address_of(self._bound) + PATH

    def mcp_config(self) -> dict[str, Any]:
        """Return the server's entry for an agent's configuration, in the usual format."""
        return config_of(self.url, self._key)

    async def __aenter__(self) -> Self:
        host = self._bound.getsockname()[0]
        app = server_of(
            self._desk.specs, self._desk.call, instructions=self._desk.prompt, met=self._desk.meet
        ).streamable_http_app(
            streamable_http_path=PATH,
            json_response=True,
            stateless_http=True,
            max_request_body_size=LONGEST_MESSAGE,
            host=host,
        )
        ready = asyncio.Event()
        config = quiet_config(
            _Guard(app, self._desk),
            http=connections_of(Door(self._key)),
            lifespan="on",
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=GRACE_S,
        )
        self._server = _QuietServer(config, ready.set)
        self._task = asyncio.create_task(self._server.serve(sockets=[self._bound]))
        waiting = asyncio.create_task(ready.wait())
        try:
            await asyncio.wait({self._task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        assert self._task is not None
        self._server.should_exit = True
        await asyncio.wait({self._task}, timeout=CLOSING_S)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


class HttpHost:
    """Serves any agent with the key until it submits or the user interrupts.

    Args:
        bound: socket to listen on.
        key: bearer token that a client must send.
    """

    confined = False

    def __init__(self, bound: socket.socket, key: str) -> None:
        self._bound, self._key = bound, key
        self._desk: McpSession | None = None

    async def attend(self, desk: McpSession) -> StopReason:
        """Serve until the session ends."""
        self._desk = desk
        try:
            async with ToolServer(desk, self._key, self._bound):
                await asyncio.wait({desk.ended})
        finally:
            desk.left(AgentLeft())
        return StopReason.MODEL_STOPPED

    def leave(self) -> bool:
        """End the sample as if the agent had left; return False if it wrote no solution."""
        return self._desk is not None and self._desk.leave()


def config_of(url: str, key: str) -> dict[str, Any]:
    """Return an HTTP server's entry in the format of agents' configuration files."""
    headers = {"Authorization": f"Bearer {key}"}
    return {"mcpServers": {NAME: {"type": "http", "url": url, "headers": headers}}}


class _QuietServer(Server):
    """Server that leaves signals to the program it is part of."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class _Guard:
    """Counts the requests of a sample, and ends the sample if there are too many."""

    def __init__(self, app: "ASGIApp", desk: McpSession) -> None:
        self._app = app
        self._desk = desk
        self._requests = 0

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] == "http":
            self._desk.met = True
            self._requests += 1
            if self._requests > MOST_REQUESTS:
                self._desk.end(StopReason.TOOL_CALL_LIMIT)
                await refuse(send, 429)
                return
        await self._app(scope, receive, send)
