"""The MCP server of one sample over stdin and stdout.

A client cannot exhaust the server's memory: messages have a maximum length, and no further message
is read while too many are unanswered.
"""

import asyncio
import contextlib
import os
import stat
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from harness.agent.attempt import StopReason
from harness.agent.events import AgentLeft
from harness.features.external.session import McpSession
from harness.models.protocol import ModelError
from harness.tools.mcp_server import LONGEST_MESSAGE, server_of

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared.message import SessionMessage

MOST_UNANSWERED = 32
LAST_ANSWER_S = 2.0
LEFT_S = 1.0
TOO_LONG = f"A message may have {LONGEST_MESSAGE:,} bytes; this one was longer."
_INVALID_REQUEST = -32600


class StdioHost:
    """Serves one client over two file descriptors until the client closes them.

    Args:
        read: descriptor to read the client's messages from.
        write: descriptor to write answers to.
    """

    confined = False

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write = read, write
        self._desk: McpSession | None = None

    def leave(self) -> bool:
        """End the sample as if the client had left; return False if it wrote no solution."""
        return self._desk is not None and self._desk.leave()

    async def attend(self, desk: McpSession) -> StopReason:
        """Serve until the client leaves or the session ends.

        Raises:
            ModelError: the client left without a tool call.
        """
        import anyio
        from mcp.shared.message import SessionMessage

        self._desk = desk
        inbound, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        writing, outbound = anyio.create_memory_object_stream[SessionMessage](0)
        server = server_of(desk.specs, desk.call, instructions=desk.prompt, met=desk.meet)
        options = server.create_initialization_options()
        unanswered = _Unanswered()
        served = asyncio.create_task(server.run(reading, writing, options))
        pumps = [
            asyncio.create_task(_receive(self._read, inbound, unanswered, writing.clone())),
            asyncio.create_task(_send(self._write, outbound, unanswered)),
        ]
        try:
            await asyncio.wait({served, pumps[1], desk.ended}, return_when=asyncio.FIRST_COMPLETED)
            if desk.ended.done():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(unanswered.none.wait(), LAST_ANSWER_S)
        finally:
            for task in (*pumps, served):
                task.cancel()
            await asyncio.gather(*pumps, served, return_exceptions=True)
            for stream in (inbound, reading, writing, outbound):
                stream.close()
            desk.left(AgentLeft())
        if not desk.calls and not desk.ended.done():
            raise ModelError("the client left without a tool call")
        return StopReason.MODEL_STOPPED


class _Unanswered:
    """The ids of requests that have not been answered yet.

    Attributes:
        room: whether another request may be read.
        none: whether all are answered.
    """

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self.room = asyncio.Event()
        self.room.set()
        self.none = asyncio.Event()
        self.none.set()

    def takes(self, message: Any) -> bool:
        """Return whether to pass a message on; requests with an open id are dropped."""
        if getattr(message, "method", "") == "notifications/cancelled":
            params: dict[str, Any] = message.params or {}
            self._remove(params.get("requestId"))
        identity = getattr(message, "id", None)
        if identity is None or not hasattr(message, "method"):
            return True
        if str(identity) in self._ids:
            return False
        self._ids.add(str(identity))
        self._look()
        return True

    def answered(self, message: Any) -> None:
        """Record that an answer has been written."""
        if not hasattr(message, "method"):
            self._remove(getattr(message, "id", None))

    def _remove(self, identity: Any) -> None:
        self._ids.discard(str(identity))
        self._look()

    def _look(self) -> None:
        for event, true in (
            (self.room, len(self._ids) < MOST_UNANSWERED),
            (self.none, not self._ids),
        ):
            if true:
                event.set()
            else:
                event.clear()


async def _receive(
    descriptor: int,
    inbound: "MemoryObjectSendStream[SessionMessage | Exception]",
    unanswered: _Unanswered,
    writing: "MemoryObjectSendStream[SessionMessage]",
) -> None:
    import mcp_types as types
    from mcp.shared.message import SessionMessage

    async with inbound, writing:
        async for line in _lines(descriptor):
            if line is None:
                fault = types.ErrorData(code=_INVALID_REQUEST, message=TOO_LONG)
                answer = types.JSONRPCError(jsonrpc="2.0", id=None, error=fault)
                await writing.send(SessionMessage(answer))
                continue
            try:
                message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValidationError:
                continue  # cannot be answered, as it has no id
            if unanswered.takes(message):
                await inbound.send(SessionMessage(message))
            await unanswered.room.wait()
        with contextlib.suppress(TimeoutError):  # a script may close stdin before it reads answers
            await asyncio.wait_for(unanswered.none.wait(), LEFT_S)


async def _lines(descriptor: int) -> AsyncIterator[bytes | None]:
    """Yield lines from a descriptor; None in place of a line that is too long."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST_MESSAGE)
    with os.fdopen(os.dup(descriptor), "rb", buffering=0) as file:
        if not _may_be_waited_for(descriptor):
            for line in iter(lambda: file.readline(LONGEST_MESSAGE), b""):
                yield line
            return
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), file
        )
        try:
            too_long = False
            while True:
                try:
                    line = await reader.readuntil(b"\n")
                except asyncio.LimitOverrunError as overrun:
                    await reader.readexactly(overrun.consumed)
                    too_long = True
                    continue
                except (asyncio.IncompleteReadError, ConnectionError):
                    return
                yield None if too_long else line
                too_long = False
        finally:
            transport.close()


def _may_be_waited_for(descriptor: int) -> bool:
    """Return whether more may come later, as from a pipe, socket or terminal."""
    kind = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or os.isatty(descriptor)


async def _send(
    descriptor: int,
    outbound: "MemoryObjectReceiveStream[SessionMessage]",
    unanswered: _Unanswered,
) -> None:
    loop = asyncio.get_running_loop()
    file = os.fdopen(os.dup(descriptor), "wb", buffering=0)
    try:
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.streams.FlowControlMixin(loop=loop), file
        )
    except ValueError:
        transport = protocol = None
    writer = (
        None if transport is None else asyncio.StreamWriter(transport, protocol, None, loop)  # pyright: ignore[reportArgumentType] - as asyncio's documentation has it
    )
    try:
        async with outbound:
            async for sent in outbound:
                text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                data = text.encode() + b"\n"
                if writer is None:
                    file.write(data)
                else:
                    writer.write(data)
                    await writer.drain()
                unanswered.answered(sent.message)
    except (ConnectionError, OSError):
        return  # the client has gone
    finally:
        if transport is not None:
            transport.abort()
        file.close()
