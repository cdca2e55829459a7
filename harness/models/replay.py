"""Replay of a recorded run as a model."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from harness.errors import UsageError
from harness.models.protocol import Model, ModelError, ModelTurn, RecordingEndedError
from harness.models.unasked import UnaskedModel
from harness.problem import ProblemView


def plain_turn(turn: ModelTurn) -> ModelTurn:
    """Return an answer as the model gave it.

    Earlier versions read calls in a text before it was recorded, and kept the text beside them.
    """
    own = next((block for block in turn.reasoning if "tool_protocol" in block), None)
    if own is None:
        return turn
    rest = tuple(block for block in turn.reasoning if block is not own)
    text = str(own.get("said", turn.text))
    calls = () if "said" in own else turn.tool_calls
    return turn.model_copy(update={"text": text, "tool_calls": calls, "reasoning": rest})


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

    @property
    def problems(self) -> frozenset[str]:
        """Ids of the problems that have a recording."""
        return frozenset(problem for problem, _ in self._turns)

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

    def pass_over(self) -> None:
        """Skip the next result, because the sample's own transcript has it already."""
        self._played += 1

    async def answer(self) -> ModelTurn:
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
