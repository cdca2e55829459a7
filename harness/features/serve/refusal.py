"""Error answers to refused requests."""

import json
import math

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
