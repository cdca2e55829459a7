"""Base URLs: checks, display without secrets, and the address of Ollama."""

import re
from typing import TypeVar
from urllib.parse import urlsplit, urlunsplit

from harness.errors import UsageError
from harness.models.faults import RejectedError, ToolsRefusedError, WrongApiError

Failure = TypeVar("Failure", bound=Exception)
NOT_FOUND = 404
_VERSION = re.compile(r"/v\d")
OLLAMA_PORT = 11434
EVERYWHERE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - only to listen on


def usable_url(url: str) -> str:
    """Return the address unchanged. Raises UsageError where it is not usable."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port  # raises on a port out of range
        usable = usable and not (parts.query or parts.fragment)  # the SDK appends paths
        usable = usable and url.isprintable() and " " not in url
    except ValueError:
        usable = False
    if not usable:
        raise UsageError("the base URL is not usable; write it as https://host:port/v1")
    return url


def shown_url(url: str) -> str:
    """Return the URL without possible secrets; "" where it is none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


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


def ollama_url(host: str) -> str:
    """Return the base URL of an Ollama server from `OLLAMA_HOST`, parsed as by Ollama.

    `[scheme://][user:password@][host][:port][/path]`; without a scheme the port is 11434, with one
    the scheme's default. An address that means all interfaces becomes 127.0.0.1. The rule is that
    of `envconfig.Host` in https://github.com/ollama/ollama, but for user and password, which it
    does not keep.

    Raises:
        UsageError: it is no address.
    """
    host = host.strip("\"' ")
    if not host:
        return f"http://localhost:{OLLAMA_PORT}/v1"
    with_scheme = "://" in host
    try:
        parts = urlsplit(host if with_scheme else f"http://{host}")
        port = parts.port or (None if with_scheme else OLLAMA_PORT)
        name = parts.hostname or ""
    except ValueError:
        raise _no_ollama() from None
    if parts.scheme not in ("http", "https") or parts.query or parts.fragment:
        raise _no_ollama()
    name = "127.0.0.1" if name in EVERYWHERE else f"[{name}]" if ":" in name else name
    place = name if port is None else f"{name}:{port}"
    user, at, _ = parts.netloc.rpartition("@")
    return usable_url(f"{parts.scheme}://{user}{at}{place}{parts.path.rstrip('/')}/v1")


def _no_ollama() -> UsageError:
    return UsageError("OLLAMA_HOST is not usable; write it as host:port or https://host")
