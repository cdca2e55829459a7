"""Models without a provider: scripted answers, references, a placeholder."""

from collections.abc import Sequence
from typing import NamedTuple

from harness.models.protocol import (
    Message,
    ModelError,
    ModelSettings,
    ModelTurn,
    RetryObserver,
    ToolSpec,
)
from harness.models.unasked import UnaskedModel
from harness.problem import ProblemView


class ReceivedRequest(NamedTuple):
    """One request, as the model received it."""

    problem_id: str | None
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    settings: ModelSettings


class ScriptedModel(UnaskedModel):
    """Answers from a script, to try a prompt, strategy or run without a provider.

    Args:
        turns: its turns, the same from the start in each sample; text is a turn without tool calls,
            and an exception is raised.
        name: name of the model in results.

    Attributes:
        asked: every request of every sample, in the order of arrival.
    """

    def __init__(
        self, turns: Sequence[ModelTurn | str | Exception], *, name: str = "scripted"
    ) -> None:
        super().__init__(name)
        self.asked: list[ReceivedRequest] = []
        self._turns = tuple(turns)
        self._said = 0
        self._problem_id: str | None = None

    def for_sample(self, problem: ProblemView, index: int) -> "ScriptedModel":  # noqa: ARG002
        """Return the same script from its start."""
        fresh = ScriptedModel(self._turns, name=self.name)
        fresh.asked = self.asked
        fresh._problem_id = problem.id
        return fresh

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,  # noqa: ARG002 - protocol
    ) -> ModelTurn:
        """Return the next turn.

        Raises:
            ModelError: the script has ended.
        """
        self.asked.append(
            ReceivedRequest(self._problem_id, tuple(messages), tuple(tools), settings)
        )
        if self._said == len(self._turns):
            raise ModelError(f"{self.name}: the script ends after {self._said} turns")
        turn = self._turns[self._said]
        self._said += 1
        if isinstance(turn, Exception):
            raise turn
        if isinstance(turn, str):
            return ModelTurn(text=turn)
        return turn
