"""Read an answer that a provider streams as server-sent events.

The format is that of the WHATWG's HTML standard, section 9.2: lines of `field: value`, an empty
line after each event. llama.cpp reports a failure in a field `error` of its own; it is read like an
event with that error. Each protocol has an assembler that turns the events into the JSON object
that the provider sends without streaming (`ChatStream`, `ResponsesStream`, `MessagesStream`).

Only the protocol's own word for the end of an answer makes it complete, and not the end of the
stream: half an answer is no answer.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from pydantic_core import from_json, to_json

from harness.models.clients.wire import Json, read_json
from harness.models.faults import MalformedAnswerError
from harness.models.protocol import Usage

CONTENT_TYPE = "text/event-stream"
STREAM_STARTS = (b"data:", b"event:", b"error:", b"id:", b":")
DONE = b"[DONE]"
NO_END = "the stream ended before the answer was complete: no reason for its end was sent"
AFTER_MARK_S, AFTER_ANSWER_S = 1.0, 10.0
"""Seconds to wait for the end of a stream after its last event, or after a complete answer."""
MAX_STREAM_BYTES = 512 * 2**20  # an event around each token takes fifty times the token's own size
MAX_EVENT_BYTES = 16 * 2**20


class Assembler(Protocol):
    """Assembles one answer from a stream's events."""

    def add(self, data: Json) -> None:
        """Add the next event. Raises MalformedAnswerError."""
        ...

    @property
    def size(self) -> int:
        """Approximate size of the answer so far, in bytes."""
        ...

    @property
    def done(self) -> bool:
        """Whether the answer is complete, or the server reported that it failed."""
        ...

    @property
    def usage(self) -> Any:
        """The final token counts as they came; None if none did."""
        ...

    def answer(self) -> Json:
        """Return the answer as without streaming, or an object with `error`."""
        ...


class StreamFormat(NamedTuple):
    """Stream format of a protocol.

    Attributes:
        arguments: request fields that turn streaming on.
        assembler: class that assembles one answer.
        read_usage: function that reads the token counts of an answer's `usage`.
    """

    arguments: Mapping[str, Any]
    assembler: type[Assembler]
    read_usage: Callable[[Any], Usage | None]

    def answer(self, assembler: Assembler) -> Json:
        """Return the answer at the end of its stream. Raises MalformedAnswerError."""
        if assembler.done:
            return assembler.answer()
        error = MalformedAnswerError(NO_END, cut=True)
        error.usage = self.read_usage(assembler.usage)
        raise error


@dataclass(slots=True)
class EventReader:
    """Splits the bytes of a stream into events."""

    _rest: bytearray = field(default_factory=bytearray)
    _data: list[bytes] = field(default_factory=list[bytes])
    _read: int = 0
    _held: int = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the data of each event that ends within these bytes; that of keep-alives is empty.

        Raises:
            MalformedAnswerError: the stream, or one event of it, is too large.
        """
        self._read += len(chunk)
        self._rest += chunk
        if self._read > MAX_STREAM_BYTES or len(self._rest) + self._held > MAX_EVENT_BYTES:
            raise MalformedAnswerError("the stream is larger than any answer")
        if b"\n" not in chunk:
            return
        *lines, rest = self._rest.split(b"\n")
        self._rest = bytearray(rest)
        for line in lines:
            yield from self._take(bytes(line.removesuffix(b"\r")))

    def end(self) -> Iterator[bytes]:
        """Yield the data of a last event that no empty line follows."""
        yield from self._take(bytes(self._rest))
        yield from self._take(b"")

    def _take(self, line: bytes) -> Iterator[bytes]:
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
            self._held += len(value)
        elif name == b"error":
            yield to_json({"error": _error(value)})
        elif not line and self._data:
            data, self._data, self._held = b"\n".join(self._data), [], 0
            yield data


def _error(value: bytes) -> Any:
    """Return an error as JSON, or its text."""
    try:
        return from_json(value) or True
    except ValueError:
        return value.decode("utf-8", "replace").strip() or True


def events_in(body: bytes, stream: StreamFormat, most_bytes: int) -> Json:
    """Return the answer of a stream that was sent under another content type.

    Raises:
        MalformedAnswerError: as in `read_events`.
    """
    events, assembler = EventReader(), stream.assembler()
    for data in (*events.feed(body), *events.end()):
        _take(assembler, data, most_bytes)
    return stream.answer(assembler)


async def read_events(response: Any, stream: StreamFormat, most_bytes: int) -> Json:
    """Return the answer of a streamed response.

    Args:
        response: the SDK's response, not read yet.
        stream: stream format of the protocol.
        most_bytes: largest size of the answer in bytes.

    Raises:
        MalformedAnswerError: it is none, or larger than allowed.
        httpx2.RequestError: the connection was lost before the answer was complete.
    """
    import httpx2

    events, assembler, marked = EventReader(), stream.assembler(), False
    pieces = response.iter_bytes().__aiter__()
    try:
        async with asyncio.timeout(None) as clock:
            while (chunk := await anext(pieces, None)) is not None:
                for data in events.feed(chunk):
                    marked |= _take(assembler, data, most_bytes)
                if marked or assembler.done:  # some servers never end the stream
                    patience = AFTER_MARK_S if marked else AFTER_ANSWER_S
                    clock.reschedule(asyncio.get_running_loop().time() + patience)
        for data in events.end():
            marked |= _take(assembler, data, most_bytes)
    except (TimeoutError, httpx2.RequestError):
        if not (marked or assembler.done):
            raise
    return stream.answer(assembler)


def _take(assembler: Assembler, data: bytes, most_bytes: int) -> bool:
    """Add an event; return whether it marks the end of the stream.

    Raises:
        MalformedAnswerError: the event is not JSON, or the answer is larger than allowed.
    """
    data = data.strip()
    if data == DONE:
        return True
    if not data:
        return False
    assembler.add(read_json(data))
    if assembler.size > most_bytes:
        raise MalformedAnswerError(f"the answer is larger than {most_bytes >> 20} MiB")
    return False
