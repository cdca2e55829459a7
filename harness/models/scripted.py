"""Models that do not ask anybody: scripted answers, references, a stand-in."""

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


class ReceivedRequest(NamedTuple):
    """One request, as the model received it."""

    problem_id: str | None
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    settings: ModelSettings


class ScriptedModel:
    """Answers from a script, for trying a prompt, a strategy or a whole run without a provider.

    Args:
        turns: what it says in turn, in each sample from the beginning; text is a turn without tool
            calls, and an exception is raised.
        name: what results are filed under.

    Attributes:
        asked: every request of every sample, in the order of arrival.
    """

    def __init__(
        self, turns: Sequence[ModelTurn | str | Exception], *, name: str = "scripted"
    ) -> None:
        self.name = name
        self.asked: list[ReceivedRequest] = []
        self._turns = tuple(turns)
        self._said = 0
        self._problem_id: str | None = None

    def for_sample(self, problem: ProblemView, index: int) -> "ScriptedModel":  # noqa: ARG002
        """The same script from its beginning."""
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
        """The next turn.

        Raises:
            ModelError: the script has come to its end.
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

    async def close(self) -> None:
        """Nothing to let go of."""


class ReferenceModel:
    """Sample i of a problem is its i-th reference in Python, and begins anew after the last.

    Args:
        problems: of the run.
    """

    name = REFERENCES

    def __init__(self, problems: Sequence[Problem]) -> None:
        self._problems = {problem.id: problem for problem in problems}

    def for_sample(self, problem: ProblemView, index: int) -> ScriptedModel:
        """What says that reference, and holds no other."""
        try:
            programs = self._problems[problem.id].programs()
        except DataError as error:
            return ScriptedModel([ModelError(str(error))], name=self.name)
        if not programs:
            return ScriptedModel([ModelError("it has no reference in Python")], name=self.name)
        return ScriptedModel([_fenced(programs[index % len(programs)])], name=self.name)

    async def generate(
        self,
        messages: Sequence[Message],  # noqa: ARG002 - protocol
        tools: Sequence[ToolSpec],  # noqa: ARG002
        settings: ModelSettings,  # noqa: ARG002
        on_retry: RetryObserver | None = None,  # noqa: ARG002
    ) -> ModelTurn:
        """Nothing to say before a problem is known."""
        return ModelTurn(stop=ModelStop(reason="end_turn"))

    async def close(self) -> None:
        """Nothing to let go of."""


def check_references(mode: str) -> None:
    """Refuse what a reference cannot do. Raises UsageError."""
    if mode != "single_shot":
        raise UsageError(f"-m {REFERENCES}: these are written already; leave out --mode {mode}")


def _fenced(code: str) -> str:
    """A block that no line of the code ends."""
    longest = max((len(found) for found in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}python\n{code}\n{fence}\n"


class UnaskedModel:
    """Stands for a model that harness sends no request to: an agent's, or that of a dry run."""

    def __init__(self, name: str) -> None:
        self.name = name

    def for_sample(self, problem: ProblemView, index: int) -> Model:  # noqa: ARG002 - protocol
        """Itself."""
        return self

    async def generate(
        self,
        messages: Sequence[Message],  # noqa: ARG002 - protocol
        tools: Sequence[ToolSpec],  # noqa: ARG002
        settings: ModelSettings,  # noqa: ARG002
        on_retry: RetryObserver | None = None,  # noqa: ARG002
    ) -> ModelTurn:
        """Never answers. Raises ModelError."""
        raise ModelError(f"{self.name}: harness sends no request to this model")

    async def close(self) -> None:
        """Nothing to let go of."""
