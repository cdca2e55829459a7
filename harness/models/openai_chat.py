"""Models behind OpenAI's chat completions, at the vendor's own endpoint or any that speaks it.

The SDK builds and sends the request; the response is read by us, piece by piece up to a bound and
straight into JSON, because servers of this protocol send fields that the SDK's types do not have
and sizes that it does not check. Redirects are not followed: the key goes where the user sent it.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from harness.models.faults import (
    MalformedAnswerError,
    Redactor,
    RejectedError,
    TransientError,
    failed_status,
    provider_words,
)
from harness.models.openai_wire import (
    Json,
    mended,
    read_json,
    request_body,
    turn_from_wire,
    word,
)
from harness.models.protocol import (
    Message,
    Model,
    ModelError,
    ModelSettings,
    ModelTurn,
    Retry,
    RetryObserver,
    ToolSpec,
)
from harness.models.retrying import Pace, RetryPolicy, ask_until_answered
from harness.problem import ProblemView

if TYPE_CHECKING:
    import httpx2

VENDOR_BASE_URL = "https://api.openai.com/v1"
VENDOR_HOST = "api.openai.com"
MAX_ANSWER_BYTES = 16 * 2**20  # beyond the longest answer there is; parsed, it may grow twentyfold
MAX_ERROR_BYTES = 64 * 2**10
LOWEST_FAILED_STATUS = 300
MENDABLE_STATUSES = frozenset({400, 422, 500})  # what servers say to broken arguments


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds one request may take: to connect, in silence between bytes, and in all.

    A completion that is not streamed is silent until it is done, hence the long silence.
    """

    connect_s: float = 15.0
    silence_s: float = 900.0
    request_s: float = 1800.0


class OpenAIChat:
    """A model at an endpoint of OpenAI's chat completions.

    Args:
        name: what results are filed under.
        model: the name the endpoint knows it by.
        base_url: the endpoint, as `https://host/v1`.
        api_key: sent as a bearer token, and masked in every message.
        policy: which failures are repeated, and how often.
        timeouts: of one request.
        pace: time as the retries see it.
    """

    def __init__(
        self,
        name: str,
        *,
        model: str,
        base_url: str,
        api_key: str,
        policy: RetryPolicy | None = None,
        timeouts: Timeouts | None = None,
        pace: Pace | None = None,
    ) -> None:
        import httpx2
        from openai import AsyncOpenAI

        self._name = name
        self._model = model
        self._policy = policy or RetryPolicy()
        self._pace = pace
        self._must_mend = False
        self._timeouts = timeouts or Timeouts()
        parts = urlsplit(base_url)
        self._redact = Redactor(tuple(s for s in (api_key, parts.password) if s))
        self._where = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        own = parts.hostname == VENDOR_HOST or (parts.hostname or "").endswith("." + VENDOR_HOST)
        self._max_tokens_field = "max_completion_tokens" if own else "max_tokens"
        timeout = httpx2.Timeout(
            self._timeouts.silence_s, connect=self._timeouts.connect_s, pool=None
        )
        self._client = AsyncOpenAI(
            api_key=api_key,
            base_url=base_url,
            max_retries=0,
            timeout=timeout,
            http_client=httpx2.AsyncClient(
                timeout=timeout,
                # The engine bounds the requests in flight; a second bound would only queue.
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
                follow_redirects=False,
                event_hooks={"response": [self._refuse_failed]},
            ),
        )

    @property
    def name(self) -> str:
        """What results are filed under."""
        return self._name

    def for_sample(self, problem: ProblemView, index: int) -> Model:  # noqa: ARG002 - protocol
        """The same object: a provider keeps nothing between samples."""
        return self

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        """Ask once, retrying what can help.

        Broken tool call arguments are sent back as the model wrote them. An endpoint that refuses
        such a conversation gets it once more with them wrapped in valid JSON, and so from then on.

        Raises:
            ContextOverflowError: the conversation no longer fits.
            ModelError: the provider did not answer; the message holds its own words.
        """
        if self._client.is_closed():
            raise ModelError(f"the client of {self._where} is closed")
        body = request_body(
            self._model, messages, tools, settings, max_tokens_field=self._max_tokens_field
        )

        if self._must_mend:
            body = mended(body) or body
        try:
            return await self._ask(body, messages, on_retry)
        except RejectedError as error:
            whole = mended(body)
            if error.status not in MENDABLE_STATUSES or whole is None:
                raise
            if on_retry is not None:
                on_retry(Retry(attempt=1, cause=f"{error} (broken arguments sent)", wait_s=0.0))
        turn = await self._ask(whole, messages, on_retry)
        self._must_mend = True
        return turn

    async def _ask(
        self, body: Json, messages: Sequence[Message], on_retry: RetryObserver | None
    ) -> ModelTurn:
        async def ask() -> ModelTurn:
            started = time.perf_counter()
            data, request_id = await self._post(body)
            turn = turn_from_wire(data, messages)
            latency_s = time.perf_counter() - started
            update = {"latency_s": latency_s, "request_id": request_id or turn.request_id}
            return turn.model_copy(update=update)

        return await ask_until_answered(ask, self._policy, on_retry, self._pace)

    async def close(self) -> None:
        """Close the connections; calling it again does nothing."""
        await self._client.close()

    async def _post(self, body: Json) -> tuple[Json, str | None]:
        """Send one request; its JSON object, and the provider's id for it.

        Raises:
            TransientError: asking again can help.
            ModelError: it cannot.
        """
        import anyio
        import httpx2
        from openai import APIConnectionError, APITimeoutError, OpenAIError

        try:
            async with asyncio.timeout(self._timeouts.request_s):
                return await self._exchange(body)
        except (TimeoutError, APITimeoutError, httpx2.TimeoutException) as error:
            raise TransientError(f"no answer in time from {self._where}{_kind(error)}") from None
        except (APIConnectionError, httpx2.RequestError, anyio.EndOfStream, OSError) as error:
            cause = error.__cause__ if isinstance(error, APIConnectionError) else error
            words = self._redact(f"{type(cause).__name__}: {cause}")
            raise TransientError(f"no connection to {self._where}: {words}") from None
        except (OpenAIError, httpx2.InvalidURL, UnicodeError, ValueError) as error:
            # What the SDK refuses to send will be refused again.
            words = self._redact(f"{type(error).__name__}: {error}")
            raise ModelError(f"the request to {self._where} cannot be sent: {words}") from None

    async def _exchange(self, body: Json) -> tuple[Json, str | None]:
        create: Any = self._client.chat.completions.with_streaming_response.create
        async with create(**body) as response:
            chunks = bytearray()
            async for chunk in response.iter_bytes():
                chunks += chunk
                if len(chunks) > MAX_ANSWER_BYTES:
                    raise MalformedAnswerError(
                        f"the answer is larger than {MAX_ANSWER_BYTES >> 20} MiB"
                    )
            return self._read(bytes(chunks), response.headers)

    def _read(self, body: bytes, headers: "httpx2.Headers") -> tuple[Json, str | None]:
        try:
            data = read_json(body)
        except MalformedAnswerError as error:
            kind = self._redact(headers.get("content-type", "none"))
            begins = self._redact(provider_words(body[:MAX_ERROR_BYTES])[0])[:120]
            raise MalformedAnswerError(
                f"{error.cause} (content type {kind}): {begins or 'empty'}"
            ) from None
        if data.get("error") and not data.get("choices"):  # gateways report errors as HTTP 200
            raise self._failure_within(data, body, headers)
        return data, word(headers.get("x-request-id"))

    def _failure_within(
        self, data: Json, body: bytes, headers: "httpx2.Headers"
    ) -> TransientError | ModelError:
        error: Any = data["error"]
        status: Any = cast("Json", error).get("code") if isinstance(error, dict) else None
        if isinstance(status, int) and 400 <= status < 600:  # noqa: PLR2004 - HTTP's failures
            return failed_status(status, headers, body, self._redact, now=time.time())
        words = self._redact(provider_words(body)[0])
        return MalformedAnswerError(f"an error instead of an answer: {words}")

    async def _refuse_failed(self, response: "httpx2.Response") -> None:
        """Raise for a failed status before the SDK reads its body, which has no bound there."""
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
            pass  # the status is known, and says more than a body cut short
        raise failed_status(
            response.status_code,
            response.headers,
            bytes(body[:MAX_ERROR_BYTES]),
            self._redact,
            now=time.time(),
        )


def _kind(error: BaseException) -> str:
    cause = error.__cause__ or error
    return f" ({type(cause).__name__})" if type(cause) is not TimeoutError else ""
