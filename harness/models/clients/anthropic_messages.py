"""Client of Anthropic's Messages API, at the vendor or any compatible endpoint."""

from collections.abc import Callable
from typing import Any, cast

from pydantic_core import from_json

from harness.models.clients.amendments import MESSAGES_AMENDMENTS
from harness.models.clients.anthropic_wire import (
    ERROR_STATUSES,
    request_body,
    turn_from_wire,
    usage_from_wire,
)
from harness.models.clients.client import Client
from harness.models.clients.event_stream import StreamFormat
from harness.models.clients.wire import Json, stop_word
from harness.models.faults import MalformedAnswerError

MOST_BLOCKS = 10_000
BLOCK = 64  # bytes of a block besides its text
CITATIONS_DELTA = "citations_delta"
VERSION_PATH = "/v1"  # appended by the SDK


class MessagesStream:
    """Assembles one message from its events."""

    def __init__(self) -> None:
        self._message: Json | None = None
        self._blocks: dict[int, Json] = {}
        self._pieces: dict[int, dict[str, list[str]]] = {}
        self._usage: Json = {}
        self._error: Json | None = None
        self._stopped = False
        self.size = 0

    @property
    def done(self) -> bool:
        """Whether the message has ended for a reason, or the server reported that it failed."""
        if self._error is not None:
            return True
        return self._stopped and stop_word((self._message or {}).get("stop_reason")) is not None

    @property
    def usage(self) -> Any:
        """The token counts of the whole message; those at its beginning are not final."""
        return self._usage if self._stopped else None

    def add(self, data: Json) -> None:
        """Add an event. Raises MalformedAnswerError."""
        match data.get("type"):
            case "message_start":
                self._message = dict(_object(data, "message"))
                self._take_usage(self._message.get("usage"))
            case "content_block_start":
                self._blocks[self._place(data)] = dict(_object(data, "content_block"))
                self.size += BLOCK
            case "content_block_delta":
                self._grow(self._place(data), _object(data, "delta"))
            case "message_delta":
                if self._message is None:
                    raise MalformedAnswerError("the stream does not begin with a message")
                self._message.update(_object(data, "delta"))
                self._take_usage(data.get("usage"))
            case "message_stop":
                self._stopped = True
            case "error":
                self._error = data
            case _:  # a ping, or a type unknown here
                if data.get("error"):
                    self._error = data

    def answer(self) -> Json:
        """Return the message, or the server's error. Raises MalformedAnswerError."""
        usage = {"usage": self._usage} if self._usage else {}
        if self._error is not None:
            return {"error": self._error.get("error") or self._error, **usage}
        if self._message is None or not self.done:
            raise MalformedAnswerError("the stream ended before the message was complete")
        content = [self._block(place) for place in sorted(self._blocks)]
        return {**self._message, "content": content, **usage}

    def _take_usage(self, usage: Any) -> None:
        if isinstance(usage, dict):
            counts = cast("Json", usage).items()
            self._usage.update({name: value for name, value in counts if value is not None})

    def _place(self, data: Json) -> int:
        place = data.get("index")
        if not isinstance(place, int) or not 0 <= place < MOST_BLOCKS:
            raise MalformedAnswerError("the stream has a block without a place")
        return place

    def _grow(self, place: int, delta: Json) -> None:
        block = self._blocks.get(place)
        if block is None:
            raise MalformedAnswerError("the stream goes on with a block that it has not begun")
        if delta.get("type") == CITATIONS_DELTA:
            citations = block.get("citations")
            if not isinstance(citations, list):
                citations = block["citations"] = list[Any]()
            cast("list[Any]", citations).append(delta.get("citation"))
            self.size += BLOCK
            return
        pieces = self._pieces.setdefault(place, {})
        for name, value in delta.items():
            if name == "type":
                continue
            if isinstance(value, str):
                pieces.setdefault(name, []).append(value)
                self.size += len(value)
            else:
                block[name] = value

    def _block(self, place: int) -> Json:
        """Return a block with the pieces of its text joined."""
        block = dict(self._blocks[place])
        for name, pieces in self._pieces.get(place, {}).items():
            text = "".join(pieces)
            if name == "partial_json":
                block["input"] = _input(text) if text else block.get("input")
            else:
                before = block.get(name)
                block[name] = (before if isinstance(before, str) else "") + text
        return block


def _input(text: str) -> Any:
    """Return a call's arguments; as text where they are cut off."""
    try:
        return from_json(text)
    except ValueError:
        return text


def _object(data: Json, name: str) -> Json:
    value = data.get(name)
    if not isinstance(value, dict):
        raise MalformedAnswerError(f"the stream has an event without {name}")
    return cast("Json", value)


class AnthropicMessages(Client):
    """Model at an endpoint of Anthropic's Messages API.

    Blank texts of earlier answers are sent back as they came, since thinking may be bound to the
    conversation before it. An endpoint that refuses them gets the conversation without them.
    """

    ANSWER_FIELD = "content"
    ERROR_STATUSES = ERROR_STATUSES
    REQUEST = staticmethod(request_body)
    TURN = staticmethod(turn_from_wire)
    STREAM = StreamFormat({"stream": True}, MessagesStream, usage_from_wire)
    AMENDMENTS = MESSAGES_AMENDMENTS

    @staticmethod
    def sdk() -> Callable[..., Any]:
        """Return the SDK's class of clients."""
        from anthropic import AsyncAnthropic

        def at_host(*, base_url: str, **settings: Any) -> Any:
            host = base_url.rstrip("/").removesuffix(VERSION_PATH)
            return AsyncAnthropic(base_url=host, **settings)

        return at_host

    def _resource(self) -> Any:
        return self._client.messages
