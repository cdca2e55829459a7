"""Open the model of a name: a provider's client, a plug-in's model, or the user's own code."""

from typing import TYPE_CHECKING, Any

from harness.errors import UsageError
from harness.models.clients.timeouts import Timeouts
from harness.models.environment import HF_TOKEN
from harness.models.protocol import Model, ModelError, ModelSettings, UserMessage
from harness.models.providers import PYTHON_PREFIX, Protocol
from harness.models.route import Route
from harness.models.user_code import load_attribute, model_of
from harness.plugins import Plugin

if TYPE_CHECKING:
    from harness.models.clients.client import Client


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
            example_request(server, settings or ModelSettings())
            if server.needs_key and server.key is None:
                other = "" if server.asked_key else "; or give --base-url for another endpoint"
                raise UsageError(f"model {name!r} needs {missing(server.keys)}{other}")
            client = client_of(server.protocol)
            return client(name, model=server.model, timeouts=timeouts, **server.connection)
        case Plugin():
            return _plugged(server, name)
        case None:
            return model_of(name, load_attribute(name.removeprefix(PYTHON_PREFIX)))


def missing(keys: tuple[str, ...]) -> str:
    """Describe what to set for a provider whose key was not found."""
    login = "; `hf auth login` does it too" if HF_TOKEN in keys else ""
    return f"{' or '.join(keys)}, set in the environment or in .env{login}"


def _plugged(plugin: Plugin, name: str) -> Model:
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
        model: object = make(name.partition(":")[2])
    except (Exception, SystemExit) as error:
        raise plugin.blame(error) from error
    try:
        return model_of(name, model)
    except UsageError as error:
        raise UsageError(f"{plugin}: {error}") from error


def example_request(route: Route, settings: ModelSettings) -> dict[str, Any]:
    """Return the body of a request with a one-line conversation and no tools; nothing is sent.

    Raises:
        UsageError: the provider does not support a setting; the message names it.
    """
    for name in route.refuses:
        if getattr(settings, name) is not None:
            raise UsageError(
                f"model {route.name!r}: {route.provider} takes no {name}; leave it out"
            )
    try:
        hello = (UserMessage(content="Hello."),)
        return client_of(route.protocol).body(route.model, route.base_url, hello, (), settings)
    except ModelError as error:
        raise UsageError(f"model {route.name!r}: {error}") from None


def client_of(protocol: Protocol) -> "type[Client]":
    """Return the client class of a protocol."""
    match protocol:
        case Protocol.CHAT_COMPLETIONS:
            from harness.models.clients.openai_chat import OpenAIChat as Client
        case Protocol.RESPONSES:
            from harness.models.clients.openai_responses import OpenAIResponses as Client
        case Protocol.MESSAGES:
            from harness.models.clients.anthropic_messages import AnthropicMessages as Client
    return Client
