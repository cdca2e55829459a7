"""Web server of the viewer, on this machine only, until an interrupt."""

import socket
import webbrowser
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from threading import Thread
from types import FrameType

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from harness.errors import UsageError
from harness.features.viewer.comparison.pages import ComparisonPages
from harness.features.viewer.library import Library
from harness.features.viewer.pages import Pages
from harness.features.viewer.security import Guard, new_token
from harness.http_server import LOOPBACK, Server, listen, quiet_config

ASSETS = {"view.css": "text/css", "view.js": "text/javascript"}


def make_app(root: Path, port: int, token: str) -> ASGIApp:
    """Return the viewer of the runs below a folder, protected by a token."""
    library = Library(root)
    pages = Pages(library)
    compared = ComparisonPages(library, pages.answer)
    routes = [
        Route("/", pages.runs),
        Route("/compare", compared.compare),
        Route("/compare/{problem}", compared.problem),
        Route("/experiments/{experiment}", compared.experiment),
        Route("/runs/{run}", pages.run),
        Route("/runs/{run}/delete", pages.confirm),
        Route("/runs/{run}/delete", pages.delete, methods=["POST"]),
        Route("/runs/{run}/samples/{sample}", pages.sample),
        Route("/runs/{run}/samples/{sample}/lines/{line:int}/{name}", pages.text),
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
        raise UsageError(f"{root} is no folder; name one with runs, or a run")
    with _bound(port) as bound:
        own_port = bound.getsockname()[1]
        token = new_token()
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
        raise UsageError(f"port {port} of {LOOPBACK}: {error.strerror}; give another") from error
