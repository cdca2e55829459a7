"""Read an answer that a provider streams as server-sent events.

The format is that of the WHATWG's HTML standard, section 9.2: lines of `field: value`, an empty
line after each event. Each protocol has an assembler that turns the events into the JSON object
that the provider sends without streaming (`ChatStream`, `ResponsesStream`, `MessagesStream`).
"""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from harness.models.clients.wire import Json, read_json
from harness.models.faults import MalformedAnswerError

CONTENT_TYPE = "text/event-stream"
DONE = b"[DONE]"
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
        """Whether the answer is complete."""
        ...

    def answer(self) -> Json:
        """Return the answer as without streaming, or an object with `error`."""
        ...


@dataclass(frozen=True, slots=True)
class StreamFormat:
    """Stream format of a protocol.

    Attributes:
        arguments: request fields that turn streaming on.
        assembler: class that assembles one answer.
    """

    arguments: Mapping[str, Any]
    assembler: type[Assembler]


@dataclass(slots=True)
class EventReader:
    """Splits the bytes of a stream into events."""

    _rest: bytearray = field(default_factory=bytearray)
    _data: list[bytes] = field(default_factory=list[bytes])
    _read: int = 0
    _held: int = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the data of each event that ends within these bytes.

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
        elif not line and self._data:
            data, self._data, self._held = b"\n".join(self._data), [], 0
            yield data


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
                if assembler.done:  # some servers never end the stream
                    patience = AFTER_MARK_S if marked else AFTER_ANSWER_S
                    clock.reschedule(asyncio.get_running_loop().time() + patience)
        for data in events.end():
            marked |= _take(assembler, data, most_bytes)
    except (TimeoutError, httpx2.RequestError):
        if not assembler.done:
            raise
    if not (marked or assembler.done):
        raise MalformedAnswerError("the stream ended before the answer was complete", cut=True)
    return assembler.answer()


def _take(assembler: Assembler, data: bytes, most_bytes: int) -> bool:
    """Add an event; return whether it marks the end of the stream.

    Raises:
        MalformedAnswerError: the event is not JSON, or the answer is larger than allowed.
    """
    if data.strip() == DONE:
        return True
    assembler.add(read_json(data))
    if assembler.size > most_bytes:
        raise MalformedAnswerError(f"the answer is larger than {most_bytes >> 20} MiB")
    return False
