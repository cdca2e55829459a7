"""Resolve a model name of the command line to a route, and open the model."""

from dataclasses import replace
from typing import Unpack

from harness import plugins
from harness.errors import UsageError
from harness.models.clients.connections import vendor_headers
from harness.models.environment import (
    ANTHROPIC_BASE_URL,
    HF_TOKEN,
    OPENAI_BASE_URL,
    Environment,
    FoundVariable,
)
from harness.models.protocol import Model, ModelError, ModelSettings
from harness.models.providers import (
    AGENT_PREFIX,
    APIS,
    OPENAI,
    OPENAI_CHAT,
    PYTHON_PREFIX,
    REFERENCES,
    REPLAY_PREFIX,
    Api,
    Protocol,
    Provider,
    by_address,
    by_prefix,
    by_shape,
    unknown,
)
from harness.models.request_options import KEYS as KEY_HEADERS
from harness.models.request_options import Timeouts, read_headers
from harness.models.route import Access, Route, ollama_url, usable_url
from harness.models.user_code import model_of
from harness.plugins import Plugin

KEYLESS = "none"  # local servers need no key, but the SDKs require one
OLLAMA = "ollama/"
ANTHROPIC_KEYS = ("ANTHROPIC_API_KEY",)


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
    route = _route_by_name(name, base_url, environment, access.get("api"))
    headers = read_headers(access.get("header", ()), environment)
    route = replace(route, own_headers=headers)
    variable = access.get("api_key_env")
    if variable is not None:
        key = usable_key(environment.find(variable))
        return replace(route, keys=(variable,), key=key, needs_key=True, asked_key=True)
    if KEY_HEADERS & {each.lower() for each in headers}:
        return replace(route, keys=(), key=None, needs_key=False)
    return route


def _route_by_name(
    name: str, base_url: str | None, environment: Environment, api: Api | None
) -> Route:
    if not name.strip():
        raise UsageError("the model's name is empty")
    named = by_prefix(name)
    url = (base_url or "").strip() or _openai_base_url(named, environment)
    if url:
        return _own_endpoint(name, usable_url(url), environment, api)
    provider = named or by_shape(name)
    if provider is None:
        raise unknown(name)
    model = name.removeprefix(provider.prefix) if named else name
    if not model.strip():
        raise UsageError(f"model {name!r}: a model's name must follow the prefix")
    if provider.prefix == OPENAI.prefix and OPENAI_CHAT.serves(model):
        provider = by_shape(model) or provider  # the prefix stands for both of its protocols
    return _route(name, model, _speaking(at_home(provider, environment), api), environment)


def _speaking(provider: Provider, api: Api | None) -> Provider:
    """Return the provider with the requested protocol. Raises UsageError."""
    if api is None or APIS[api] is provider.protocol:
        return provider
    if APIS[api] not in provider.also:
        known = [word for word, each in APIS.items() if each in (provider.protocol, *provider.also)]
        raise UsageError(f"--api {api}: {provider.title} has {' and '.join(known)}")
    return replace(provider, protocol=APIS[api])


def served_by(
    name: str, *, base_url: str | None, environment: Environment, **access: Unpack[Access]
) -> Plugin | Route | None:
    """Return what serves a name: a plug-in or a route; None if the harness sends no requests.

    Args and errors are those of `resolve` and `plugged`.
    """
    if not is_sent(name):
        return None
    plugin = plugged(name, base_url=base_url, environment=environment)
    return plugin or resolve(name, base_url=base_url, environment=environment, **access)


def plugged(name: str, *, base_url: str | None, environment: Environment) -> Plugin | None:
    """Return the plug-in of a name, `NAME` or `NAME:REST`; None for a built-in name.

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
    """Return whether a name is for a provider or plug-in, not a recording, code or agent."""
    own = (PYTHON_PREFIX, REPLAY_PREFIX, AGENT_PREFIX)
    return name != REFERENCES and not name.startswith(own)


def at_home(provider: Provider, environment: Environment) -> Provider:
    """Return the provider with the base URL that the environment sets.

    It is OLLAMA_HOST for Ollama, and ANTHROPIC_BASE_URL, as for the vendor's SDK, for a gateway
    with Anthropic's protocol.

    Raises:
        UsageError: that is no usable address.
    """
    if provider.prefix == OLLAMA:
        return replace(provider, base_url=ollama_url(environment.text("OLLAMA_HOST")))
    gateway = environment.text(ANTHROPIC_BASE_URL)
    if provider.protocol is Protocol.MESSAGES and gateway:
        return replace(provider, base_url=usable_url(gateway))
    return provider


def open_model(
    name: str,
    server: Plugin | Route | None,
    *,
    settings: ModelSettings | None = None,
    timeouts: Timeouts | None = None,
) -> Model:
    """Return the model of a name.

    `replay:PATH` is not handled here: `harness.run` reads recordings.

    Args:
        name: value of `--model`.
        server: what serves it (`served_by`); None for the user's own code,
            `python:module:attribute`.
        settings: settings of every request, so that an unsupported one is refused here and not at
            the first request.
        timeouts: time limits of each request.

    Raises:
        UsageError: a key is missing, a setting is not supported, or the user's code does not load.
    """
    match server:
        case Route():
            check_settings(server, settings or ModelSettings())
            check_key(server)
            return _client(server, timeouts)
        case Plugin():
            return open_plugged(server, name)
        case None:
            from harness.models.user_code import load_attribute

            return model_of(name, load_attribute(name.removeprefix(PYTHON_PREFIX)))


def check_key(route: Route) -> None:
    """Raise UsageError if a needed key is missing."""
    if route.needs_key and route.key is None:
        other = "" if route.asked_key else "; or give --base-url for another endpoint"
        raise UsageError(f"model {route.name!r} needs {missing(route.keys)}{other}")


def check_settings(route: Route, settings: ModelSettings) -> None:
    """Raise UsageError for a setting that the provider does not support.

    Raises:
        UsageError: names the setting.
    """
    from harness.models.clients.preview import preview

    for name in route.refuses:
        if getattr(settings, name) is not None:
            raise UsageError(
                f"model {route.name!r}: {route.provider} takes no {name}; leave it out"
            )
    try:
        preview(route, settings)
    except ModelError as error:
        raise UsageError(f"model {route.name!r}: {error}") from None


def missing(keys: tuple[str, ...]) -> str:
    """Describe what to set for a provider whose key was not found."""
    login = "; `hf auth login` does it too" if HF_TOKEN in keys else ""
    return f"{' or '.join(keys)}, set in the environment or in .env{login}"


def _client(route: Route, timeouts: Timeouts | None = None) -> Model:
    match route.protocol:
        case Protocol.CHAT_COMPLETIONS:
            from harness.models.clients.openai_chat import OpenAIChat as Client
        case Protocol.RESPONSES:
            from harness.models.clients.openai_responses import OpenAIResponses as Client
        case Protocol.MESSAGES:
            from harness.models.clients.anthropic_messages import AnthropicMessages as Client
    key = route.key.value if route.key else KEYLESS
    return Client(
        route.name,
        model=route.model,
        base_url=route.base_url,
        api_key=key,
        headers=route.all_headers,
        timeouts=timeouts,
    )


def _openai_base_url(named: Provider | None, environment: Environment) -> str:
    """Return `OPENAI_BASE_URL` if it applies to this name and is not OpenAI's own address."""
    url = environment.text(OPENAI_BASE_URL)
    of_another = named is not None and named.keys != OPENAI.keys
    return "" if of_another or url.rstrip("/") == OPENAI.base_url else url


def _own_endpoint(name: str, base_url: str, environment: Environment, api: Api | None) -> Route:
    vendor = by_address(base_url, name)
    if vendor is not None:
        vendor = replace(
            vendor, base_url=base_url, keys=tuple(dict.fromkeys((*vendor.keys, *OPENAI.keys)))
        )
        return _route(name, name, _speaking(vendor, api), environment)
    protocol = APIS[api or "chat"]
    own = Provider(
        title="the base URL's own",
        prefix="",
        base_url=base_url,
        protocol=protocol,
        keys=ANTHROPIC_KEYS if protocol is Protocol.MESSAGES else OPENAI.keys,
        batches=True,  # it may; if not, its own error says so
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
        refuses=provider.refuses if provider.protocol is Protocol.CHAT_COMPLETIONS else (),
    )


def usable_key(key: FoundVariable | None) -> FoundVariable | None:
    """Return the key unchanged. Raises UsageError where an HTTP header cannot carry it."""
    if key is not None and not (key.value.isascii() and key.value.isprintable()):
        raise UsageError(
            f"{key.variable} ({key.where}) holds characters that no key has; set it again"
        )
    return key


def open_plugged(plugin: Plugin, name: str) -> Model:
    """Return the model that a plug-in makes of the rest of a name.

    Args:
        plugin: function of the text after `NAME:`, "" where there is none. It returns the same as
            `python:` may name: a model, a function of a problem, or a class of either.
        name: value of `--model`; the name of the model in results.

    Raises:
        UsageError: it does not load, raises, or returns something else.
    """
    make = plugin.load()
    if not callable(make):
        raise UsageError(f"{plugin} is a {type(make).__name__}; it must be a function of a name")
    try:
        found: object = make(name.partition(":")[2])
    except (Exception, SystemExit) as error:
        raise plugin.blame(error) from error
    try:
        return model_of(name, found)
    except UsageError as error:
        raise UsageError(f"{plugin}: {error}") from error
