"""Requests: who may send one, how many are held, parsing of their bodies, and error answers."""

import asyncio
import base64
import binascii
import hmac
import json
import math
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError
from pydantic_core import from_json
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from harness.closing import Closing
from harness.features.serve.parsed_size import PARSED_BYTES, RESULT_BYTES, parsed_bytes
from harness.value_faults import fault_words

SHUTTING_DOWN = "the server is shutting down; use another"
UNAUTHORIZED, TOO_LARGE = 401, 413
CLOSING = frozenset({401, 403, 408, 413, 503})
"""Statuses after which the connection is closed and the body's rest is not read."""

M = TypeVar("M", bound=BaseModel)
SHOWN = 3  # most errors reported
BODY_S = 60.0
"""Seconds within which a request's body must arrive."""

FIRST_S, SLOWEST = 5.0, 16 << 10
"""Seconds after which a body that is still arriving must have come at so many bytes a second."""

FULL_RETRY_S = 1.0
PASSED_OVER_BYTES, PASSED_OVER_S = 1 << 30, 10.0
LOOPBACK = ("127.0.0.1", "::1", "localhost")
LONGEST_HEADER = 4_000
OPEN_PATHS = ("/health",)
"""Paths that need no token, for monitoring."""

SMALL_BYTES, SMALL_S = 1 << 16, 1.0
"""Most bytes and seconds for which a refused request is still read, so that it gets an answer."""


class Refusal(Exception):  # noqa: N818 - it is an answer, like `HTTPException`
    """A request is refused.

    Args:
        status: HTTP status of the answer.
        what: one line that says what is wrong and what to do.
        retry_s: seconds after which to retry; None if that does not help.
    """

    def __init__(self, status: int, what: str, retry_s: float | None = None) -> None:
        super().__init__(what)
        self.status = status
        self.what = what
        self.retry_s = retry_s

    def response(self) -> Response:
        """Return the answer: `{"detail": …}`.

        `Retry-After` is in whole seconds, at least 1.
        """
        headers = {"connection": "close"} if self.status in CLOSING else {}
        if self.retry_s is not None:
            headers["retry-after"] = str(max(1, math.ceil(self.retry_s)))
        if self.status == UNAUTHORIZED:
            headers["www-authenticate"] = "Bearer"
        return JsonResponse({"detail": self.what}, self.status, headers)


class JsonResponse(Response):
    """JSON in ASCII, without spaces."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        """Encode the content."""
        return json_bytes(content)


def json_bytes(content: object) -> bytes:
    """Return a value as JSON on one line, with non-ASCII characters escaped.

    A program may print U+2028 or similar characters, at which some clients split lines.
    """
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("give a string")  # noqa: TRY004 - pydantic reports a ValueError
    return value


Text = Annotated[str, PlainValidator(_text)]
"""A string that may hold half a surrogate pair, as truncated texts of models do."""


class RequestBody(BaseModel):
    """Base class of requests: frozen, and unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ParsedSize:
    """Estimated memory of what was parsed of one body, and of the results of its tests."""

    def __init__(self) -> None:
        self.bytes = 0

    def add_results(self, tests: int) -> None:
        """Count tests that will be judged at a time.

        Raises:
            Refusal: 413, the tests and their results need too much memory.
        """
        self.bytes += tests * RESULT_BYTES
        if self.bytes > PARSED_BYTES:
            raise Refusal(
                TOO_LARGE,
                f"{tests:,} tests at a time and their results need more than "
                f"{PARSED_BYTES >> 20} MiB of memory; send them in several requests",
            )

    def add(self, text: bytes) -> None:
        """Count JSON that is about to be parsed.

        Raises:
            Refusal: 413, the body's values need too much memory.
        """
        self.bytes += parsed_bytes(text, PARSED_BYTES - self.bytes)
        if self.bytes > PARSED_BYTES:
            raise Refusal(
                TOO_LARGE,
                f"the body's values need more than {PARSED_BYTES >> 20} MiB of memory: it has too "
                "many tests, or numbers; send them in several requests",
            )


def read_json(body: bytes, size: ParsedSize) -> object:
    """Parse a body. Halves of surrogate pairs are kept.

    Raises:
        Refusal: 422, the body is not JSON; 413, it has too many values.
    """
    size.add(body)
    try:
        return from_json(body)
    except ValueError as error:
        with suppress(ValueError, RecursionError):
            return json.loads(body)
        raise Refusal(422, f"the body is not JSON: {error}") from None


def read_model(model: type[M], data: object, size: ParsedSize) -> M:
    """Validate data as a model.

    Args:
        model: the model.
        data: what `read_json` returned.
        size: size of what was parsed; the model's validators parse JSON inside strings.

    Raises:
        Refusal: 422, the data does not fit the model; 413, its strings hold too much JSON.
    """
    try:
        return model.model_validate(data, context=size)
    except ValidationError as error:
        raise Refusal(422, _said(error)) from None


def _said(error: ValidationError) -> str:
    """Return the first errors in one line, without values, which may be secret."""
    solutions = [
        f"{'.'.join(map(str, each['loc'])) or 'the body'}: {fault_words(each)}"
        for each in error.errors(include_url=False, include_input=False)
    ]
    more = f"; and {len(solutions) - SHOWN} more" if len(solutions) > SHOWN else ""
    return "; ".join(solutions[:SHOWN]) + more


class Places:
    """Places for requests, and the memory that they hold.

    Args:
        most: most requests at a time, including those that wait for a worker.
        most_bytes: most bytes of all bodies, parsed values and answers.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self.most, self.most_bytes = most, most_bytes
        self.taken = 0
        self.bytes = 0

    def check(self, retry_s: float = FULL_RETRY_S) -> None:
        """Raise Refusal, with status 503, if no place is free."""
        if self.taken >= self.most:
            raise Refusal(503, f"{self.most:,} requests are being answered; ask later", retry_s)

    def take(self, retry_s: float = FULL_RETRY_S) -> "RequestPlace":
        """Return a free place, to be used as a context manager.

        Raises:
            Refusal: 503, no place is free.
        """
        self.check(retry_s)
        return RequestPlace(self)


class RequestPlace(Closing):
    """Place of a request whose body is there, taken when it is made; closing frees it."""

    def __init__(self, places: Places) -> None:
        places.taken += 1
        self._places = places

    def close(self) -> None:
        """Free the place."""
        self._places.taken -= 1


class Holding(Closing):
    """Memory of one request, from the first byte of its body until its answer is sent."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._bytes = 0

    def close(self) -> None:
        """Give all bytes back."""
        self._places.bytes -= self._bytes

    def hold(self, number: int) -> None:
        """Reserve more bytes until this is closed.

        Raises:
            Refusal: 503, other requests hold too many.
        """
        places = self._places
        if places.bytes + number > places.most_bytes and places.bytes > self._bytes:
            raise Refusal(503, "large requests fill the server's memory; ask later", FULL_RETRY_S)
        places.bytes += number
        self._bytes += number


async def read_body(
    request: Request, holding: Holding, most: int, seconds: float = BODY_S, first_s: float = FIRST_S
) -> bytes:
    """Return a request's body.

    Args:
        request: request whose body is not read yet.
        holding: the request's memory, which reserves the bytes as they arrive.
        most: most bytes of a body.
        seconds: seconds within which the body must arrive.
        first_s: seconds after which the body must have come at `SLOWEST` bytes a second.

    Raises:
        Refusal: the body is too long or too slow, or other requests hold too many bytes.
        ClientDisconnect: the client closed the connection.
    """
    declared = request.headers.get("content-length", "")
    _check_length(int(declared) if declared.isdecimal() else 0, most)
    data = bytearray()
    begun = asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout_at(begun + min(seconds, first_s)) as patience:
            async for chunk in request.stream():
                data += chunk
                _check_length(len(data), most)
                holding.hold(len(chunk))
                patience.reschedule(begun + min(seconds, first_s + len(data) / SLOWEST))
    except TimeoutError:
        raise Refusal(
            408,
            f"the body did not arrive within {seconds:g} s, or came at less than "
            f"{SLOWEST >> 10} KiB a second",
        ) from None
    return bytes(data)


async def pass_over(
    receive: Receive, most: int = PASSED_OVER_BYTES, seconds: float = PASSED_OVER_S
) -> None:
    """Read and discard the rest of a refused request's body.

    Otherwise a client that is still sending would get a connection reset and no answer.

    Args:
        receive: the request's messages.
        most: bytes after which to stop.
        seconds: time after which to stop.
    """
    left = most
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            more = True
            while more and left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                more = bool(message.get("more_body"))


def _check_length(length: int, most: int) -> None:
    if length > most:
        what = f"the body is longer than {most >> 20:,} MiB (harness serve --max-body)"
        raise Refusal(413, what)


class RequestGate(NamedTuple):
    """Passes a request to the app, or refuses it before its body is read.

    Args:
        app: the app that is protected.
        token: token that clients must send; None accepts requests without one, from this machine.
        counted: called with the path and status of each refused request.
    """

    app: ASGIApp
    token: str | None
    counted: Callable[[str, int], None]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it to the app."""
        if scope["type"] == "http":
            try:
                self._check(Headers(scope=scope), scope["path"])
            except Refusal as refusal:
                self.counted(scope["path"], refusal.status)
                await pass_over(receive, SMALL_BYTES, SMALL_S)
                await refusal.response()(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _check(self, headers: Headers, path: str) -> None:
        """Raise Refusal if the request is not allowed."""
        if self.token is None:
            if "origin" in headers:
                raise Refusal(
                    403, "requests of web pages are refused; start the server with a token"
                )
            if _host(headers.get("host", "")) not in LOOPBACK:
                raise Refusal(403, "the Host header does not name this machine")
        elif path not in OPEN_PATHS and not self._is_known(headers.get("authorization", "")):
            raise Refusal(
                UNAUTHORIZED,
                "show the server's token: Authorization: Bearer TOKEN, or http://any:TOKEN@HOST",
            )

    def _is_known(self, given: str) -> bool:
        assert self.token is not None
        shown = _token_of(given[:LONGEST_HEADER])
        return hmac.compare_digest(shown.encode("utf-8", "replace"), self.token.encode())


def _token_of(header: str) -> str:
    """Return the token in an `Authorization` header; empty if there is none."""
    scheme, _, value = header.partition(" ")
    match scheme.lower():
        case "bearer":
            return value.strip()
        case "basic":
            try:
                return base64.b64decode(value).decode().partition(":")[2]
            except (binascii.Error, ValueError):
                return ""
        case _:
            return ""


def _host(header: str) -> str:
    """Return the name in a `Host` header, without the port."""
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0].lower()
