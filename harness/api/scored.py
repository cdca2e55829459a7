"""What came of a text that was judged for a reward."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import HarnessError
from harness.grading.verdict import INFRASTRUCTURE, Grade, Verdict


@dataclass(frozen=True, slots=True)
class Scored:
    """What came of one text.

    Attributes:
        code: what was found in it, and `extraction` by which rule; empty where nothing was.
        cause: why infrastructure failed, where it did.
        grade: with every test that was run.
    """

    problem_id: str
    verdict: Verdict
    code: str
    extraction: str
    cause: str
    grade: Grade

    @property
    def passed(self) -> bool:
        """Whether every test passed."""
        return self.grade.solved

    @property
    def fraction(self) -> float:
        """Tests passed, of all the problem has; those that were not run count as failed."""
        total = self.grade.public_total + self.grade.hidden_total
        return (self.grade.public_passed + self.grade.hidden_passed) / total if total else 0.0

    @property
    def failed(self) -> bool:
        """Whether the verdict says nothing of the text: infrastructure failed, or no test is."""
        return self.verdict in INFRASTRUCTURE | {Verdict.UNGRADED}


class GradingError(HarnessError):
    """Some texts could not be judged, which says nothing of them.

    Attributes:
        scored: all of the batch, those that were judged among them; `failed` says which were not.
    """

    def __init__(self, scored: Sequence[Scored]) -> None:
        self.scored = tuple(scored)
        lost = [each for each in scored if each.failed]
        first = lost[0]
        why = first.cause or "it has no test"
        super().__init__(
            f"{len(lost)} of {len(scored)} texts could not be judged; "
            f"{first.problem_id}: {first.verdict}: {why}"
        )
