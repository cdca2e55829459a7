"""Route: where requests to a model go, by which protocol and key; base URLs, without secrets."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TypedDict, TypeVar
from urllib.parse import urlsplit, urlunsplit

from harness.errors import UsageError
from harness.models.clients.connections import headers_of
from harness.models.environment import FoundVariable
from harness.models.faults import RejectedError, ToolsRefusedError, WrongApiError
from harness.models.providers import PROVIDERS, Api, Protocol, is_at

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


class Access(TypedDict, total=False):
    """The user's choices of how to reach a model.

    Attributes:
        api: the protocol; that of the address by default.
        api_key_env: variable that holds the key.
        header: headers of every request, each as `NAME: VALUE`.
    """

    api: Api | None
    api_key_env: str | None
    header: Collection[str]


@dataclass(frozen=True, slots=True)
class Route:
    """Destination of requests for a name; nothing is opened yet.

    Attributes:
        name: name of the model in results.
        provider: the provider's name for display.
        model: the name as it is sent.
        base_url: base URL for the SDK; it may hold a password.
        keys: variables that may hold a key.
        key: the key that was found.
        needs_key: whether a key is required.
        batches: whether the endpoint may have a batch API.
        headers: header variables of the environment, sent to the vendor's own host.
        own_headers: headers that the user gave; their values are never shown.
        refuses: settings that the endpoint does not support, in addition to those that its protocol
            lacks.
        asked_key: whether the user named the key's variable.
    """

    name: str
    provider: str
    model: str
    base_url: str
    protocol: Protocol
    keys: tuple[str, ...]
    key: FoundVariable | None
    needs_key: bool
    batches: bool = False
    headers: tuple[FoundVariable, ...] = ()
    own_headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    refuses: tuple[str, ...] = ()
    asked_key: bool = False

    @property
    def all_headers(self) -> dict[str, str]:
        """Headers of the environment, overridden by the user's."""
        own = {name.lower() for name in self.own_headers}
        found = {k: v for k, v in headers_of(self.headers).items() if k.lower() not in own}
        return {**found, **self.own_headers}

    @property
    def remark(self) -> str:
        """Note on a vendor's key sent to another address by default; "" where none is."""
        if self.key is None or self.asked_key:
            return ""
        owner = next((each for each in PROVIDERS if self.key.variable in each.keys), None)
        if owner is None or is_at(self.base_url, owner.host):
            return ""
        return (
            f"{self.key.variable} is sent to {self.host}, which is not {owner.title}'s own address;"
            " --api-key-env NAME sends another key"
        )

    @property
    def host(self) -> str:
        """Host of the endpoint, with the port if one is given."""
        return urlsplit(shown_url(self.base_url)).netloc

    @property
    def endpoint(self) -> str:
        """URL that requests are posted to, without user name and password."""
        return shown_url(self.base_url).rstrip("/") + self.protocol.path
