"""Client of Anthropic's Messages API, at the vendor or any compatible endpoint."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from harness.models.clients.anthropic_wire import (
    ERROR_STATUSES,
    request_body,
    turn_from_wire,
    usage_from_wire,
)
from harness.models.clients.client import Client
from harness.models.clients.event_stream import StreamFormat
from harness.models.clients.messages_stream import MessagesStream
from harness.models.clients.vendor_headers import opened
from harness.models.protocol import (
    Message,
    ModelSettings,
    ModelTurn,
    RetryObserver,
    ToolSpec,
)

STREAM = StreamFormat({"stream": True}, MessagesStream)
VERSION_PATH = "/v1"  # appended by the SDK


class AnthropicMessages(Client):
    """Model at an endpoint of Anthropic's Messages API."""

    ANSWER_FIELD = "content"
    ERROR_STATUSES = ERROR_STATUSES
    READ_USAGE = usage_from_wire

    def _open(self, headers: Mapping[str, str], *, base_url: str, **settings: Any) -> Any:
        from anthropic import AsyncAnthropic

        host = base_url.rstrip("/").removesuffix(VERSION_PATH)
        return opened(AsyncAnthropic, headers, base_url=host, **settings)

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        """Ask once, retrying transient failures.

        Raises:
            ContextOverflowError: the conversation no longer fits.
            ModelError: the provider did not answer; the message holds its error text. Or a setting
                is not supported, and nothing was sent.
        """
        body = request_body(self._model, messages, tools, settings)
        return await self._endpoint.ask(
            self._client.messages.with_streaming_response.create,
            self._arguments(self._client.messages.create, body),
            partial(turn_from_wire, messages=messages),
            on_retry,
            STREAM,
        )
