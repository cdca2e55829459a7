"""Resolve a model name to its provider's batch API."""

from typing import Unpack

from harness.errors import UsageError
from harness.features.batch.batch_endpoint import BatchEndpoint
from harness.models.environment import Environment
from harness.models.model_names import KEYLESS, Access, Route, is_sent, plugged, resolve
from harness.models.providers import Protocol
from harness.models.timeouts import Timeouts


def batch_route(
    name: str, *, base_url: str | None, environment: Environment, **access: Unpack[Access]
) -> Route:
    """Return the route for batches of a model, without opening a connection.

    Args:
        name: the value of `--model`.
        base_url: the value of `--base-url`.
        environment: keys and addresses.
        access: how the endpoint is reached.

    Raises:
        UsageError: the model's provider has no batch API.
    """
    plugin = plugged(name, base_url=base_url, environment=environment)
    if plugin is not None or not is_sent(name):
        raise UsageError(f"--batch: {name[:100]!r} is no provider's model; leave --batch out")
    route = resolve(name, base_url=base_url, environment=environment, **access)
    if not route.batches:
        raise UsageError(
            f"--batch: {route.provider} has no batch API like OpenAI's or Anthropic's; leave it out"
        )
    return route


def open_batches(route: Route, timeouts: Timeouts | None = None) -> BatchEndpoint:
    """Open the batch API of a route, with the protocol of its single requests."""
    key = route.key.value if route.key else KEYLESS
    if route.protocol is Protocol.MESSAGES:
        from harness.features.batch.anthropic import AnthropicBatches

        return AnthropicBatches(
            route.model,
            base_url=route.base_url,
            api_key=key,
            headers=route.all_headers,
            timeouts=timeouts,
        )
    from harness.features.batch.openai import CHAT_COMPLETIONS, RESPONSES, OpenAIBatches

    url = RESPONSES if route.protocol is Protocol.RESPONSES else CHAT_COMPLETIONS
    return OpenAIBatches(
        route.model,
        url=url,
        base_url=route.base_url,
        api_key=key,
        headers=route.all_headers,
        timeouts=timeouts,
    )
