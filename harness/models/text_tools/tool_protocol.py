"""Choose how to give a model its tools: natively or in text."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from harness.models.faults import ToolsRefusedError
from harness.models.protocol import (
    AssistantMessage,
    Message,
    Model,
    ModelSettings,
    ModelTurn,
    Retry,
    RetryObserver,
    ToolSpec,
)
from harness.models.providers import ToolProtocol
from harness.models.text_tools.instructions import TextTools, said_in_text, with_calls
from harness.problem import ProblemView

PATIENCE_S = 0.25  # a refusal is immediate; an answer takes longer
MOST_SILENT_TURNS = 2  # native answers without any call, until the tools are described in text


def with_tools(model: Model, protocol: ToolProtocol) -> Model:
    """Return the model, wrapped to use that tool protocol.

    `auto` is native until the endpoint refuses tools, and then text for all samples. A conversation
    in which two native answers held no call, or one held a call as text, continues in text as well.
    """
    match protocol:
        case "native":
            return model
        case "text":
            return TextTools(model)
        case "auto":
            return AutoTools(model)


@dataclass(slots=True)
class _Endpoint:
    """Knowledge about the endpoint that all samples share."""

    asked: bool = False
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    refuses: bool = False


class AutoTools:
    """Model that is given its tools natively, and in text where that does not work.

    The first request with tools is sent before the others, so that one refusal is enough; the
    others wait for its answer, but not long.

    Args:
        model: the model; its samples share the knowledge about the endpoint.
        patience_s: seconds that other requests wait for the answer to the first.
    """

    def __init__(
        self, model: Model, *, patience_s: float = PATIENCE_S, endpoint: _Endpoint | None = None
    ) -> None:
        self._model = model
        self._patience_s = patience_s
        self._endpoint = endpoint or _Endpoint()
        self._text = TextTools(model)

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._model.name

    def for_sample(self, problem: ProblemView, index: int) -> Model:
        """Return the model for that sample, wrapped likewise."""
        return AutoTools(
            self._model.for_sample(problem, index),
            patience_s=self._patience_s,
            endpoint=self._endpoint,
        )

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        """Ask once, again in text if tools are refused; raises ModelError as the model does."""
        if not tools:
            return await self._model.generate(messages, tools, settings, on_retry)
        in_text = _goes_on_in_text(messages)
        if not in_text:
            await self._let_the_first_ahead()
        if not (in_text or self._endpoint.refuses):
            try:
                turn = await self._model.generate(messages, tools, settings, on_retry)
                return with_calls(turn, messages, tools, marked=False)
            except ToolsRefusedError as error:
                self._endpoint.refuses = True
                if on_retry is not None:
                    cause = f"{error} (tools are refused; from here on they are told in text)"
                    on_retry(Retry(attempt=1, cause=cause, wait_s=0.0))
            finally:
                self._endpoint.answered.set()
        return await self._text.generate(messages, tools, settings, on_retry)

    async def _let_the_first_ahead(self) -> None:
        endpoint = self._endpoint
        if not endpoint.asked:
            endpoint.asked = True
        elif not endpoint.answered.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(self._patience_s):
                    await endpoint.answered.wait()

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


def _goes_on_in_text(messages: Sequence[Message]) -> bool:
    """Return whether native calls did not work in this conversation."""
    said = [message for message in messages if isinstance(message, AssistantMessage)]
    if any(said_in_text(message) for message in said):
        return True
    return len(said) >= MOST_SILENT_TURNS and not any(message.tool_calls for message in said)
