"""Requests by the batch: handed in together, answered within a day, at half the price.

What a provider's batches have in common stands here; `openai_batches` and `anthropic_batches` speak
to them. Asking again, waiting and remembering belong to the rest of this folder.
"""

import hashlib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar, cast

from harness.models.clients.endpoint import MAX_ANSWER_BYTES, Endpoint
from harness.models.clients.retry import Pace, RetryPolicy, ask_until_answered
from harness.models.clients.wire import Json, read_json
from harness.models.faults import MalformedAnswerError, TransientError
from harness.models.protocol import Frozen, Message, ModelError, ModelSettings, ModelTurn
from harness.models.timeouts import Timeouts

T = TypeVar("T")


LONGEST_ID = 200  # of what a provider calls a batch or a file
CUSTOM_ID_NAME = 39  # characters of a sample's name in a custom id, which may have 64 in all
MOST_PAGES = 50  # of a list of batches, that are looked through for one


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """One request of a batch; its custom id comes back with the answer."""

    custom_id: str
    body: Json


class BatchState(Frozen):
    """How far a batch is.

    Attributes:
        phase: `failed` means that none of its requests was or will be asked.
        done: requests that have an answer or an error, of `total`.
        seconds: from its creation to its end, where it has ended.
        words: why it failed.
        can_help: whether a batch that failed may be taken when it is handed in again.
    """

    phase: Literal["in_progress", "ended", "failed"]
    done: int = 0
    total: int = 0
    seconds: float = 0.0
    words: str = ""
    can_help: bool = False


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """What became of one request: the JSON of its answer, or what went wrong.

    Attributes:
        error: a TransientError where asking again can help.
    """

    custom_id: str
    data: Json | None = None
    request_id: str | None = None
    error: TransientError | ModelError | None = None


class BatchEndpoint(Protocol):
    """A provider's batches, for one model.

    Attributes:
        where: its address.
        most_requests: of one batch.
        most_bytes: of one batch, as `size` counts them.
        finds_surely: whether `find` returns the one batch that is meant, or any that may be it.
    """

    where: str
    most_requests: int
    most_bytes: int
    finds_surely: bool

    def body(self, messages: Sequence[Message], settings: ModelSettings) -> Json:
        """The body of a request without tools, the same as it would be on its own."""
        ...

    def turn(self, data: Json, messages: Sequence[Message]) -> ModelTurn:
        """The turn that an answer holds. Raises TransientError or ModelError."""
        ...

    def size(self, request: BatchRequest) -> int:
        """How many bytes a request adds to a batch."""
        ...

    async def submit(self, token: str, requests: Sequence[BatchRequest]) -> str:
        """Hand requests in, once; the batch's id.

        Args:
            token: a name for the batch that no other has.
            requests: no more than one batch may hold.

        Raises:
            TransientError: it is not known whether there is such a batch now.
            ModelError: there is none; RejectedError when the provider said so.
        """
        ...

    async def find(self, token: str, requests: int, since: float) -> list[str]:
        """The ids of batches that may be the one with this token.

        Args:
            token: that it was submitted with.
            requests: how many it holds.
            since: Unix time before which it cannot have been made.

        Raises:
            ModelError: the provider did not answer.
        """
        ...

    async def state(self, batch_id: str) -> BatchState:
        """How far a batch is. Raises ModelError."""
        ...

    async def results(self, batch_id: str, take: Callable[[BatchAnswer], None]) -> None:
        """Hand what became of each request to `take`, in any order; some may come twice.

        Raises:
            ModelError: not all of it could be read.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


def custom_id(run: str, sample: str, body: Json) -> str:
    """The id of a sample's request: the same whenever the same run asks it.

    Letters, digits, `-` and `_`, at most 64: Anthropic takes no others. The end of the sample's
    name is there for people to read; the hash is of run, sample and body.
    """
    text = json.dumps([run, sample, body], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:24]
    return f"{re.sub(r'[^a-zA-Z0-9_-]', '-', sample)[-CUSTOM_ID_NAME:]}-{digest}"


def split(
    requests: Iterable[BatchRequest], endpoint: BatchEndpoint
) -> Iterator[tuple[BatchRequest, ...]]:
    """The requests in as many batches as the provider's limits ask for, in their order."""
    group: list[BatchRequest] = []
    size = 0
    for request in requests:
        more = endpoint.size(request)
        if group and (len(group) >= endpoint.most_requests or size + more > endpoint.most_bytes):
            yield tuple(group)
            group, size = [], 0
        group.append(request)
        size += more
    if group:
        yield tuple(group)


def as_json(value: Any) -> bytes:
    """JSON as it is sent; half a character, which UTF-8 cannot carry, becomes `?`."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


class BatchCalls:
    """The calls that batches consist of, each answered by a JSON object or by lines of them.

    Args:
        base_url: the address, as the SDK takes it.
        api_key: masked in every message.
        policy: which failures are repeated, and how often.
        timeouts: of one call.
        pace: time as the retries see it.
        secrets: masked as well.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        policy: RetryPolicy | None = None,
        timeouts: Timeouts | None = None,
        pace: Pace | None = None,
        *,
        secrets: Iterable[str] = (),
    ) -> None:
        self._policy = policy or RetryPolicy(total_s=(timeouts or Timeouts()).retry_s)
        self._pace = pace
        self.endpoint = Endpoint(
            base_url, api_key, answer_field="id", secrets=secrets, timeouts=timeouts
        )

    async def once(self, call: Any, **arguments: Any) -> Json:
        """The object that a call is answered by. Raises TransientError and ModelError."""
        return (await self.endpoint.send(call, arguments, self.endpoint.read))[0]

    async def fetch(self, call: Any, **arguments: Any) -> Json:
        """The same, asked again while it can help; for what may be done twice.

        Raises:
            ModelError: the provider did not answer.
        """
        return await self._repeat(lambda: self.once(call, **arguments))

    async def lines(self, call: Any, take: Callable[[Json], None], **arguments: Any) -> None:
        """Hand every line of a JSONL file to `take`; after a failure all of them again.

        Args:
            call: of which the response is the file.
            take: is handed every object, whatever other lines hold.
            arguments: of the call.

        Raises:
            ModelError: the file could not be read to its end, or a line is no JSON object.
        """

        async def read(response: Any) -> None:
            broken: MalformedAnswerError | None = None
            async for line in _lines(response):
                try:
                    take(read_json(line))
                except MalformedAnswerError as error:
                    broken = error
            if broken is not None:
                raise MalformedAnswerError(f"a line of the batch's results: {broken.cause}")

        await self._repeat(lambda: self.endpoint.send(call, arguments, read))

    async def _repeat(self, ask: Callable[[], Awaitable[T]]) -> T:
        return await ask_until_answered(ask, self._policy, None, self._pace)


async def _lines(response: Any) -> AsyncIterator[bytes]:
    rest = bytearray()
    async for chunk in response.iter_bytes():
        *whole, last = chunk.split(b"\n")
        for line in whole:
            rest += line
            if rest.strip():
                yield bytes(rest)
            rest.clear()
        rest += last
        if len(rest) > MAX_ANSWER_BYTES:
            raise MalformedAnswerError(
                f"a line of the batch's results is longer than {MAX_ANSWER_BYTES >> 20} MiB"
            )
    if rest.strip():
        yield bytes(rest)


def text_of(fields: Json, name: str) -> str:
    """A short string of a provider's object, such as an id.

    Raises:
        MalformedAnswerError: there is none.
    """
    value = fields.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_ID:
        raise MalformedAnswerError(f"the answer has no {name}")
    return value


def objects_of(fields: Json, name: str) -> list[Json]:
    """The objects of a list in a provider's object."""
    value = fields.get(name)
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("Json", item) for item in items if isinstance(item, dict)]


def count_of(fields: Any, *names: str) -> int:
    """The sum of some counts of a provider's object."""
    values = [cast("Json", fields).get(name) for name in names] if isinstance(fields, dict) else []
    return sum(value for value in values if isinstance(value, int) and value >= 0)
