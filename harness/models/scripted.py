"""Models without a provider: recordings, scripted answers, references, a placeholder."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from harness.errors import DataError, UsageError
from harness.models.protocol import (
    Message,
    Model,
    ModelError,
    ModelSettings,
    ModelStop,
    ModelTurn,
    RecordingEndedError,
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


class ReplayModel(UnaskedModel):
    """Model that answers each sample from its recording.

    Args:
        name: name of the model in results.
        turns: result of each request of a sample, an answer or an error, by problem id and sample
            index.
    """

    def __init__(
        self, name: str, turns: Mapping[tuple[str, int], Sequence[ModelTurn | ModelError]]
    ) -> None:
        why = f"{name}: a recording answers for a sample; call for_sample first"
        super().__init__(name, why)
        self._turns = turns

    def most_samples(self, problems: Iterable[str]) -> int:
        """Return the number of recorded samples of the problem that has the most."""
        wanted = set(problems)
        counts = Counter(problem for problem, _ in self._turns if problem in wanted)
        return max(counts.values(), default=0)

    def check(self, problems: Iterable[str], samples: int) -> None:
        """Refuse more samples per problem than any problem has recordings of.

        Raises:
            UsageError: says how many there are.
        """
        most = self.most_samples(problems)
        if 0 < most < samples:
            raise UsageError(
                f"{self.name} has at most {most} recorded of a problem, and {samples} samples are "
                f"asked for: give -k {most}, or name a model with -m"
            )

    def for_sample(self, problem: ProblemView, index: int) -> Model:
        """Return the sample's recording from its start; an unrecorded one fails when asked."""
        turns = self._turns.get((problem.id, index))
        return Recording(self.name, f"sample {index} of {problem.id}", turns)


class Recording(UnaskedModel):
    """Recording of one sample, and its current position."""

    def __init__(
        self, name: str, sample: str, turns: Sequence[ModelTurn | ModelError] | None
    ) -> None:
        super().__init__(name)
        self._sample = sample
        self._turns = turns
        self._played = 0

    @property
    def ended(self) -> RecordingEndedError | None:
        """Reason why the recording ends here without a request; None where one follows."""
        following = (self._turns or ())[self._played : self._played + 1]
        for each in following:
            if isinstance(each, RecordingEndedError) and not each.asked:
                return each
        return None

    async def generate(
        self,
        messages: Sequence[Message],  # noqa: ARG002 - protocol
        tools: Sequence[ToolSpec],  # noqa: ARG002
        settings: ModelSettings,  # noqa: ARG002
        on_retry: RetryObserver | None = None,  # noqa: ARG002
    ) -> ModelTurn:
        """Return the recorded result of the next request. Raises ModelError."""
        if self._turns is None:
            raise ModelError(f"{self.name} holds no recording of {self._sample}")
        if self._played >= len(self._turns):
            raise ModelError(
                f"{self.name}: the recording of {self._sample} ends after"
                f" {len(self._turns)} turns, and one more was asked for"
            )
        turn = self._turns[self._played]
        self._played += 1
        if isinstance(turn, ModelError):
            raise turn
        return turn
