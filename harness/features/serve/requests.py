"""Parsing of request bodies into models, and error answers to refused requests."""

import json
import math
from contextlib import suppress
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError
from pydantic_core import from_json
from starlette.responses import Response


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


UNAUTHORIZED = 401
CLOSING = frozenset({401, 403, 408, 413, 503})
"""Statuses after which the connection is closed and the body's rest is not read."""


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


M = TypeVar("M", bound=BaseModel)
SHOWN = 3  # most errors reported


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("give a string")  # noqa: TRY004 - pydantic reports a ValueError
    return value


Text = Annotated[str, PlainValidator(_text)]
"""A string that may hold half a surrogate pair, as truncated texts of models do."""


class RequestBody(BaseModel):
    """Base class of requests: frozen, and unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def read_json(body: bytes) -> object:
    """Parse a body. Halves of surrogate pairs are kept.

    Raises:
        Refusal: 422, the body is not JSON.
    """
    try:
        return from_json(body)
    except ValueError as error:
        with suppress(ValueError, RecursionError):
            return json.loads(body)
        raise Refusal(422, f"the body is not JSON: {error}") from None


def read_model(model: type[M], data: object) -> M:
    """Validate data as a model.

    Raises:
        Refusal: 422, the data does not fit the model.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise Refusal(422, _said(error)) from None


def _said(error: ValidationError) -> str:
    """Return the first errors in one line, without values, which may be secret."""
    found = [
        f"{'.'.join(map(str, each['loc'])) or 'the body'}: {each['msg']}"
        for each in error.errors(include_url=False, include_input=False)
    ]
    more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return "; ".join(found[:SHOWN]) + more
