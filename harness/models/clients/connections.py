"""Connections to providers, and headers from the environment for the vendor's own host only.

The vendors' SDKs read such headers from variables that hold, for example, the name of an
organisation or a gateway's key. The SDKs would send it to every address. So they are opened without
these variables, and given the headers for the host in question.
"""

import os
import socket
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from harness.errors import UsageError
from harness.models.environment import Environment, FoundVariable
from harness.models.providers import is_at
from harness.models.request_options import can_be_sent

if TYPE_CHECKING:
    import httpx2


KEEP_ALIVE_S = 60


def kept_alive(limits: "httpx2.Limits") -> "httpx2.AsyncHTTPTransport | None":
    """Return connections with TCP keep-alive: routers may drop one silent for minutes.

    None where the environment names a proxy, which such a transport would bypass.
    """
    from urllib.request import getproxies

    import httpx2

    if getproxies():
        return None

    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in (("TCP_KEEPIDLE", KEEP_ALIVE_S), ("TCP_KEEPINTVL", KEEP_ALIVE_S)):
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return httpx2.AsyncHTTPTransport(limits=limits, socket_options=options)


T = TypeVar("T")

OPENAI_HOST = "api.openai.com"
ANTHROPIC_HOST = "api.anthropic.com"
VARIABLES: Mapping[str, tuple[str, ...]] = {
    OPENAI_HOST: ("OPENAI_CUSTOM_HEADERS", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"),
    ANTHROPIC_HOST: ("ANTHROPIC_CUSTOM_HEADERS",),
}
# The variables that hold one value; the others hold lines of `name: value`.
NAMED = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}


def vendor_headers(base_url: str, environment: Environment) -> tuple[FoundVariable, ...]:
    """Return the vendor's header variables, if the address is the vendor's own host.

    Raises:
        UsageError: HTTP cannot carry a header; its value is not shown.
    """
    names = (each for host, names in VARIABLES.items() if is_at(base_url, host) for each in names)
    found = tuple(filter(None, map(environment.find, names)))
    for each in found:
        if not all(can_be_sent(name, value) for name, value in _headers(each)):
            raise UsageError(
                f"{each.variable} ({each.where}) is not a valid HTTP header; set it again"
            )
    return found


def headers_of(found: Iterable[FoundVariable]) -> dict[str, str]:
    """Return the headers that variables define."""
    return dict(header for each in found for header in _headers(each))


def _headers(found: FoundVariable) -> Iterator[tuple[str, str]]:
    """Yield the headers of a variable; lines without a colon are ignored, as by the SDKs."""
    if found.variable in NAMED:
        yield NAMED[found.variable], found.value
        return
    for line in found.value.split("\n"):
        name, colon, value = line.partition(":")
        if colon:
            yield name.strip(), value.strip()


def opened(sdk: Callable[..., T], headers: Mapping[str, str], *, http: Any, **settings: Any) -> T:
    """Return an SDK's client with these headers and none from the environment.

    Its own retries are off. A timeout that is set keeps Anthropic's SDK from refusing answers that
    may take ten minutes.

    Args:
        sdk: the SDK's class of clients.
        headers: headers of every request.
        http: HTTP client that it sends with.
        settings: other settings of the SDK's client.
    """
    settings |= {"max_retries": 0, "timeout": http.timeout, "http_client": http}
    with _hidden(name for names in VARIABLES.values() for name in names):
        return sdk(default_headers=dict(headers), **settings)


@contextmanager
def _hidden(names: Iterable[str]) -> Generator[None]:
    kept = {name: os.environ.pop(name) for name in names if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)
