"""The model `references`: it answers with the problems' own known-good solutions."""

import re
from collections.abc import Sequence

from harness.errors import DataError, UsageError
from harness.models.protocol import (
    Message,
    ModelError,
    ModelSettings,
    ModelStop,
    ModelTurn,
    RetryObserver,
    ToolSpec,
)
from harness.models.providers import REFERENCES
from harness.models.scripted import ScriptedModel
from harness.problem import Problem, ProblemView


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
