"""Open the batch API of a run's provider."""

from harness.errors import UsageError
from harness.features.batch.batch_endpoint import BatchEndpoint
from harness.models.model_names import KEYLESS
from harness.models.providers import Protocol
from harness.models.route import Route
from harness.models.timeouts import Timeouts


def batch_route(name: str, route: Route | None) -> Route:
    """Return the route of a run's batches.

    Raises:
        UsageError: the model's provider has no batch API.
    """
    if route is None:
        raise UsageError(f"--batch: {name[:100]!r} is no provider's model; leave --batch out")
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
