"""Where requests for a model's name go: provider, address, protocol, key and headers.

`resolve` decides it, from the name, the user's flags and the environment.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, TypedDict, Unpack
from urllib.parse import urlsplit, urlunsplit

from harness.errors import UsageError
from harness.models.environment import (
    ANTHROPIC_BASE_URL,
    KEY_HEADERS,
    OPENAI_BASE_URL,
    Environment,
    FoundVariable,
    read_headers,
    vendor_headers,
)
from harness.models.providers import (
    APIS,
    OPENAI,
    OPENAI_CHAT,
    OWN_ENDPOINT,
    PROVIDERS,
    Api,
    Protocol,
    Provider,
    by_address,
    by_prefix,
    by_shape,
    is_at,
    unknown,
)

KEYLESS = "none"  # local servers need no key, but the SDKs require one
OLLAMA = "ollama/"
OLLAMA_PORT = 11434
EVERYWHERE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - only to listen on
ANTHROPIC_KEYS = ("ANTHROPIC_API_KEY",)


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
    def connection(self) -> dict[str, Any]:
        """Address, key and headers: arguments of every client."""
        own = {name.lower() for name in self.own_headers}
        headers = dict(header for each in self.headers for header in each.headers)
        kept = {name: value for name, value in headers.items() if name.lower() not in own}
        return {
            "base_url": self.base_url,
            "api_key": self.key.value if self.key else KEYLESS,
            "headers": {**kept, **self.own_headers},
        }

    @property
    def remark(self) -> str:
        """Note on a vendor's key sent to another address by default; "" where none is."""
        if self.key is None or self.asked_key:
            return ""
        owner = next((each for each in PROVIDERS if self.key.variable in each.keys), None)
        if owner is None or is_at(self.base_url, owner.host):
            return ""
        return (
            f"Sending {self.key.variable} to {self.host} (not {owner.title.partition(',')[0]}'s "
            "address). Another key: --api-key-env NAME"
        )

    @property
    def host(self) -> str:
        """Host of the endpoint, with the port if one is given."""
        return urlsplit(shown_url(self.base_url)).netloc

    @property
    def endpoint(self) -> str:
        """URL that requests are posted to, without user name and password."""
        return shown_url(self.base_url).rstrip("/") + self.protocol.path


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


def resolve(
    name: str, *, base_url: str | None, environment: Environment, **access: Unpack[Access]
) -> Route:
    """Return the route of requests for a name.

    With a base URL the whole name is sent unchanged: by the provider's protocol if it is a
    provider's own address, else as chat completions. The same holds for `OPENAI_BASE_URL`, except
    for names with the prefix of another provider. Otherwise the provider is found by the name's
    prefix, or else by its shape.

    Args:
        name: value of `--model`, except `python:…` and `replay:…`, which send no requests.
        base_url: value of `--base-url`.
        environment: keys and addresses.
        access: values of the flags of the same names.

    Raises:
        UsageError: no provider has this name, the provider does not support the protocol, or the
            base URL, a key or a header cannot be used.
    """
    provider, model = _provider_of(name, base_url, environment)
    provider = _speaking(provider, access.get("api"))
    headers = read_headers(access.get("header", ()), environment)
    variable, keys = access.get("api_key_env"), provider.keys
    if variable is not None:
        keys = (variable,)
    elif KEY_HEADERS & {each.lower() for each in headers}:
        keys = ()
    is_own = provider.title == OWN_ENDPOINT.title
    return Route(
        name=name,
        provider=provider.title,
        model=model,
        base_url=provider.base_url,
        protocol=provider.protocol,
        keys=keys,
        key=environment.key(*keys),
        needs_key=variable is not None or (bool(keys) and not is_own),
        batches=provider.batches,
        headers=vendor_headers(provider.base_url, environment),
        own_headers=headers,
        refuses=provider.refuses if provider.protocol is Protocol.CHAT_COMPLETIONS else (),
        asked_key=variable is not None,
    )


def _provider_of(name: str, base_url: str | None, environment: Environment) -> tuple[Provider, str]:
    """Return the provider of a name, at its address, and the name as it is sent."""
    if not name.strip():
        raise UsageError("the model's name is empty")
    named = by_prefix(name)
    url = address_of(named, base_url, environment)
    if url:
        vendor = by_address(usable_url(url), name)
        if vendor is None:
            return OWN_ENDPOINT._replace(base_url=url), name
        keys = tuple(dict.fromkeys((*vendor.keys, *OPENAI.keys)))
        return vendor._replace(base_url=url, keys=keys), name
    provider = named or by_shape(name)
    if provider is None:
        raise unknown(name)
    model = name.removeprefix(provider.prefix) if named else name
    if not model.strip():
        raise UsageError(f"model {name!r}: a model's name must follow the prefix")
    if provider.prefix == OPENAI.prefix and OPENAI_CHAT.serves(model):
        provider = by_shape(model) or provider  # the prefix stands for both of its protocols
    return at_home(provider, environment), model


def address_of(named: Provider | None, base_url: str | None, environment: Environment) -> str:
    """Return the base URL that applies to a name: the flag's, or `OPENAI_BASE_URL`; "" for none.

    The variable does not apply to names with another provider's prefix, or if it is OpenAI's own.
    """
    if (base_url or "").strip():
        return (base_url or "").strip()
    url = environment.text(OPENAI_BASE_URL)
    of_another = named is not None and named.keys != OPENAI.keys
    return "" if of_another or url.rstrip("/") == OPENAI.base_url else url


def _speaking(provider: Provider, api: Api | None) -> Provider:
    """Return the provider with the requested protocol. Raises UsageError."""
    if api is None or APIS[api] is provider.protocol:
        return provider
    if APIS[api] not in provider.also:
        known = [word for word, each in APIS.items() if each in (provider.protocol, *provider.also)]
        raise UsageError(f"--api {api}: {provider.title} has {' and '.join(known)}")
    keys = provider.keys
    if provider.title == OWN_ENDPOINT.title and APIS[api] is Protocol.MESSAGES:
        keys = ANTHROPIC_KEYS
    return provider._replace(protocol=APIS[api], keys=keys)


def at_home(provider: Provider, environment: Environment) -> Provider:
    """Return the provider with the base URL that the environment sets.

    It is OLLAMA_HOST for Ollama, and ANTHROPIC_BASE_URL, as for the vendor's SDK, for a gateway
    with Anthropic's protocol.

    Raises:
        UsageError: that is not a usable address.
    """
    if provider.prefix == OLLAMA:
        return provider._replace(base_url=ollama_url(environment.text("OLLAMA_HOST")))
    gateway = environment.text(ANTHROPIC_BASE_URL)
    if provider.protocol is Protocol.MESSAGES and gateway:
        return provider._replace(base_url=usable_url(gateway))
    return provider


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


def is_local(url: str) -> bool:
    """Return whether a URL leads to this machine, or to a private network."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    if host == "localhost" or host.endswith((".localhost", ".local")):
        return True
    try:
        return ip_address(host).is_private
    except ValueError:
        return False


def ollama_url(host: str) -> str:
    """Return the base URL of an Ollama server from `OLLAMA_HOST`, parsed as by Ollama.

    `[scheme://][user:password@][host][:port][/path]`; without a scheme the port is 11434, with one
    the scheme's default. An address that means all interfaces becomes 127.0.0.1. The rule is that
    of `envconfig.Host` in https://github.com/ollama/ollama, but for user and password, which it
    does not keep.

    Raises:
        UsageError: it is not an address.
    """
    host = host.strip("\"' ")
    if not host:
        return f"http://localhost:{OLLAMA_PORT}/v1"
    with_scheme = "://" in host
    parts = urlsplit("")
    port, name = None, ""
    try:
        parts = urlsplit(host if with_scheme else f"http://{host}")
        port, name = parts.port or (None if with_scheme else OLLAMA_PORT), parts.hostname or ""
        usable = parts.scheme in ("http", "https") and not (parts.query or parts.fragment)
    except ValueError:
        usable = False
    if not usable:
        raise UsageError("OLLAMA_HOST is not usable; write it as host:port or https://host")
    name = "127.0.0.1" if name in EVERYWHERE else f"[{name}]" if ":" in name else name
    place = name if port is None else f"{name}:{port}"
    user, at, _ = parts.netloc.rpartition("@")
    return usable_url(f"{parts.scheme}://{user}{at}{place}{parts.path.rstrip('/')}/v1")
