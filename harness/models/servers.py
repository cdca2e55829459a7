"""What serves a model's name: a provider, a plug-in, the user's own code, reference solutions.

Recordings do too: `harness.run.plan.recordings` reads them.
"""

import typing
from typing import TYPE_CHECKING, Any, ClassVar

from harness.errors import UsageError
from harness.models.clients.timeouts import Timeouts
from harness.models.environment import HF_TOKEN
from harness.models.protocol import Model, ModelError, ModelSettings, UserMessage
from harness.models.providers import PYTHON_PREFIX, Protocol
from harness.models.references import ReferenceModel
from harness.models.route import Route
from harness.models.user_code import load_attribute, model_of
from harness.plugins import Plugin

if TYPE_CHECKING:
    from harness.models.clients.client import Client

ADDRESSING = ("base_url", "api", "api_key_env", "header")
"""Keys that say how to reach an endpoint."""

ASKED_FOR = tuple(ModelSettings.model_fields)
"""Keys that are part of every request."""

SENDING = (*ADDRESSING, "batch")
"""Keys without effect where the harness sends no requests."""
LIMITS_OF_COST = ("max_cost", "max_cost_per_sample")


class Server(typing.Protocol):
    """What serves a model's name; nothing is opened yet.

    Attributes:
        unsent: settings of requests that have no effect on the model.
        idle: further settings without effect, passed over where they were found.
    """

    unsent: ClassVar[tuple[str, ...]]
    idle: ClassVar[tuple[str, ...]]

    def open(self) -> Model:
        """Return the model.

        Raises:
            UsageError: a key is missing, a setting is not supported, the user's code does not
                load, or there are no recordings.
        """
        ...


class Routed(Server):
    """A model that is asked over a route.

    Attributes:
        route: where its requests go.
        settings: settings of every request.
        timeouts: time limits of each request.
    """

    unsent: ClassVar[tuple[str, ...]] = ()
    idle: ClassVar[tuple[str, ...]] = ()

    def __init__(self, route: Route, settings: ModelSettings, timeouts: Timeouts) -> None:
        self.route = route
        self.settings = settings
        self.timeouts = timeouts

    def open(self) -> Model:
        """Return the client, once an example request was checked."""
        self.example_request()
        route = self.route
        if route.needs_key and route.key is None:
            other = "" if route.asked_key else "; or give --base-url for another endpoint"
            raise UsageError(f"model {route.name!r} needs {missing(route.keys)}{other}")
        client = client_of(route.protocol)
        return client(route.name, model=route.model, timeouts=self.timeouts, **route.connection)

    def example_request(self) -> dict[str, Any]:
        """Return the body of a request with a one-line conversation and no tools; none is sent.

        Raises:
            UsageError: the provider does not support a setting; the message names it.
        """
        route = self.route
        for name in route.refuses:
            if getattr(self.settings, name) is not None:
                raise UsageError(
                    f"model {route.name!r}: {route.provider} takes no {name}; leave it out"
                )
        try:
            hello = (UserMessage(content="Hello."),)
            body = client_of(route.protocol).body
            return body(route.model, route.base_url, hello, (), self.settings)
        except ModelError as error:
            raise UsageError(f"model {route.name!r}: {error}") from None


class Plugged(Server):
    """A model that a plug-in makes of the rest of a name.

    Attributes:
        name: name of the model in results, `NAME` or `NAME:REST`.
        plugin: function of `REST`, "" where there is none. It returns the same as `python:` may
            name: a model, a function of a problem, or a class of either.
    """

    unsent: ClassVar[tuple[str, ...]] = SENDING  # it may use the settings of requests
    idle: ClassVar[tuple[str, ...]] = ()

    def __init__(self, name: str, plugin: Plugin) -> None:
        self.name = name
        self.plugin = plugin

    def open(self) -> Model:
        """Return the model that the plug-in makes, or the function that it returns."""
        make = self.plugin.load()
        if not callable(make):
            raise UsageError(
                f"{self.plugin} is a {type(make).__name__}; it must be a function of a name"
            )
        try:
            model: object = make(self.name.partition(":")[2])
        except (Exception, SystemExit) as error:
            raise self.plugin.blame(error) from error
        try:
            return model_of(self.name, model)
        except UsageError as error:
            raise UsageError(f"{self.plugin}: {error}") from error


class OwnCode(Server):
    """The user's own code, `python:module:attribute`."""

    unsent: ClassVar[tuple[str, ...]] = SENDING  # it may use the settings of requests
    idle: ClassVar[tuple[str, ...]] = ()

    def __init__(self, name: str) -> None:
        self.name = name

    def open(self) -> Model:
        """Return the user's model, or their function as one."""
        return model_of(self.name, load_attribute(self.name.removeprefix(PYTHON_PREFIX)))


class References(Server):
    """The data set's own solutions."""

    unsent: ClassVar[tuple[str, ...]] = (*SENDING, *ASKED_FOR)
    idle: ClassVar[tuple[str, ...]] = LIMITS_OF_COST  # nothing is spent

    def open(self) -> ReferenceModel:
        """Return the model, which `begin` tells of the problems."""
        return ReferenceModel()


def missing(keys: tuple[str, ...]) -> str:
    """Describe what to set for a provider whose key was not found."""
    login = "; `hf auth login` does it too" if HF_TOKEN in keys else ""
    return f"{' or '.join(keys)}, set in the environment or in .env{login}"


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
