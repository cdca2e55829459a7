"""The batches of OpenAI and compatible endpoints."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from harness.features.batch.batch_endpoint import (
    BatchAnswer,
    BatchEndpoint,
    BatchRequest,
    BatchState,
    as_json,
    count_of,
    objects_of,
    text_of,
)
from harness.models.clients.connections import opened
from harness.models.clients.openai_answer import turn_from_wire as chat_turn
from harness.models.clients.openai_request import max_tokens_field
from harness.models.clients.openai_request import request_body as chat_body
from harness.models.clients.responses_wire import request_body as responses_body
from harness.models.clients.responses_wire import turn_from_wire as responses_turn
from harness.models.clients.wire import Json, word
from harness.models.faults import MalformedAnswerError, RejectedError, TransientError, failed_status
from harness.models.protocol import Message, ModelError, ModelSettings, ModelTurn

RESPONSES = "/v1/responses"
CHAT_COMPLETIONS = "/v1/chat/completions"

TOKEN = "harness_batch"  # noqa: S105 - the metadata key under which a batch is found again
FIRST_FAILED_STATUS = 300

# Reasons a batch is refused that may no longer hold when other batches have ended.
PASSING_CODES = frozenset({"token_limit_exceeded", "rate_limit_exceeded", "server_error"})
# Errors of single requests that the request did not cause.
PASSING_ERRORS = frozenset({"batch_expired", "batch_cancelled", "server_error"})


class OpenAIBatches(BatchEndpoint):
    """Batches of one model at OpenAI or a compatible endpoint.

    Args:
        model: the model's name at the endpoint.
        url: `RESPONSES` or `CHAT_COMPLETIONS`, the path of every request in a batch.
        base_url: the endpoint, as `https://host/v1`.
        settings: what `BatchEndpoint` takes besides.
    """

    # From the SDK's documentation of `batches.create`: 50,000 requests and 200 MB.
    MOST_REQUESTS = 50_000
    MOST_BYTES = 200_000_000
    PAGE = 100
    CURSOR = "after"
    finds_surely = True

    def __init__(self, model: str, *, url: str, base_url: str, **settings: Any) -> None:
        super().__init__(model, base_url=base_url, **settings)
        self._url = url
        self._max_tokens_field = max_tokens_field(base_url)
        self._files = self._client.files.with_streaming_response
        self._batches = self._client.batches.with_streaming_response

    def _open(self, headers: Mapping[str, str], **settings: Any) -> Any:
        from openai import AsyncOpenAI

        return opened(AsyncOpenAI, headers, **settings)

    def body(self, messages: Sequence[Message], settings: ModelSettings) -> Json:
        """Return the body of a request without tools, the same as for a single request."""
        if self._url == RESPONSES:
            return responses_body(self._model, messages, (), settings)
        return chat_body(
            self._model, messages, (), settings, max_tokens_field=self._max_tokens_field
        )

    def turn(self, data: Json, messages: Sequence[Message]) -> ModelTurn:
        """Convert an answer to a turn. Raises TransientError or ModelError."""
        if self._url == RESPONSES:
            return responses_turn(data, messages, redact=self._redact)
        return chat_turn(data, messages)

    def entry(self, request: BatchRequest) -> Json:
        """Return a request's line."""
        line = {"method": "POST", "url": self._url, "body": request.body}
        return {"custom_id": request.custom_id, **line}

    async def submit(self, token: str, requests: Sequence[BatchRequest]) -> str:
        """Submit requests once and return the batch's id.

        Raises TransientError and ModelError. The upload may be retried: a file costs nothing and
        is deleted after 30 days.
        """
        lines = b"".join(as_json(self.entry(each)) + b"\n" for each in requests)
        file = await self._fetch(
            self._files.create, file=(f"{token}.jsonl", lines), purpose="batch"
        )
        batch = await self._once(
            self._batches.create,
            input_file_id=_id(file),
            endpoint=self._url,
            completion_window="24h",
            metadata={TOKEN: token},
        )
        return text_of(batch, "id")

    async def find(self, token: str, requests: int, since: float) -> list[str]:
        """Return the newest batch whose metadata hold the token. Raises ModelError."""
        del requests
        async for batch in self._listed(since):
            metadata = batch.get("metadata")
            if isinstance(metadata, dict) and cast("Json", metadata).get(TOKEN) == token:
                return [_id(batch)]
        return []

    async def state(self, batch_id: str) -> BatchState:
        """Return a batch's state. Raises ModelError."""
        batch = await self._fetch(self._batches.retrieve, batch_id=batch_id)
        counts, status = batch.get("request_counts"), batch.get("status")
        if status == "failed":
            message, code = _first_error(batch)
            return BatchState(
                phase="failed",
                reason=self._redact(f"the batch failed: {message}"),
                can_help=code in PASSING_CODES,
            )
        ended = status in ("completed", "expired", "cancelled")
        at = count_of(batch, f"{status}_at") if ended else 0
        return BatchState(
            phase="ended" if ended else "in_progress",
            done=count_of(counts, "completed", "failed"),
            total=count_of(counts, "total"),
            seconds=max(0.0, at - count_of(batch, "created_at")) if at else 0.0,
        )

    async def results(self, batch_id: str, take: Callable[[BatchAnswer], None]) -> int:
        """Call `take` with the outcome of each request; see `BatchEndpoint`. Raises ModelError."""
        batch = await self._fetch(self._batches.retrieve, batch_id=batch_id)
        files = [word(batch.get(name)) for name in ("output_file_id", "error_file_id")]
        if not any(files) and count_of(batch.get("request_counts"), "completed", "failed"):
            raise RejectedError("it has ended, and its files are gone", status=410)
        content = self._files.content
        return sum([await self._answers(content, take, file_id=each) for each in files if each])

    def _answer(self, line: Json) -> BatchAnswer | None:
        name, response, error = (line.get(key) for key in ("custom_id", "response", "error"))
        if not isinstance(name, str):
            return None
        if isinstance(response, dict):
            return self._answered(name, cast("Json", response))
        fields = cast("Json", error) if isinstance(error, dict) else {}
        code = fields.get("code")
        text = self._redact(f"{code or 'no answer'}: {fields.get('message') or 'no reason given'}")
        if code in PASSING_ERRORS or not fields:
            return BatchAnswer(name, error=TransientError(text))
        return BatchAnswer(name, error=ModelError(text))

    def _answered(self, name: str, response: Json) -> BatchAnswer:
        status, body = response.get("status_code"), response.get("body")
        if isinstance(status, int) and status >= FIRST_FAILED_STATUS:
            now = time.time()
            failure = failed_status(status, {}, as_json(body), self._redact, now=now)
            return BatchAnswer(name, error=failure)
        if not isinstance(body, dict):
            return BatchAnswer(name, error=MalformedAnswerError("the answer has no body"))
        return BatchAnswer(name, cast("Json", body), word(response.get("request_id")))


def _id(fields: Json) -> str:
    """Return the id of an object. Raises RejectedError, as a retry cannot help."""
    try:
        return text_of(fields, "id")
    except MalformedAnswerError as error:
        raise RejectedError(error.cause, status=200) from None


def _first_error(batch: Json) -> tuple[str, str]:
    errors = batch.get("errors")
    listed = objects_of(cast("Json", errors), "data") if isinstance(errors, dict) else []
    first = listed[0] if listed else {}
    message, code, line = (first.get(name) for name in ("message", "code", "line"))
    at = f" (line {line} of its file)" if isinstance(line, int) else ""
    return f"{message or code or 'no reason given'}{at}", str(code)
