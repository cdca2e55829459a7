"""Web server of the viewer, on this machine only, and its access control."""

import hmac
import re
import secrets
import socket
import webbrowser
from collections.abc import Callable, Mapping
from functools import partial
from importlib.resources import files
from pathlib import Path
from threading import Thread
from types import FrameType

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import Request, cookie_parser
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.errors import UsageError
from harness.features.viewer.comparison_pages import ComparisonPages
from harness.features.viewer.html import render
from harness.features.viewer.library import Library
from harness.features.viewer.pages import Pages, Shown
from harness.http_server import LOOPBACK, Server, listen, quiet_config

TOKEN_BYTES = 32
NAMES = ("127.0.0.1", "localhost")
METHODS = frozenset({"GET", "HEAD"})
CHANGES = re.compile(r"/runs/[0-9a-f]{16}/delete")
"""URLs that change something and require the secret word of a form."""
ASSETS = {"view.css": "text/css", "view.js": "text/javascript"}


class Guard:
    """Refuses requests without the token and adds security headers to every answer.

    A page of another site may make a browser send requests to the viewer. It does not have the
    token. The browser does not send the cookie with its requests, as it is for pages of the
    same site only. If the other site makes its own name point to this machine (DNS rebinding),
    that name is in the Host header and is refused.

    Args:
        app: the app that is protected.
        port: port of the server.
        token: secret in the URL that the user is shown.
    """

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self._app = app
        self._token = token
        # Cookies apply to all ports of a host; two viewers must not share one.
        self.cookie = f"harness_view_{port}"
        self._session = secrets.token_urlsafe(TOKEN_BYTES)
        self._form_word = secrets.token_urlsafe(TOKEN_BYTES)  # pages show it
        self._hosts = frozenset({f"{name}:{port}" for name in NAMES})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it to the app."""
        if scope["type"] != "http":
            return
        nonce = secrets.token_urlsafe(16)
        scope["nonce"] = nonce
        scope["form_word"] = self._form_word

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_headers(nonce))
            await send(message)

        refused = self._refused(scope)
        await (refused or self._app)(scope, receive, sent)

    def _refused(self, scope: Scope) -> Response | None:
        """Return the answer to a refused request, or to one with the token; else None."""
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self._hosts:
            return PlainTextResponse("This is not the host that was asked for.\n", 403)
        changing = scope["method"] == "POST" and CHANGES.fullmatch(scope["path"])
        if scope["method"] not in METHODS and not changing:
            return PlainTextResponse("Pages can be read, and no more.\n", 405)
        if changing and not self._is_own(headers):
            return PlainTextResponse("This page is out of date: reload it and try again.\n", 403)
        given = QueryParams(scope["query_string"]).get("token")
        if scope["path"] == "/" and given is not None and _same(given, self._token):
            return self._entered()
        cookies = cookie_parser(headers.get("cookie", ""))
        if _same(cookies.get(self.cookie, ""), self._session):
            return None
        text = "Open the address that `harness view` has printed: it holds the key to this page.\n"
        return PlainTextResponse(text, 403)

    def _is_own(self, headers: Headers) -> bool:
        """Whether the viewer's own page sent a form, as far as the browser tells."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        own = origin is None or origin.removeprefix("http://").lower() in self._hosts
        return own and site in {None, "same-origin"}

    def _entered(self) -> Response:
        """Return a page that sets the cookie and loads the viewer without the token.

        The page loads it, not a redirect, so that the browser sends the cookie.
        """
        answer = Response(render("entered.j2"), media_type="text/html")
        answer.set_cookie(self.cookie, self._session, httponly=True, samesite="strict", path="/")
        return answer


def _same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())


def _headers(nonce: str) -> Mapping[str, str]:
    rules = (
        "default-src 'none'",
        f"script-src 'nonce-{nonce}'",
        f"style-src 'nonce-{nonce}'",
        "connect-src 'self'",
        "img-src data:",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
    return {
        "Content-Security-Policy": "; ".join(rules),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "same-origin",  # with less, browsers send forms with `Origin: null`
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Cache-Control": "no-store",
    }


def make_app(root: Path, port: int, token: str) -> ASGIApp:
    """Return the viewer of the runs below a folder, protected by a token."""
    library = Library(root)
    pages = Pages(library)
    compared = ComparisonPages(library)
    sample = "/runs/{run}/samples/{sample}"
    shown: dict[str, tuple[str, Callable[[Request], Shown | None]]] = {
        "/": ("runs.j2", pages.runs),
        "/compare": ("compare.j2", compared.compare),
        "/compare/{problem}": ("problem.j2", compared.problem),
        "/experiments/{experiment}": ("experiment.j2", compared.experiment),
        "/runs/{run}": ("run.j2", pages.run),
        "/runs/{run}/delete": ("delete.j2", pages.confirm),
        sample: ("sample.j2", pages.sample),
        sample + "/lines/{line:int}/{name}": ("text.j2", pages.text),
    }
    routes = [
        *(Route(path, partial(pages.answer, *each)) for path, each in shown.items()),
        Route("/runs/{run}/delete", pages.delete, methods=["POST"]),
        Route("/assets/charts.js", compared.charts),
        *(Route(f"/assets/{name}", _asset(name, kind)) for name, kind in ASSETS.items()),
    ]
    return Guard(Starlette(routes=routes), port, token)


def _asset(name: str, kind: str) -> Callable[[Request], Response]:
    content = files("harness.features.viewer").joinpath("assets", name).read_bytes()

    def answer(request: Request) -> Response:
        del request
        return Response(content, media_type=kind)

    return answer


class _Server(Server):
    """Server that stops at once, as no request of a page is worth waiting for."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        del sig, frame  # not stored, as uvicorn would raise it again
        self.should_exit = self.force_exit = True


def serve(root: Path, port: int, *, show: bool, say: Callable[[str], None]) -> None:
    """Serve the runs below a folder until an interrupt.

    Args:
        root: the folder, which may still be empty.
        port: port to listen on; 0 for any free port.
        show: open the page in the browser.
        say: called with the URL.

    Raises:
        UsageError: there is no such folder, or the port is taken.
    """
    if not root.is_dir():
        raise UsageError(f"{root} is not a folder; name one with runs, or a run")
    with _bound(port) as bound:
        own_port = bound.getsockname()[1]
        token = secrets.token_urlsafe(TOKEN_BYTES)
        address = f"http://{LOOPBACK}:{own_port}/?token={token}"

        def ready() -> None:
            say(address)
            if show:  # a browser may start slowly, or block
                Thread(target=webbrowser.open, args=(address,), daemon=True).start()

        config = quiet_config(make_app(root, own_port, token), http="h11", lifespan="off")
        _Server(config, ready).run(sockets=[bound])


def _bound(port: int) -> socket.socket:
    try:
        return listen(LOOPBACK, port)
    except OSError as error:
        raise UsageError(f"port {port} of {LOOPBACK}: {error.strerror}; choose another") from error
