"""Models behind OpenAI's Responses API, where reasoning returns from turn to turn."""

from collections.abc import Sequence
from functools import partial

from harness.models.endpoint import Endpoint, Timeouts
from harness.models.protocol import (
    Message,
    Model,
    ModelSettings,
    ModelTurn,
    RetryObserver,
    ToolSpec,
)
from harness.models.responses_wire import request_body, turn_from_wire
from harness.models.retrying import Pace, RetryPolicy
from harness.problem import ProblemView


class OpenAIResponses:
    """A model at an endpoint of OpenAI's Responses API.

    The provider stores nothing: each request holds the whole conversation, and the model's
    reasoning, encrypted, with it. A model that has no reasoning to encrypt refuses that in words of
    its own; it is asked by `OpenAIChat`.

    Args:
        name: what results are filed under.
        model: the name the endpoint knows it by.
        base_url: the endpoint, as `https://host/v1`.
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
        from openai import AsyncOpenAI

        self._name = name
        self._model = model
        self._endpoint = Endpoint(
            base_url,
            api_key,
            # A failed response has no output; its error is sorted by its code, not by a status.
            answer_field="status",
            policy=policy,
            timeouts=timeouts,
            pace=pace,
        )
        http = self._endpoint.http
        self._client = AsyncOpenAI(
            api_key=api_key,
            base_url=base_url,
            max_retries=0,
            timeout=http.timeout,
            http_client=http,
        )

    @property
    def name(self) -> str:
        """What results are filed under."""
        return self._name

    def for_sample(self, problem: ProblemView, index: int) -> Model:  # noqa: ARG002 - protocol
        """The same object: nothing is kept between samples."""
        return self

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        """Ask once, retrying what can help.

        Nothing that the provider refuses is left out and tried again: what was asked for is what
        was measured.

        Raises:
            ContextOverflowError: the conversation no longer fits.
            ModelError: the provider did not answer; the message holds its own words.
        """
        body = request_body(self._model, messages, tools, settings)
        return await self._endpoint.ask(
            self._client.responses.with_streaming_response.create,
            # As an argument, every item is tried against each of the SDK's forty types of items, to
            # no effect but the time: 90 ms for a conversation of forty turns.
            {"extra_body": body},
            partial(turn_from_wire, redact=self._endpoint.redact),
            on_retry,
        )

    async def close(self) -> None:
        """Close the connections; calling it again does nothing."""
        await self._endpoint.close()
