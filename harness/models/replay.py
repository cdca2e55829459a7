"""Recorded answers played again: no network, no cost, the same turns every time."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from harness.models.protocol import (
    Message,
    Model,
    ModelError,
    ModelSettings,
    ModelTurn,
    RecordingEndedError,
    RetryObserver,
    ToolSpec,
)
from harness.problem import ProblemView


class ReplayModel:
    """A model that answers each sample from its recording.

    Args:
        name: what results are filed under.
        turns: what came of the requests of each sample, an answer or an error, by problem id and
            sample index.
    """

    def __init__(
        self, name: str, turns: Mapping[tuple[str, int], Sequence[ModelTurn | ModelError]]
    ) -> None:
        self._name = name
        self._turns = turns

    @property
    def name(self) -> str:
        """What results are filed under."""
        return self._name

    def most_samples(self, problems: Iterable[str]) -> int:
        """How many samples are recorded of the problem that has the most."""
        wanted = set(problems)
        counts = Counter(problem for problem, _ in self._turns if problem in wanted)
        return max(counts.values(), default=0)

    def for_sample(self, problem: ProblemView, index: int) -> Model:
        """A tape of that sample, wound to its start; an unrecorded one fails when asked."""
        turns = self._turns.get((problem.id, index))
        return Recording(self._name, f"sample {index} of {problem.id}", turns)

    async def generate(
        self,
        messages: Sequence[Message],  # noqa: ARG002 - protocol
        tools: Sequence[ToolSpec],  # noqa: ARG002
        settings: ModelSettings,  # noqa: ARG002
        on_retry: RetryObserver | None = None,  # noqa: ARG002
    ) -> ModelTurn:
        """Never answers.

        Raises:
            ModelError: always; a recording belongs to a sample.
        """
        raise ModelError(f"{self._name}: a recording answers for a sample; call for_sample first")

    async def close(self) -> None:
        """Nothing to let go of."""


class Recording:
    """The recording of one sample, and how far it has been played."""

    def __init__(
        self, name: str, sample: str, turns: Sequence[ModelTurn | ModelError] | None
    ) -> None:
        self._name = name
        self._sample = sample
        self._turns = turns
        self._played = 0

    @property
    def name(self) -> str:
        """What results are filed under."""
        return self._name

    @property
    def ended(self) -> RecordingEndedError | None:
        """Why nothing more was asked when this was recorded; None where something was."""
        following = (self._turns or ())[self._played : self._played + 1]
        for each in following:
            if isinstance(each, RecordingEndedError) and not each.asked:
                return each
        return None

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
        """What came of the next request when it was recorded. Raises ModelError."""
        if self._turns is None:
            raise ModelError(f"{self._name} holds no recording of {self._sample}")
        if self._played >= len(self._turns):
            raise ModelError(
                f"{self._name}: the recording of {self._sample} ends after"
                f" {len(self._turns)} turns, and one more was asked for"
            )
        turn = self._turns[self._played]
        self._played += 1
        if isinstance(turn, ModelError):
            raise turn
        return turn

    async def close(self) -> None:
        """Nothing to let go of."""
