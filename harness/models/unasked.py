"""A model that answers no request: an external agent's, and the base of those for a sample."""

from collections.abc import Sequence

from harness.models.protocol import (
    Message,
    Model,
    ModelError,
    ModelSettings,
    ModelTurn,
    RetryObserver,
    ToolSpec,
)
from harness.problem import ProblemView


class UnaskedModel:
    """A model that answers no request.

    An external agent's model is one. Those that make a model for each sample inherit from it, and
    those that answer without reading the conversation define `answer`.

    Args:
        name: name of the model in results.
        why: the error of every request.
    """

    def __init__(self, name: str, why: str = "") -> None:
        self.name = name
        self._why = why or f"{name}: harness sends no request to this model"

    def for_sample(self, problem: ProblemView, index: int) -> Model:  # noqa: ARG002 - protocol
        """Return this object."""
        return self

    async def generate(
        self,
        messages: Sequence[Message],  # noqa: ARG002 - protocol
        tools: Sequence[ToolSpec],  # noqa: ARG002
        settings: ModelSettings,  # noqa: ARG002
        on_retry: RetryObserver | None = None,  # noqa: ARG002
    ) -> ModelTurn:
        """Return the answer, whatever was asked. Raises ModelError."""
        return await self.answer()

    async def answer(self) -> ModelTurn:
        """Never answer. Raises ModelError."""
        raise ModelError(self._why)

    async def close(self) -> None:
        """Do nothing."""
