"""Connections to providers: time limits, keep-alive, and the vendors' SDKs.

The SDKs read headers from variables of the environment, and would send them to every address. So
they are opened without these variables, and given the headers for the host in question.
"""

import functools
import os
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from harness.errors import UsageError
from harness.http_environment import CERTIFICATES, environment_fault, proxy_fault
from harness.models.clients.timeouts import Timeouts
from harness.models.environment import VARIABLES
from harness.models.faults import (
    Redactor,
    RejectedError,
    ToolsRefusedError,
    TransientError,
    UntrustedServerError,
    WrongApiError,
)
from harness.models.protocol import ModelError

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")
Failure = TypeVar("Failure", bound=Exception)
NOT_FOUND = 404
_VERSION = re.compile(r"/v\d")
KEEP_ALIVE_S = 60
IDLE_S = 3.0
"""Seconds until an unused connection is closed.

Many servers, llama.cpp's too, close theirs after 5 seconds: a request sent at that moment is lost.
"""


def open_http(timeouts: Timeouts, hear: Callable[[Any], Awaitable[None]]) -> "httpx2.AsyncClient":
    """Return an HTTP client that follows no redirect.

    Args:
        timeouts: timeouts of one request.
        hear: called with each response before its body is read.

    Raises:
        UsageError: the environment's proxy or certificates cannot be used.
    """
    import httpx2

    limits = connection_limits()
    try:
        return httpx2.AsyncClient(
            timeout=httpx2.Timeout(timeouts.idle_s, connect=timeouts.connect_s, pool=None),
            limits=limits,
            verify=certificates(),
            transport=kept_alive(limits),
            follow_redirects=False,
            event_hooks={"response": [hear]},
        )
    except (ImportError, OSError) as error:
        fault = environment_fault(error, "the server")
        if fault is None:
            raise
        raise UsageError(fault) from error
    except (ValueError, httpx2.InvalidURL) as error:
        raise UsageError(proxy_fault(error)) from error


def connection_limits() -> "httpx2.Limits":
    """Return any number of connections: the engine limits the requests in flight."""
    import httpx2

    return httpx2.Limits(
        max_connections=None, max_keepalive_connections=None, keepalive_expiry=IDLE_S
    )


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
    return httpx2.AsyncHTTPTransport(verify=certificates(), limits=limits, socket_options=options)


def certificates() -> ssl.SSLContext:
    """Return the trusted certificates of the environment, for all clients: reading takes 25 ms."""
    return _read_certificates(*map(os.environ.get, CERTIFICATES))


@functools.cache
def _read_certificates(*_named: str | None) -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context()


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
    names = [name for names in VARIABLES.values() for name in names if name in os.environ]
    hidden = {name: os.environ.pop(name) for name in names}
    try:
        return sdk(default_headers=dict(headers), **settings)
    finally:
        os.environ.update(hidden)


def with_address(error: Failure, asked: str) -> Failure:
    """Return the error; one of status 404 that does not concern the model names the address.

    Args:
        error: the error of a failed request.
        asked: the address that was asked, without secrets.
    """
    if not isinstance(error, RejectedError) or error.status != NOT_FOUND or error.hopeless:
        return error
    if isinstance(error, ToolsRefusedError | WrongApiError):
        return error
    hint = "" if _VERSION.search(asked) else "; should the base URL end in /v1?"
    error.args = (f"{error} (asked {asked}{hint})",)
    return error


def too_late(error: BaseException, where: str) -> TransientError:
    """Return the error of a request that a timeout ended.

    Args:
        error: the timeout.
        where: the address, without secrets.
    """
    cause = error.__cause__ or error
    kind = f" ({type(cause).__name__})" if type(cause) is not TimeoutError else ""
    before = type(cause).__name__ in {"ConnectTimeout", "PoolTimeout", "WriteTimeout"}
    flag = "" if before else "; see --set idle_timeout and --set request_timeout"
    return TransientError(f"no answer in time from {where}{kind}{flag}", cut=not before)


def no_connection(
    error: BaseException, where: str, redact: Redactor, *, cut: bool = False
) -> TransientError | UntrustedServerError:
    """Return the error of a connection that failed.

    Args:
        error: the failure.
        where: the address, without secrets.
        redact: function that masks secrets.
        cut: whether an answer was under way.
    """
    if (fault := environment_fault(error, where)) is not None:
        return UntrustedServerError(redact(fault))
    message = redact(": ".join(filter(None, (type(error).__name__, str(error)))))
    lost = "the answer broke off, from" if cut else "no connection to"
    return TransientError(f"{lost} {where}: {message}", cut=cut)


def unsendable(error: BaseException, where: str, redact: Redactor) -> ModelError:
    """Return the error of a request that the SDK refuses to send: retrying is useless."""
    return ModelError(
        f"the request to {where} cannot be sent: {redact(f'{type(error).__name__}: {error}')}"
    )
