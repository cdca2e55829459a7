"""Assemble a streamed answer of OpenAI's Responses API.

The last event holds the whole response, so nothing has to be assembled. Some gateways leave its
output empty; then the items reported as done are the output.
"""

from typing import Any, cast

from harness.models.clients.wire import Json
from harness.models.faults import MalformedAnswerError

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
