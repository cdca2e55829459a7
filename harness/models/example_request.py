"""The body of an example request, to check settings before a run."""

from typing import Any

from harness.errors import UsageError
from harness.models.clients.client_of import client_of
from harness.models.protocol import (
    ModelError,
    ModelSettings,
    UserMessage,
)
from harness.models.route import Route


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
