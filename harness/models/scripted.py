"""Models without a provider: scripted answers, references, a placeholder."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from harness.errors import DataError, UsageError
from harness.models.protocol import (
    Message,
    Model,
    ModelError,
    ModelSettings,
    ModelStop,
    ModelTurn,
    RetryObserver,
    ToolSpec,
)
from harness.models.providers import REFERENCES
from harness.problem import Problem, ProblemView


class UnaskedModel:
    """A model that answers no request.

    An external agent's model is one. Those that make a model for each sample inherit from it.

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
        """Never answer. Raises ModelError."""
        raise ModelError(self._why)

    async def close(self) -> None:
        """Do nothing."""


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
            return ModelTurn(text=turn, stop=ModelStop(reason="end_turn"))
        return turn


class ReferenceModel(UnaskedModel):
    """Answers sample i with the problem's i-th Python reference, in a cycle.

    Args:
        problems: problems of the run.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(REFERENCES)
        self._problems = {problem.id: problem for problem in problems}

    def for_sample(self, problem: ProblemView, index: int) -> ScriptedModel:
        """Return a model that answers with that reference, and holds no other."""
        try:
            programs = self._problems[problem.id].programs()
        except DataError as error:
            return ScriptedModel([ModelError(str(error))], name=self.name)
        if not programs:
            lacking = ModelError("the problem has no reference solution in Python")
            return ScriptedModel([lacking], name=self.name)
        return ScriptedModel([_fenced(programs[index % len(programs)])], name=self.name)

    async def generate(
        self,
        messages: Sequence[Message],  # noqa: ARG002 - protocol
        tools: Sequence[ToolSpec],  # noqa: ARG002
        settings: ModelSettings,  # noqa: ARG002
        on_retry: RetryObserver | None = None,  # noqa: ARG002
    ) -> ModelTurn:
        """Return an empty turn, as the problem is not known."""
        return ModelTurn(stop=ModelStop(reason="end_turn"))


def check_references(mode: str) -> None:
    """Raise UsageError for a mode that references cannot be used with."""
    if mode != "single_shot":
        raise UsageError(
            f"-m {REFERENCES}, the default with --efficiency, is for mode single_shot, not {mode}: "
            "name a model with -m"
        )


def _fenced(code: str) -> str:
    """Put code in a fence that no line of it closes."""
    longest = max((len(found) for found in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}python\n{code}\n{fence}\n"
