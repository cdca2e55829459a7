"""One provider's address: sending requests, reading answers, and sorting failures.

The SDK builds and sends the request. The response is read here, piece by piece up to a limit and
straight into JSON, because servers send fields that the SDKs' types do not have and sizes that they
do not check. Redirects are not followed, so that the key goes only where the user sent it. The
SDKs' own retries are off: those of `harness.models.clients.retry` are in the transcript.

Answers are streamed if the endpoint can, and read into the same JSON as without: a long answer then
shows progress. An endpoint that refuses to stream, never streamed well, or reports no tokens in its
stream, is asked without streaming from then on. A request whose streams break is asked without
streaming, too.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

from pydantic_core import to_json

from harness.models.clients.connections import (
    Timeouts,
    no_connection,
    open_http,
    too_late,
    unsendable,
    with_address,
)
from harness.models.clients.event_stream import (
    CONTENT_TYPE,
    STREAM_STARTS,
    StreamFormat,
    events_in,
    read_events,
)
from harness.models.clients.retry import Pace, RetryPolicy, ask_until_answered
from harness.models.clients.wire import Json, counted_usage, read_json, word
from harness.models.error_body import read_error
from harness.models.faults import (
    AnsweredError,
    MalformedAnswerError,
    Redactor,
    RejectedError,
    ToolsRefusedError,
    TransientError,
    UntrustedServerError,
    WrongApiError,
    failed_answer,
    failed_status,
)
from harness.models.protocol import ModelError, ModelTurn, Retry, RetryObserver, Usage
from harness.models.route import shown_url

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")
Failure = TypeVar("Failure", bound=TransientError | ModelError)

MAX_ANSWER_BYTES = 16 * 2**20  # beyond the longest possible answer; parsed, it may grow twentyfold
MAX_ERROR_BYTES = 64 * 2**10
LOWEST_FAILED_STATUS = 300
LONGEST_START = 64  # bytes that tell a stream from JSON
ONE_PIECE_EVERY = 3  # tries of a request whose streams break: two as a stream, one in one piece
# Statuses of every request if the key, the address or the model's name is wrong.
FIRST_STATUSES = frozenset({401, 403, 404})
KEY_STATUS = 401
STREAM_STATUSES = frozenset({400, 403, 404, 405, 415, 422, 500, 501})
STREAM_WORDS = re.compile(r"\bstream", re.IGNORECASE)
REQUEST_ID_HEADERS = ("x-request-id", "request-id")


class Endpoint:
    """Sends requests to one address, with retries.

    Args:
        base_url: the address, as `https://host/v1`.
        api_key: API key, masked in every message.
        answer_field: field that an answer has and an error has not: gateways report errors as HTTP
            200.
        error_statuses: HTTP status of each error type, for errors sent with HTTP 200.
        read_usage: function that reads the token counts of an answer's `usage`.
        secrets: further texts to mask.
        policy: retry policy.
        timeouts: timeouts of one request.
        pace: clock and sleep function of the retries.

    Raises:
        UsageError: the environment's proxy or certificates cannot be used.

    Attributes:
        http: HTTP client for the SDK to use.
        redact: function that masks this address's secrets in external text, and makes it one line.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        answer_field: str,
        error_statuses: Mapping[str, int] | None = None,
        read_usage: Callable[[Any], Usage | None] | None = None,
        secrets: Iterable[str] = (),
        policy: RetryPolicy | None = None,
        timeouts: Timeouts | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._pace = pace
        self._timeouts = timeouts or Timeouts()
        self._policy = policy or RetryPolicy(total_s=self._timeouts.retry_s)
        self._answer_field = answer_field
        self._error_statuses = error_statuses or {}
        self._read_usage = read_usage
        self._answered = False
        self._streams = True
        self._has_streamed = False
        self._refusal: RejectedError | None = None
        parts = urlsplit(base_url)
        spellings = (parts.password, unquote(parts.password)) if parts.password else ()
        self.redact = Redactor(tuple(filter(None, (api_key, *spellings, *secrets))))
        self.where = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        self.http = open_http(self._timeouts, self._refuse_failed)

    async def ask(
        self,
        create: Any,
        body: Json,
        read: Callable[[Json], ModelTurn],
        on_retry: RetryObserver | None = None,
        stream: StreamFormat | None = None,
    ) -> ModelTurn:
        """Ask once, retrying transient failures.

        If the key, the address, the protocol or the model's name is refused, no more requests are
        sent, because every sample would be refused. The error then has `stops_run` set.

        Args:
            create: the SDK's method for a streamed raw response, such as
                `client.chat.completions.with_streaming_response.create`.
            body: its keyword arguments.
            read: function that makes the turn of an answer's JSON, or raises MalformedAnswerError.
            on_retry: function called with each failure before it is retried.
            stream: stream format of the protocol; None for an answer in one piece.

        Raises:
            ContextOverflowError: the conversation no longer fits.
            ModelError: the provider did not answer; the message holds its error text.
        """
        if self.http.is_closed:
            raise ModelError(f"the client of {self.where} is closed")

        broken = 0  # answers to this request

        async def once() -> ModelTurn:
            nonlocal broken
            if self._refusal is not None:
                again = type(self._refusal)(str(self._refusal), status=self._refusal.status)
                again.stops_run = True
                raise again
            started = time.perf_counter()
            streams = self._streams and (broken + 1) % ONE_PIECE_EVERY != 0
            try:
                data, request_id = await self._answer_to(
                    create, body, on_retry, stream, streams=streams
                )
            except TransientError as error:
                broken += error.streamed or not streams
                raise
            try:
                turn = read(data)
            except (TransientError, ModelError) as error:
                raise self._paid_for(error, data) from None
            server_id = request_id or turn.request_id  # the server's text may contain the key
            latency = round(time.perf_counter() - started, 6)
            measured: dict[str, Any] = {"latency_s": latency, "usage": counted_usage(turn)}
            measured["request_id"] = server_id and self.redact(server_id)
            return turn.model_copy(update=measured)

        try:
            turn = await ask_until_answered(once, self._policy, on_retry, self._pace)
        except AnsweredError as refused:
            turn = refused.turn().model_copy(update={"usage": refused.usage})
        except RejectedError as error:
            if self._stops_run(error):
                error.stops_run = True
                self._refusal = None if self._answered else error
            raise
        self._answered, self._refusal = True, None
        return turn

    def _stops_run(self, error: RejectedError) -> bool:
        """Return whether every other request would be refused as well."""
        if isinstance(error, ToolsRefusedError):
            return False
        if isinstance(error, WrongApiError) and not self._answered:
            return True
        if isinstance(error, UntrustedServerError) or error.account or error.status == KEY_STATUS:
            return True
        if self._answered:  # a gateway may use the others for one request only
            return False
        return error.hopeless or error.status in FIRST_STATUSES

    async def _answer_to(
        self,
        create: Any,
        body: Json,
        on_retry: RetryObserver | None,
        stream: StreamFormat | None,
        *,
        streams: bool,
    ) -> tuple[Json, str | None]:
        """Return the JSON of one answer, streamed if wanted and the endpoint can."""
        read = partial(self.read, stream=stream)
        if stream is None or not streams:
            return await self.send(create, body, read)
        try:
            data, request_id = await self.send(create, {**body, **stream.arguments}, read)
        except (RejectedError, TransientError) as error:
            if not self._refuses_to_stream(error):
                raise
            self._streams = False
            if on_retry is not None:
                cause = f"{error} (streaming is refused; from here on answers come in one piece)"
                on_retry(Retry(attempt=1, cause=cause, wait_s=0.0))
            return await self.send(create, body, read)
        if self._read_usage is not None and self._read_usage(data.get("usage")) is None:
            self._streams = False  # without streaming it may report tokens
        self._has_streamed = True
        return data, request_id

    def _refuses_to_stream(self, error: RejectedError | TransientError) -> bool:
        """Return whether a request failed because it asked for streaming."""
        if isinstance(error, MalformedAnswerError):
            if self._streams and not self._has_streamed:  # streaming never worked
                self._streams = False
                error.cause += " (from here on answers come in one piece)"
            return False
        return error.status in STREAM_STATUSES and STREAM_WORDS.search(str(error)) is not None

    def _paid_for(self, error: Failure, data: Json) -> Failure:
        """Return the error of an unusable answer, with the tokens that it cost."""
        if self._read_usage is not None:
            error.usage = self._read_usage(data.get("usage"))
        return error

    async def close(self) -> None:
        """Close the connections; calling it again does nothing."""
        await self.http.aclose()

    async def send(self, create: Any, body: Json, read: Callable[[Any], Awaitable[T]]) -> T:
        """Send one request, once, and return the result of `read`.

        Raises:
            TransientError: retrying can help.
            ModelError: retrying cannot help.
        """
        import anyio
        import httpx2

        try:
            async with asyncio.timeout(self._timeouts.request_s):
                async with create(**body) as response:
                    return await read(response)
        except (TransientError, ModelError):
            raise
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise too_late(error, self.where) from None
        except (httpx2.RequestError, anyio.EndOfStream, OSError) as error:
            raise no_connection(error, self.where, self.redact) from None
        except (httpx2.InvalidURL, UnicodeError, ValueError, TypeError) as error:
            raise unsendable(error, self.where, self.redact) from None
        except Exception as error:
            # Both SDKs have error classes of the same shape; the connection error is the cause.
            if not type(error).__module__.startswith(("openai", "anthropic")):
                raise
            cause = error.__cause__
            if isinstance(cause, TransientError | ModelError):  # Anthropic's SDK wraps them
                raise cause from None
            if isinstance(cause, httpx2.TimeoutException):
                raise too_late(error, self.where) from None
            if cause is not None:
                raise no_connection(cause, self.where, self.redact) from None
            raise unsendable(error, self.where, self.redact) from None

    async def read(
        self, response: Any, stream: StreamFormat | None = None
    ) -> tuple[Json, str | None]:
        """Return the JSON object of a response, and the provider's id for it.

        An answer that breaks off may be billed, unlike a connection that fails before.
        """
        import anyio
        import httpx2

        try:
            return await self._read_begun(response, stream)
        except (TimeoutError, httpx2.TimeoutException):
            raise
        except (httpx2.RequestError, anyio.EndOfStream, OSError) as error:
            lost = no_connection(error, self.where, self.redact, cut=True)
            if isinstance(lost, TransientError):
                lost.streamed = True
            raise lost from None

    async def _read_begun(
        self, response: Any, stream: StreamFormat | None
    ) -> tuple[Json, str | None]:
        kind = response.headers.get("content-type", "")
        if stream is not None and kind.partition(";")[0].strip().lower() == CONTENT_TYPE:
            try:
                data = await read_events(response, stream, MAX_ANSWER_BYTES)
                return self._checked(data, None, response.headers)
            except TransientError as error:
                error.streamed = True
                raise
        chunks = bytearray()
        async for chunk in response.iter_bytes():
            chunks += chunk
            if len(chunks) > MAX_ANSWER_BYTES:
                raise MalformedAnswerError(
                    f"the answer is larger than {MAX_ANSWER_BYTES >> 20} MiB"
                )
        if stream is not None and chunks[:LONGEST_START].lstrip().startswith(STREAM_STARTS):
            data = events_in(bytes(chunks), stream, MAX_ANSWER_BYTES)
            return self._checked(data, None, response.headers)
        return self._read(bytes(chunks), response.headers)

    def _read(self, body: bytes, headers: "httpx2.Headers") -> tuple[Json, str | None]:
        try:
            data = read_json(body)
        except MalformedAnswerError as error:
            kind = self.redact(headers.get("content-type", "none"))
            begins = self.redact(read_error(body[:MAX_ERROR_BYTES]).text)[:120]
            raise MalformedAnswerError(
                f"{error.cause} (content type {kind}): {begins or 'empty'}"
            ) from None
        return self._checked(data, body, headers)

    def _checked(
        self, data: Json, body: bytes | None, headers: "httpx2.Headers"
    ) -> tuple[Json, str | None]:
        """Return the answer with the provider's id for it, unless it is an error."""
        if data.get("error") and not data.get(self._answer_field):
            body = to_json(data) if body is None else body
            error = failed_answer(
                body, headers, self.redact, now=time.time(), statuses=self._error_statuses
            )
            raise self._paid_for(error, data)
        named = (word(headers.get(name)) for name in REQUEST_ID_HEADERS)
        return data, next(filter(None, named), None)

    async def _refuse_failed(self, response: "httpx2.Response") -> None:
        """Raise for a failed status before the SDK reads its body without a size limit."""
        if response.status_code < LOWEST_FAILED_STATUS:
            return
        import httpx2

        body = bytearray()
        try:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > MAX_ERROR_BYTES:
                    break
        except httpx2.RequestError:
            pass  # the status is known, and says more than a truncated body
        text = bytes(body[:MAX_ERROR_BYTES])
        status, headers = response.status_code, response.headers
        error = failed_status(status, headers, text, self.redact, now=time.time())
        raise with_address(error, self.redact(shown_url(str(response.request.url))))
