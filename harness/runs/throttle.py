"""How many model requests are in flight."""

import asyncio
from collections.abc import Sequence

from harness.models.protocol import (
    Message,
    Model,
    ModelSettings,
    ModelTurn,
    RetryObserver,
    ToolSpec,
)
from harness.problem import ProblemView


class Throttled:
    """A model of which only so many requests are in flight."""

    def __init__(self, model: Model, slots: asyncio.Semaphore) -> None:
        self._model = model
        self._slots = slots

    @property
    def name(self) -> str:
        """The model's own."""
        return self._model.name

    def for_sample(self, problem: ProblemView, index: int) -> Model:
        """The model's own for that sample, under the same bound."""
        return Throttled(self._model.for_sample(problem, index), self._slots)

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        """Ask when there is a slot; raises ModelError as the model does."""
        async with self._slots:
            return await self._model.generate(messages, tools, settings, on_retry)

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()
