"""Client of OpenAI's Responses API, which takes reasoning back from turn to turn.

The last event of a stream holds the whole response, so nothing has to be assembled. Some gateways
leave its output empty; then the items reported as done are the output.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

from harness.models.clients.client import Client
from harness.models.clients.event_stream import StreamFormat
from harness.models.clients.responses_wire import request_body, turn_from_wire, usage_from_wire
from harness.models.clients.wire import Json
from harness.models.faults import MalformedAnswerError
from harness.models.protocol import Message, ModelTurn

LAST = frozenset({"response.completed", "response.incomplete", "response.failed"})
ITEM = 64  # bytes of an item besides its text


class ResponsesStream:
    """Assembles one response from its events."""

    def __init__(self) -> None:
        self._items: dict[int, Any] = {}
        self._response: Json | None = None
        self._error: Json | None = None
        self.size = 0

    @property
    def done(self) -> bool:
        """Whether the last event has been received."""
        return self._response is not None or self._error is not None

    @property
    def usage(self) -> Any:
        """The token counts, which only the last event has."""
        return self._response and self._response.get("usage")

    def add(self, data: Json) -> None:
        """Add an event."""
        kind, response = data.get("type"), data.get("response")
        if kind in LAST and isinstance(response, dict):
            self._response = cast("Json", response)
        elif kind == "error" or (kind is None and data.get("error")):
            error = data.get("error")
            self._error = cast("Json", error) if isinstance(error, dict) else data
        elif kind == "response.output_item.done":
            place = data.get("output_index")
            place = place if isinstance(place, int) else len(self._items)
            self._items[place] = data.get("item")
            self.size += ITEM
        delta = data.get("delta")
        self.size += len(delta) if isinstance(delta, str) else 0

    def answer(self) -> Json:
        """Return the response, or the server's error. Raises MalformedAnswerError."""
        if self._error is not None:
            return {"error": self._error}
        if self._response is None:
            raise MalformedAnswerError("the stream ended before the response was complete")
        if not self._response.get("output") and self._items:
            output = [self._items[place] for place in sorted(self._items)]
            return {**self._response, "output": output}
        return self._response


class OpenAIResponses(Client):
    """Model at an endpoint of OpenAI's Responses API.

    The provider stores nothing: each request holds the whole conversation, including the model's
    encrypted reasoning. A model without reasoning refuses that with an error of its own; use
    `OpenAIChat` for it. Nothing that the provider refuses is left out and retried, so that what was
    measured is what the user asked for.
    """

    # A failed response has no output; its error is classified by code, not by status.
    ANSWER_FIELD = "status"
    REQUEST = staticmethod(request_body)
    STREAM = StreamFormat({"stream": True}, ResponsesStream, usage_from_wire)

    def _resource(self) -> Any:
        return self._client.responses

    def _arguments(self, method: Callable[..., Any], body: Json) -> Json:  # noqa: ARG002
        # As an argument, every item would be matched against each of the SDK's forty item
        # types, which only costs time: 90 ms for a conversation of forty turns.
        return {"extra_body": body}

    def _read(self, data: Json, messages: Sequence[Message]) -> ModelTurn:
        return turn_from_wire(data, messages=messages, redact=self._endpoint.redact)
