"""The message batches of Anthropic."""

import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast
from urllib.parse import quote

from harness.features.batch.batch_endpoint import (
    OTHER_CLOCK_S,
    BatchAnswer,
    BatchEndpoint,
    BatchRequest,
    BatchState,
    as_json,
    count_of,
    text_of,
    time_of,
)
from harness.models.clients.anthropic_messages import VERSION_PATH
from harness.models.clients.anthropic_wire import ERROR_STATUSES, request_body, turn_from_wire
from harness.models.clients.connections import opened
from harness.models.clients.wire import Json, word
from harness.models.faults import MalformedAnswerError, TransientError, failed_status
from harness.models.protocol import Message, ModelError, ModelSettings, ModelTurn

LONGEST_SUBMISSION_S = 3600.0  # from intent to creation; a later batch belongs to another run
COUNTS = ("processing", "succeeded", "errored", "canceled", "expired")


class AnthropicBatches(BatchEndpoint):
    """Message batches of one model at Anthropic.

    A batch has no name and no metadata. Only the custom ids in its results tell which requests it
    holds, and results can be read only after the batch has ended. A trailing `/v1` of the
    endpoint's address is ignored.
    """

    # From the vendor's reference of `messages.batches.create`: 100,000 requests and 256 MB.
    MOST_REQUESTS = 100_000
    MOST_BYTES = 256_000_000
    FRAME_BYTES = 64  # upper bound for the JSON around the list of requests
    PAGE = 1000
    CURSOR = "after_id"
    finds_surely = False

    def _open(self, headers: Mapping[str, str], *, base_url: str, **settings: Any) -> Any:
        from anthropic import AsyncAnthropic

        self._base_url = base_url.rstrip("/").removesuffix(VERSION_PATH)
        client = opened(AsyncAnthropic, headers, base_url=self._base_url, **settings)
        self._batches = client.messages.batches.with_streaming_response
        return client

    def body(self, messages: Sequence[Message], settings: ModelSettings) -> Json:
        """Return the body of a request without tools, the same as for a single request."""
        return request_body(self._model, messages, (), settings)

    def turn(self, data: Json, messages: Sequence[Message]) -> ModelTurn:
        """Convert an answer to a turn. Raises MalformedAnswerError."""
        return turn_from_wire(data, messages=messages)

    def entry(self, request: BatchRequest) -> Json:
        """Return a request in the list."""
        return {"custom_id": request.custom_id, "params": request.body}

    async def submit(self, token: str, requests: Sequence[BatchRequest]) -> str:
        """Submit requests once and return the batch's id.

        Raises TransientError and ModelError.
        """
        del token  # the API has no field for it
        batch = await self._once(self._batches.create, requests=list(map(self.entry, requests)))
        return text_of(batch, "id")

    async def find(self, token: str, requests: int, since: float) -> list[str]:
        """Return batches of this size created around this time. Raises ModelError."""
        del token
        ids: list[str] = []
        async for batch in self._listed(since):
            after = time_of(batch.get("created_at")) - since
            same = count_of(batch.get("request_counts"), *COUNTS) == requests
            name = word(batch.get("id"))
            if name and same and -OTHER_CLOCK_S <= after <= LONGEST_SUBMISSION_S:
                ids.append(name)
        return ids

    async def state(self, batch_id: str) -> BatchState:
        """Return a batch's state; counts are 0 until the batch ends. Raises ModelError."""
        batch = await self._fetch(self._batches.retrieve, message_batch_id=batch_id)
        counts = batch.get("request_counts")
        ended = batch.get("processing_status") == "ended"
        seconds = time_of(batch.get("ended_at")) - time_of(batch.get("created_at"))
        return BatchState(
            phase="ended" if ended else "in_progress",
            done=count_of(counts, *COUNTS[1:]),
            total=count_of(counts, *COUNTS),
            seconds=max(0.0, seconds) if ended else 0.0,
        )

    async def results(self, batch_id: str, take: Callable[[BatchAnswer], None]) -> int:
        """Call `take` with the outcome of each request; see `BatchEndpoint`. Raises ModelError."""
        return await self._answers(self._results, take, batch_id=batch_id)

    @asynccontextmanager
    async def _results(self, batch_id: str) -> AsyncGenerator[Any, None]:
        """Open the results file under the user's base URL.

        The SDK would send the API key to whatever host the batch's `results_url` names.
        """
        path = f"{self._base_url}/v1/messages/batches/{quote(batch_id, safe='')}/results"
        headers = {k: v for k, v in self._client.default_headers.items() if isinstance(v, str)}
        async with self._endpoint.http.stream("GET", path, headers=headers) as response:
            yield _Stream(response)

    def _answer(self, line: Json) -> BatchAnswer | None:
        name, result = line.get("custom_id"), line.get("result")
        if not isinstance(name, str) or not isinstance(result, dict):
            return None
        fields = cast("Json", result)
        kind, message = fields.get("type"), fields.get("message")
        if kind == "succeeded" and isinstance(message, dict):
            return BatchAnswer(name, cast("Json", message))
        if kind == "errored":
            return BatchAnswer(name, error=self._error(fields.get("error")))
        text = self._redact(f"the request is {word(kind) or 'without a result'}")
        return BatchAnswer(name, error=TransientError(text))

    def _error(self, response: Any) -> TransientError | ModelError:
        """Map the error type to its HTTP status, which decides whether a retry can help."""
        body = as_json(response)
        inner = cast("Json", response).get("error") if isinstance(response, dict) else None
        kind = cast("Json", inner).get("type") if isinstance(inner, dict) else None
        status = ERROR_STATUSES.get(str(kind))
        if status is None:
            return MalformedAnswerError(
                self._redact(f"an unknown error: {body[:1000].decode(errors='replace')}")
            )
        return failed_status(status, {}, body, self._redact, now=time.time())


class _Stream:
    """Adapter that gives a response the attributes of the SDKs' responses."""

    def __init__(self, response: Any) -> None:
        self.headers = response.headers
        self.iter_bytes = response.aiter_bytes
