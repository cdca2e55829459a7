"""Client of OpenAI's Responses API, which takes reasoning back from turn to turn."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from harness.models.clients.client import Client
from harness.models.clients.event_stream import StreamFormat
from harness.models.clients.responses_stream import ResponsesStream
from harness.models.clients.responses_wire import request_body, turn_from_wire, usage_from_wire
from harness.models.clients.vendor_headers import opened
from harness.models.protocol import (
    Message,
    ModelSettings,
    ModelTurn,
    RetryObserver,
    ToolSpec,
)

STREAM = StreamFormat({"stream": True}, ResponsesStream)


class OpenAIResponses(Client):
    """Model at an endpoint of OpenAI's Responses API.

    The provider stores nothing: each request holds the whole conversation, including the model's
    encrypted reasoning. A model without reasoning refuses that with an error of its own; use
    `OpenAIChat` for it.
    """

    # A failed response has no output; its error is classified by code, not by status.
    ANSWER_FIELD = "status"
    READ_USAGE = usage_from_wire

    def _open(self, headers: Mapping[str, str], **settings: Any) -> Any:
        from openai import AsyncOpenAI

        return opened(AsyncOpenAI, headers, **settings)

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        """Ask once, retrying transient failures.

        Nothing that the provider refuses is left out and retried, so that what was measured is what
        the user asked for.

        Raises:
            ContextOverflowError: the conversation no longer fits.
            ModelError: the provider did not answer; the message holds its error text.
        """
        body = request_body(self._model, messages, tools, settings)
        return await self._endpoint.ask(
            self._client.responses.with_streaming_response.create,
            # As an argument, every item would be matched against each of the SDK's forty item
            # types, which only costs time: 90 ms for a conversation of forty turns.
            {"extra_body": body},
            partial(turn_from_wire, messages=messages, redact=self._endpoint.redact),
            on_retry,
            STREAM,
        )
