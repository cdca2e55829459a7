"""Who has no key keeps nobody out of the MCP server."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import uvicorn

from harness.features.external.http import (
    MOST_CONNECTIONS,
    MOST_STRANGERS,
    Door,
    connections_of,
)
from harness.http_server import LOOPBACK, listen

KEY = "the-key"
HALF = b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Le"
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[bytes], Awaitable[Connection]]


def asking(key: str = KEY, more: str = "") -> bytes:
    head = f"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n{more}\r\n"
    return head.encode()


async def app(scope: Any, receive: Any, send: Any) -> None:
    assert scope["type"] == "http"
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"welcome"})


async def status(connection: Connection) -> int:
    async with asyncio.timeout(60):
        return int((await connection[0].readline()).split()[1])


async def closed(connection: Connection) -> None:
    """Wait until the server closes a connection without a word."""
    async with asyncio.timeout(60):
        with suppress(ConnectionError):
            assert await connection[0].read() == b""


@asynccontextmanager
async def serving(door: Door) -> AsyncIterator[Connect]:
    """A server behind a door, and what connects to it and sends something."""
    bound = listen(LOOPBACK, 0)
    config = uvicorn.Config(
        app, http=connections_of(door), ws="none", lifespan="off", log_config=None
    )
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[bound]))
    async with AsyncExitStack() as stack:

        async def connect(data: bytes) -> Connection:
            reader, writer = await asyncio.open_connection(*bound.getsockname()[:2])
            stack.callback(writer.close)
            writer.write(data)
            return reader, writer

        try:
            yield connect
        finally:
            await stack.aclose()
            server.should_exit = True
            server.force_exit = True
            await task


async def test_a_hundred_half_sent_requests_keep_nobody_out() -> None:
    async with serving(Door(KEY)) as connect:
        halves = [await connect(HALF) for _ in range(100)]
        assert await status(await connect(asking())) == 200
        for half in halves[:30]:
            await closed(half)  # the oldest made room for the next


async def test_headers_have_a_time_limit_and_a_client_has_none() -> None:
    door = Door(KEY, headers_s=0.05)
    async with serving(door) as connect:
        await closed(await connect(HALF))
        client = await connect(asking())
        assert await status(client) == 200
        await closed(await connect(b""))  # meanwhile the client has been silent as long
        client[1].write(asking())
        assert await status(await _rest(client)) == 200


async def _rest(connection: Connection) -> Connection:
    """The connection after the answer that was begun to be read."""
    async with asyncio.timeout(60):
        await connection[0].readuntil(b"welcome\r\n0\r\n\r\n")
    return connection


async def test_a_wrong_key_is_refused_before_the_body_is_read() -> None:
    async with serving(Door(KEY)) as connect:
        for key in ("", "another", "the-key-and-more", "é"):
            stranger = await connect(asking(key, "Content-Length: 1000000\r\n"))
            assert await status(stranger) == 401, key
            async with asyncio.timeout(60):
                assert b"welcome" not in await stranger[0].read(), key


async def test_only_clients_with_the_key_are_counted() -> None:
    door = Door(KEY)
    async with serving(door) as connect:
        clients = [await connect(asking()) for _ in range(MOST_CONNECTIONS)]
        for client in clients:
            assert await status(client) == 200
        assert await status(await connect(asking())) == 503
        assert len(door.clients) == MOST_CONNECTIONS
        clients[0][1].close()
        await clients[0][1].wait_closed()
        async with asyncio.timeout(60):
            while await status(await connect(asking())) != 200:
                pass
        for _ in range(MOST_STRANGERS + 5):
            await connect(HALF)
        assert await status(await connect(asking("wrong"))) == 401
        assert len(door.strangers) <= MOST_STRANGERS
