"""From the name on the command line to a model."""

from dataclasses import dataclass, replace
from urllib.parse import urlsplit, urlunsplit

from harness import plugins
from harness.errors import UsageError
from harness.models.environment import (
    ANTHROPIC_BASE_URL,
    HF_TOKEN,
    OPENAI_BASE_URL,
    Environment,
    Found,
)
from harness.models.protocol import Model, ModelSettings
from harness.models.providers import (
    AGENT_PREFIX,
    OPENAI,
    OPENAI_CHAT,
    PYTHON_PREFIX,
    REFERENCES,
    REPLAY_PREFIX,
    Protocol,
    Provider,
    by_prefix,
    by_shape,
    unknown,
)
from harness.models.timeouts import Timeouts
from harness.models.vendor_headers import headers_of, vendor_headers

KEYLESS = "none"  # local servers ask for no key, and the SDKs insist on one
OLLAMA = "ollama/"
OLLAMA_PORT = 11434
EVERYWHERE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - a server listens there, nobody asks


@dataclass(frozen=True, slots=True)
class Route:
    """Where requests for a name go; nothing is opened yet.

    Attributes:
        name: what results are filed under.
        provider: as people call it.
        model: the name as it is sent.
        base_url: as the SDK takes it; it may hold a password.
        keys: the variables where a key may stand.
        key: what was found there.
        needs_key: whether nothing goes without one.
        batches: whether requests may go there by the batch.
        headers: what of the environment goes along, at the vendor's own host.
    """

    name: str
    provider: str
    model: str
    base_url: str
    protocol: Protocol
    keys: tuple[str, ...]
    key: Found | None
    needs_key: bool
    batches: bool = False
    headers: tuple[Found, ...] = ()

    @property
    def host(self) -> str:
        """The endpoint's host, with the port where one is named."""
        return urlsplit(shown_url(self.base_url)).netloc

    @property
    def endpoint(self) -> str:
        """Where a request is posted to, without user name and password."""
        return shown_url(self.base_url).rstrip("/") + self.protocol.path


def resolve(name: str, *, base_url: str | None, environment: Environment) -> Route:
    """Where requests for a name go.

    A base URL that is given takes the whole name as it is, as chat completions. So does that of
    `OPENAI_BASE_URL`, but for names with the prefix of another provider. Without either, a prefix
    says whose the name is, or else its shape.

    Args:
        name: as given with `--model`, but for `python:…` and `replay:…`, which are no requests.
        base_url: as given with `--base-url`.
        environment: keys and addresses.

    Raises:
        UsageError: nobody serves this name, or the base URL or a key cannot be used.
    """
    if not name.strip():
        raise UsageError("the model's name is empty")
    named = by_prefix(name)
    url = (base_url or "").strip() or _openai_base_url(named, environment)
    if url:
        return _own_endpoint(name, _usable_url(url), environment)
    provider = named or by_shape(name)
    if provider is None:
        raise unknown(name)
    model = name.removeprefix(provider.prefix) if named else name
    if not model.strip():
        raise UsageError(f"model {name!r}: a model's name is to follow the prefix")
    if provider.prefix == OPENAI.prefix and OPENAI_CHAT.serves(model):
        provider = by_shape(model) or provider  # the prefix stands for both of its protocols
    return _route(name, model, at_home(provider, environment), environment)


def plugged(name: str, *, base_url: str | None, environment: Environment) -> plugins.Plugin | None:
    """The plug-in that serves a name, `NAME` or `NAME:REST`; None where the name is ours.

    Raises:
        UsageError: two packages offer one, or an address of the environment cannot be used.
    """
    if not is_sent(name) or (base_url or "").strip():
        return None
    named = by_prefix(name)
    if named or by_shape(name) or _openai_base_url(named, environment):
        return None
    return plugins.find(plugins.MODELS, name.partition(":")[0])


def is_sent(name: str) -> bool:
    """Whether a name is for a provider or a plug-in: no recording, nor the user's code or agent."""
    own = (PYTHON_PREFIX, REPLAY_PREFIX, AGENT_PREFIX)
    return name != REFERENCES and not name.startswith(own)


def at_home(provider: Provider, environment: Environment) -> Provider:
    """The provider where the environment says that it is.

    OLLAMA_HOST for Ollama, and ANTHROPIC_BASE_URL, as the vendor's SDK has it, for a gateway that
    speaks Anthropic's protocol.

    Raises:
        UsageError: that is no usable address.
    """
    if provider.prefix == OLLAMA:
        return replace(provider, base_url=ollama_url(environment.text("OLLAMA_HOST")))
    gateway = environment.text(ANTHROPIC_BASE_URL)
    if provider.protocol is Protocol.MESSAGES and gateway:
        return replace(provider, base_url=_usable_url(gateway))
    return provider


def open_model(
    name: str,
    *,
    base_url: str | None,
    environment: Environment,
    settings: ModelSettings | None = None,
    timeouts: Timeouts | None = None,
) -> Model:
    """The model that a name stands for.

    `python:module:attribute` is the user's own code, and a name that is nobody's may be that of a
    plug-in. `replay:PATH` never comes here: reading recordings belongs to `harness.runs`.

    Args:
        name: as given with `--model`.
        base_url: as given with `--base-url`.
        environment: keys and addresses.
        settings: what every request will ask for, so that what the provider does not take is
            refused here and not at the first request.
        timeouts: time limits of each request.

    Raises:
        UsageError: nothing serves this name, what it needs is missing, or a setting is not taken.
    """
    if name.startswith(PYTHON_PREFIX):
        from harness.models.user_code import load_attribute, model_of

        return model_of(name, load_attribute(name.removeprefix(PYTHON_PREFIX)))
    plugin = plugged(name, base_url=base_url, environment=environment)
    if plugin is not None:
        from harness.models.plugged import open_plugged

        return open_plugged(plugin, name)
    route = resolve(name, base_url=base_url, environment=environment)
    check_settings(route, settings or ModelSettings())
    if route.needs_key and route.key is None:
        raise UsageError(
            f"model {name!r} needs {missing(route.keys)}; or give --base-url for another endpoint"
        )
    return _client(route, timeouts)


def check_settings(route: Route, settings: ModelSettings) -> None:
    """Refuse what a provider does not take.

    Raises:
        UsageError: names the setting.
    """
    if route.protocol is Protocol.MESSAGES:
        from harness.models.anthropic_messages import unsupported

        words = unsupported(settings)
        if words:
            raise UsageError(f"model {route.name!r}: {words}")


def missing(keys: tuple[str, ...]) -> str:
    """What to set, for a provider whose key was not found."""
    login = "; `hf auth login` does it too" if HF_TOKEN in keys else ""
    return f"{' or '.join(keys)}, set in the environment or in .env{login}"


def _client(route: Route, timeouts: Timeouts | None = None) -> Model:
    match route.protocol:
        case Protocol.CHAT_COMPLETIONS:
            from harness.models.openai_chat import OpenAIChat as Client
        case Protocol.RESPONSES:
            from harness.models.openai_responses import OpenAIResponses as Client
        case Protocol.MESSAGES:
            from harness.models.anthropic_messages import AnthropicMessages as Client
    key = route.key.value if route.key else KEYLESS
    return Client(
        route.name,
        model=route.model,
        base_url=route.base_url,
        api_key=key,
        headers=headers_of(route.headers),
        timeouts=timeouts,
    )


def _openai_base_url(named: Provider | None, environment: Environment) -> str:
    """What `OPENAI_BASE_URL` says, where it is about this name; OpenAI's own changes nothing."""
    url = environment.text(OPENAI_BASE_URL)
    of_another = named is not None and named.keys != OPENAI.keys
    return "" if of_another or url.rstrip("/") == OPENAI.base_url else url


def _own_endpoint(name: str, base_url: str, environment: Environment) -> Route:
    own = Provider(
        title="the base URL's own",
        prefix="",
        base_url=base_url,
        protocol=Protocol.CHAT_COMPLETIONS,
        keys=OPENAI.keys,
        batches=True,  # it may; where it does not, its own words say so
    )
    return replace(_route(name, name, own, environment), needs_key=False)


def _route(name: str, model: str, provider: Provider, environment: Environment) -> Route:
    return Route(
        name=name,
        provider=provider.title,
        model=model,
        base_url=provider.base_url,
        protocol=provider.protocol,
        keys=provider.keys,
        key=usable_key(environment.find(*provider.keys)),
        needs_key=bool(provider.keys),
        batches=provider.batches,
        headers=vendor_headers(provider.base_url, environment),
    )


def _usable_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port  # raises on one out of range
        usable = usable and not (parts.query or parts.fragment)  # paths are appended
        usable = usable and url.isprintable() and " " not in url
    except ValueError:
        usable = False
    if not usable:
        raise UsageError("the base URL is not usable; write it as https://host:port/v1")
    return url


def shown_url(url: str) -> str:
    """The URL without what it may hold of secrets; "" where it is none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def usable_key(key: Found | None) -> Found | None:
    """The key as it is. Raises UsageError where an HTTP header cannot carry it."""
    if key is not None and not (key.value.isascii() and key.value.isprintable()):
        raise UsageError(
            f"{key.variable} ({key.where}) holds characters that no key has; set it again"
        )
    return key


def ollama_url(host: str) -> str:
    """The base URL at an Ollama server, from `OLLAMA_HOST` as Ollama itself reads it.

    `[scheme://][user:password@][host][:port][/path]`; without a scheme the port is 11434, with one
    that of the scheme. An address that means all of a machine's own is asked at 127.0.0.1. The rule
    is that of `envconfig.Host` in https://github.com/ollama/ollama, but for user and password,
    which it does not keep.

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
    return _usable_url(f"{parts.scheme}://{user}{at}{place}{parts.path.rstrip('/')}/v1")


def _no_ollama() -> UsageError:
    return UsageError("OLLAMA_HOST is not usable; write it as host:port or https://host")
