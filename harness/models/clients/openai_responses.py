"""Models behind OpenAI's Responses API, where reasoning returns from turn to turn."""

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
    """A model at an endpoint of OpenAI's Responses API.

    The provider stores nothing: each request holds the whole conversation, and the model's
    reasoning, encrypted, with it. A model that has no reasoning to encrypt refuses that in words of
    its own; it is asked by `OpenAIChat`.
    """

    # A failed response has no output; its error is sorted by its code, not by a status.
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
            partial(turn_from_wire, messages=messages, redact=self._endpoint.redact),
            on_retry,
            STREAM,
        )
