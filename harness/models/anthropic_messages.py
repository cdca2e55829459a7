"""Models behind Anthropic's Messages API, at the vendor's own endpoint or any that speaks it."""

from collections.abc import Sequence
from functools import partial

from harness.models.anthropic_wire import ERROR_STATUSES, request_body, turn_from_wire, unsupported
from harness.models.endpoint import Endpoint, Timeouts
from harness.models.protocol import (
    Message,
    Model,
    ModelError,
    ModelSettings,
    ModelTurn,
    RetryObserver,
    ToolSpec,
)
from harness.models.retrying import Pace, RetryPolicy
from harness.problem import ProblemView

VENDOR_BASE_URL = "https://api.anthropic.com"
VERSION_PATH = "/v1"  # which the SDK appends


class AnthropicMessages:
    """A model at an endpoint of Anthropic's Messages API.

    Args:
        name: what results are filed under.
        model: the name the endpoint knows it by.
        base_url: the endpoint, as `https://host`; a `/v1` at its end says the same.
        api_key: sent as a bearer token, and masked in every message.
        policy: which failures are repeated, and how often.
        timeouts: of one request.
        pace: time as the retries see it.
    """

    def __init__(
        self,
        name: str,
        *,
        model: str,
        base_url: str,
        api_key: str,
        policy: RetryPolicy | None = None,
        timeouts: Timeouts | None = None,
        pace: Pace | None = None,
    ) -> None:
        from anthropic import AsyncAnthropic

        self._name = name
        self._model = model
        self._endpoint = Endpoint(
            base_url,
            api_key,
            answer_field="content",
            error_statuses=ERROR_STATUSES,
            policy=policy,
            timeouts=timeouts,
            pace=pace,
        )
        http = self._endpoint.http
        self._client = AsyncAnthropic(
            api_key=api_key,
            base_url=base_url.rstrip("/").removesuffix(VERSION_PATH),
            max_retries=0,
            # With a timeout of ours the SDK does not refuse answers that may take ten minutes.
            timeout=http.timeout,
            http_client=http,
        )

    @property
    def name(self) -> str:
        """What results are filed under."""
        return self._name

    def for_sample(self, problem: ProblemView, index: int) -> Model:  # noqa: ARG002 - protocol
        """The same object: a provider keeps nothing between samples."""
        return self

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        """Ask once, retrying what can help.

        Raises:
            ContextOverflowError: the conversation no longer fits.
            ModelError: the provider did not answer; the message holds its own words. Or a setting
                is one that it does not take, and nothing was sent.
        """
        reason = unsupported(settings)
        if reason:
            raise ModelError(reason)
        return await self._endpoint.ask(
            self._client.messages.with_streaming_response.create,
            request_body(self._model, messages, tools, settings),
            partial(turn_from_wire, messages=messages),
            on_retry,
        )

    async def close(self) -> None:
        """Close the connections; calling it again does nothing."""
        await self._endpoint.close()
