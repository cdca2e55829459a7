"""The viewer as an ASGI app."""

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from harness.features.viewer.library import Library
from harness.features.viewer.pages import Pages
from harness.features.viewer.security import Guard

ASSETS = {"view.css": "text/css", "view.js": "text/javascript"}


def make_app(root: Path, port: int, token: str) -> ASGIApp:
    """The viewer of the runs below a folder, for those who have the token."""
    pages = Pages(Library(root))
    routes = [
        Route("/", pages.runs),
        Route("/runs/{run}", pages.run),
        Route("/runs/{run}/samples/{sample}", pages.sample),
        Route("/runs/{run}/samples/{sample}/lines/{line:int}/{name}", pages.text),
        *(Route(f"/assets/{name}", _asset(name, kind)) for name, kind in ASSETS.items()),
    ]
    return Guard(Starlette(routes=routes), port, token)


def _asset(name: str, kind: str) -> Callable[[Request], Response]:
    content = files("harness.features.viewer").joinpath("assets", name).read_bytes()

    def answer(request: Request) -> Response:
        del request
        return Response(content, media_type=kind)

    return answer
