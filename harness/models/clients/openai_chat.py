"""Client of OpenAI's chat completions, at the vendor or any compatible endpoint."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.models.clients.chat_stream import ChatStream
from harness.models.clients.client import Client
from harness.models.clients.connections import OPENAI_HOST, is_at, opened
from harness.models.clients.event_stream import StreamFormat
from harness.models.clients.openai_wire import (
    REASONING_FIELDS,
    mended,
    request_body,
    turn_from_wire,
    usage_from_wire,
    without_reasoning,
)
from harness.models.clients.wire import Json
from harness.models.faults import RejectedError, ToolsRefusedError, WrongApiError
from harness.models.protocol import (
    Message,
    ModelSettings,
    ModelTurn,
    Retry,
    RetryObserver,
    ToolSpec,
)

# Refusals by Groq (400: `property 'reasoning_content' is unsupported`), Cerebras (422:
# `messages.2.assistant.reasoning_content: Extra inputs are not permitted`), and servers whose
# schema refuses a field without naming it.
_FIELD_REFUSED = re.compile(
    r"\b(?:" + "|".join(REASONING_FIELDS) + r")\b|\bextra inputs\b|\bextra_forbidden\b"
    r"|\badditional propert|\b(?:unknown|unexpected|unrecognized) (?:field|property|key)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Amendment:
    """Change to a request.

    Attributes:
        title: what the endpoint refuses, for the transcript.
        apply: function that returns the changed body; None where there is nothing to change.
        statuses: HTTP statuses of the refusal.
        words: pattern of the refusal's text; None for any text.
    """

    title: str
    apply: Callable[[Json], Json | None]
    statuses: frozenset[int]
    words: re.Pattern[str] | None = None

    def fits(self, error: RejectedError) -> bool:
        """Return whether this change may prevent the refusal."""
        if isinstance(error, WrongApiError) or error.status not in self.statuses:
            return False
        if self.words is None:
            return not isinstance(error, ToolsRefusedError)
        return self.words.search(str(error)) is not None


AMENDMENTS = (
    Amendment(
        "reasoning sent back", without_reasoning, frozenset({400, 422}), words=_FIELD_REFUSED
    ),
    Amendment("broken arguments sent", mended, frozenset({400, 422, 500})),
)


STREAM = StreamFormat({"stream": True, "stream_options": {"include_usage": True}}, ChatStream)


def max_tokens_field(base_url: str) -> str:
    """Return an endpoint's field for the token limit: the vendor has renamed it."""
    return "max_completion_tokens" if is_at(base_url, OPENAI_HOST) else "max_tokens"


class OpenAIChat(Client):
    """Model at an endpoint of OpenAI's chat completions."""

    ANSWER_FIELD = "choices"
    READ_USAGE = usage_from_wire

    def __init__(self, name: str, *, base_url: str, **settings: Any) -> None:
        super().__init__(name, base_url=base_url, **settings)
        self._needed: set[Amendment] = set()  # changes that this endpoint requires
        self._max_tokens_field = max_tokens_field(base_url)

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

        Reasoning and broken tool call arguments are sent back as they came. An endpoint that
        refuses such a conversation gets it once more without reasoning, or with the arguments
        wrapped in valid JSON. If that helps, all later requests are changed likewise.

        Raises:
            ContextOverflowError: the conversation no longer fits.
            ModelError: the provider did not answer; the message holds its error text.
        """
        body = request_body(
            self._model, messages, tools, settings, max_tokens_field=self._max_tokens_field
        )
        tried = set(self._needed)
        for amendment in tried:
            body = amendment.apply(body) or body
        while True:
            try:
                turn = await self._ask(body, messages, on_retry)
            except RejectedError as error:
                body = self._amended(body, error, tried, on_retry)
            else:
                self._needed |= tried
                return turn

    def _amended(
        self,
        body: Json,
        error: RejectedError,
        tried: set[Amendment],
        on_retry: RetryObserver | None,
    ) -> Json:
        """Return the body with the next change that may help, or raise the error."""
        for amendment in AMENDMENTS:
            changed = amendment.apply(body) if amendment.fits(error) else None
            if changed is not None and amendment not in tried:
                tried.add(amendment)
                if on_retry is not None:
                    cause = f"{error} ({amendment.title})"
                    on_retry(Retry(attempt=1, cause=cause, wait_s=0.0))
                return changed
        raise error

    async def _ask(
        self, body: Json, messages: Sequence[Message], on_retry: RetryObserver | None
    ) -> ModelTurn:
        completions = self._client.chat.completions
        return await self._endpoint.ask(
            completions.with_streaming_response.create,
            self._arguments(completions.create, body),
            partial(turn_from_wire, messages=messages),
            on_retry,
            STREAM,
        )
