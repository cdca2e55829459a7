"""Common interface of the providers' batch APIs.

Requests of a batch are submitted together and answered within a day at half the price.
`openai_batches` and `anthropic_batches` implement the interface; retries, waiting and the journal
are in other modules.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, cast

from harness.frozen import Frozen
from harness.models.clients.endpoint import MAX_ANSWER_BYTES, Endpoint
from harness.models.clients.retry import Pace, RetryPolicy, ask_until_answered
from harness.models.clients.timeouts import Timeouts
from harness.models.clients.wire import Json, read_json, word
from harness.models.faults import MalformedAnswerError, TransientError
from harness.models.protocol import Message, ModelError, ModelSettings, ModelTurn

T = TypeVar("T")


LONGEST_ID = 200  # characters in a provider's id of a batch or a file
MOST_PAGES = 50  # pages of the provider's list that are searched for a batch
OTHER_CLOCK_S = 600.0  # largest assumed difference between the provider's clock and the local one


class BatchRequest(NamedTuple):
    """One request of a batch, and the messages it was built from.

    The answer carries the same custom id.
    """

    custom_id: str
    body: Json
    messages: tuple[Message, ...] = ()


class BatchState(Frozen):
    """State of a batch at the provider.

    Attributes:
        phase: `failed` means that none of the requests was or will be processed.
        done: requests with an answer or an error, of `total`.
        total: requests in the batch.
        seconds: seconds from creation to end, 0 until the batch has ended.
        reason: the reason of a failure.
        can_help: whether submitting a failed batch again may succeed.
    """

    phase: Literal["in_progress", "ended", "failed"]
    done: int = 0
    total: int = 0
    seconds: float = 0.0
    reason: str = ""
    can_help: bool = False


class BatchAnswer(NamedTuple):
    """Outcome of one request: the JSON of the answer, or an error.

    Attributes:
        error: a TransientError if a retry can help.
    """

    custom_id: str
    data: Json | None = None
    request_id: str | None = None
    error: TransientError | ModelError | None = None


class BatchEndpoint:
    """A provider's batch API, for one model; each provider has a subclass.

    Args:
        model: the model's name at the endpoint.
        base_url: the endpoint's address, as the SDK takes it.
        api_key: the API key; masked in every message.
        headers: headers of every call; their values are masked as well.
        policy: which failures are retried, and how often.
        timeouts: timeouts of one call.
        pace: clock and sleep of the retries.
        most_requests: most requests in one batch; the provider's limit if None.
        most_bytes: most bytes in one batch; the provider's limit if None.

    Attributes:
        MOST_REQUESTS: the provider's limit of requests in one batch.
        MOST_BYTES: the provider's limit of bytes in one batch.
        FRAME_BYTES: bytes of a batch beside its requests.
        PAGE, CURSOR: batches on a page of the provider's list, and the name of its next one.
        where: the endpoint's address.
        most_requests: most requests in one batch.
        most_bytes: most bytes in one batch, as `size` counts them.
        finds_surely: whether `find` returns exactly the batch, or only candidates.
    """

    MOST_REQUESTS: ClassVar[int]
    MOST_BYTES: ClassVar[int]
    FRAME_BYTES: ClassVar[int] = 0
    PAGE: ClassVar[int]
    CURSOR: ClassVar[str]
    finds_surely: ClassVar[bool]

    def __init__(
        self,
        model: str,
        *,
        base_url: str,
        api_key: str,
        headers: Mapping[str, str] = MappingProxyType({}),
        policy: RetryPolicy | None = None,
        timeouts: Timeouts | None = None,
        pace: Pace | None = None,
        most_requests: int | None = None,
        most_bytes: int | None = None,
    ) -> None:
        self._model = model
        self.most_requests = most_requests or self.MOST_REQUESTS
        self.most_bytes = (most_bytes or self.MOST_BYTES) - self.FRAME_BYTES
        self._policy = policy or RetryPolicy(total_s=(timeouts or Timeouts()).retry_s)
        self._pace = pace
        self._endpoint = Endpoint(
            base_url, api_key, answer_field="id", secrets=headers.values(), timeouts=timeouts
        )
        self._redact = self._endpoint.redact
        self.where = self._endpoint.where
        http = self._endpoint.http
        self._batches: Any = None
        self._client = self._open(headers, base_url=base_url, api_key=api_key, http=http)

    def _open(self, headers: Mapping[str, str], *, base_url: str, **settings: Any) -> Any:
        """Return the SDK's client."""
        raise NotImplementedError

    def body(self, messages: Sequence[Message], settings: ModelSettings) -> Json:
        """Return the body of a request without tools, the same as for a single request."""
        raise NotImplementedError

    def turn(self, data: Json, messages: Sequence[Message]) -> ModelTurn:
        """Convert an answer to a turn. Raises TransientError or ModelError."""
        raise NotImplementedError

    def entry(self, request: BatchRequest) -> Json:
        """Return a request as an object of the batch."""
        raise NotImplementedError

    def size(self, request: BatchRequest) -> int:
        """Return how many bytes a request adds to a batch, with what separates it."""
        return len(as_json(self.entry(request))) + 2

    async def submit(self, token: str, requests: Sequence[BatchRequest]) -> str:
        """Submit requests once; return the batch's id.

        Args:
            token: a unique name for the batch.
            requests: at most as many as one batch may hold.

        Raises:
            TransientError: it is unknown whether the batch was created.
            ModelError: no batch was created; RejectedError when the provider said so.
        """
        raise NotImplementedError

    async def find(self, token: str, requests: int, since: float) -> list[str]:
        """Return the ids of batches that may be the one with this token.

        Args:
            token: the token the batch was submitted with.
            requests: number of requests in the batch.
            since: Unix time before which the batch cannot have been created.

        Raises:
            ModelError: the provider did not answer.
        """
        raise NotImplementedError

    async def state(self, batch_id: str) -> BatchState:
        """Return a batch's state. Raises ModelError."""
        raise NotImplementedError

    async def results(self, batch_id: str, take: Callable[[BatchAnswer], None]) -> int:
        """Call `take` with each request's outcome, in any order; some may repeat.

        Returns:
            The number of lines that hold no outcome, which are left out.

        Raises:
            ModelError: the results could not be read completely.
        """
        raise NotImplementedError

    def _answer(self, line: Json) -> BatchAnswer | None:
        """Return the outcome that a line of the results holds, if it does."""
        raise NotImplementedError

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    async def _once(self, call: Any, **arguments: Any) -> Json:
        """Call once and return the answer's object. Raises TransientError and ModelError."""
        return (await self._endpoint.send(call, arguments, self._endpoint.read))[0]

    async def _fetch(self, call: Any, **arguments: Any) -> Json:
        """Call with retries and return the answer's object; for idempotent calls.

        Raises:
            ModelError: the provider did not answer.
        """
        return await self._repeat(lambda: self._once(call, **arguments))

    async def _listed(self, since: float) -> AsyncIterator[Json]:
        """Yield the provider's batches, newest first, to those before `since`. Raises ModelError.

        Args:
            since: Unix time before which no wanted batch was created.
        """
        last: dict[str, str] = {}
        for _ in range(MOST_PAGES):
            page = await self._fetch(self._batches.list, limit=self.PAGE, **last)
            batches = objects_of(page, "data")
            for batch in batches:
                yield batch
            oldest = min((time_of(batch.get("created_at")) for batch in batches), default=0.0)
            if not page.get("has_more") or oldest < since - OTHER_CLOCK_S:
                return
            last = {self.CURSOR: word(batches[-1].get("id")) or ""}

    async def _answers(
        self, call: Any, take: Callable[[BatchAnswer], None], **arguments: Any
    ) -> int:
        """Call `take` with the outcome in every line of a JSONL file; a retry starts from line 1.

        A last line without a newline may be half of one: such a file is read again.

        Args:
            call: SDK call whose response is the file.
            take: called with every outcome, even if other lines are malformed.
            arguments: keyword arguments of the call.

        Returns:
            The number of lines that hold no outcome.

        Raises:
            ModelError: the file could not be read to its end, or no line holds an outcome.
        """
        readings = 0

        async def read(response: Any) -> int:
            nonlocal readings
            readings += 1
            good = bad = 0
            cause, whole = "", True
            async for line in _lines_of(response):
                try:
                    answer = self._answer(read_json(line))
                    message = "it names no request"
                except MalformedAnswerError as error:
                    answer, message = None, error.cause
                if answer is not None:
                    good += 1
                    take(answer)
                else:
                    bad += 1
                    cause, whole = message, line.endswith(b"\n")
            last = readings >= self._policy.malformed_attempts
            if bad and (not good or not (whole or last)):
                raise MalformedAnswerError(f"a line of the batch's results: {cause}")
            return bad

        return await self._repeat(lambda: self._endpoint.send(call, arguments, read))

    async def _repeat(self, ask: Callable[[], Awaitable[T]]) -> T:
        return await ask_until_answered(ask, self._policy, None, self._pace)


def as_json(value: Any) -> bytes:
    """Encode a value as compact JSON; lone surrogates become `?`."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


async def _lines_of(response: Any) -> AsyncIterator[bytes]:
    """Yield the lines that are not blank, with the newlines that they have."""
    rest = bytearray()
    async for chunk in response.iter_bytes():
        *whole, last = chunk.split(b"\n")
        for line in whole:
            rest += line
            if rest.strip():
                yield bytes(rest) + b"\n"
            rest.clear()
        rest += last
        if len(rest) > MAX_ANSWER_BYTES:
            raise MalformedAnswerError(
                f"a line of the batch's results is longer than {MAX_ANSWER_BYTES >> 20} MiB"
            )
    if rest.strip():
        yield bytes(rest)


def text_of(fields: Json, name: str) -> str:
    """Return a short string field of a provider's object, such as an id.

    Raises:
        MalformedAnswerError: the field is missing, empty or too long.
    """
    value = fields.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_ID:
        raise MalformedAnswerError(f"the answer has no {name}")
    return value


def objects_of(fields: Json, name: str) -> list[Json]:
    """Return the objects in a list field of a provider's object."""
    value = fields.get(name)
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("Json", item) for item in items if isinstance(item, dict)]


def count_of(fields: Any, *names: str) -> int:
    """Return the sum of the named counts in a provider's object."""
    values = [cast("Json", fields).get(name) for name in names] if isinstance(fields, dict) else []
    return sum(value for value in values if isinstance(value, int) and value >= 0)


def time_of(value: Any) -> float:
    """Return the Unix time that a number or an RFC 3339 date names; 0 for anything else."""
    if isinstance(value, int | float):
        return value
    try:
        return datetime.fromisoformat(value).timestamp()
    except (TypeError, ValueError, OverflowError, OSError):
        return 0.0
