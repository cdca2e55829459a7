"""Access control of the server.

With a token: clients send it as a bearer token or as the password of HTTP's basic authentication.
The second form is for clients that only know a URL: `http://any:TOKEN@host:8080/run_code`.

Without a token the server listens only on this machine. Web pages in a browser on this machine must
not reach it: such a request has an `Origin`, or a `Host` that is not this machine's.
"""

import base64
import binascii
import hmac
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from harness.features.serve.admission import pass_over
from harness.features.serve.refusal import UNAUTHORIZED, Refusal

LOOPBACK = ("127.0.0.1", "::1", "localhost")
LONGEST_HEADER = 4_000
OPEN_PATHS = ("/health",)
"""Paths that need no token, for monitoring."""


SMALL_BYTES, SMALL_S = 1 << 16, 1.0
"""What is read of a refused client's body: enough for an ordinary request to get its answer."""


class Access:
    """Passes a request to the app, or refuses it before its body is read.

    Args:
        app: the app that is protected.
        token: token that clients must send; None accepts requests without one, from this machine.
        counted: called with the path and status of each refused request.
    """

    def __init__(
        self, app: ASGIApp, token: str | None, counted: Callable[[str, int], None]
    ) -> None:
        self._app = app
        self._token = token
        self._counted = counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it to the app."""
        if scope["type"] == "http":
            try:
                self._check(Headers(scope=scope), scope["path"])
            except Refusal as refusal:
                self._counted(scope["path"], refusal.status)
                await pass_over(receive, SMALL_BYTES, SMALL_S)
                await refusal.response()(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _check(self, headers: Headers, path: str) -> None:
        """Raise Refusal if the request is not allowed."""
        if self._token is None:
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
        assert self._token is not None
        shown = _token_of(given[:LONGEST_HEADER])
        return hmac.compare_digest(shown.encode("utf-8", "replace"), self._token.encode())


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
