"""Speed of two runs' solutions, paired by problem, and its words."""

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, computed_field

from harness.figures import count, score
from harness.frozen import Frozen
from harness.stats.rates import Rate


class PairedBeyond(BaseModel):
    """Beyond@1 of two runs, over problems whose references tell fast from slow.

    Attributes:
        problems: number of these problems.
        rate_a, rate_b: Beyond@1 of each run.
        low, high: interval of the difference, by `harness.stats.rates.mean_interval` over
            problems. It is at least as wide as the measurement error, which few differences may
            not show. None for a single problem.
    """

    model_config = ConfigDict(frozen=True)

    problems: int
    rate_a: Rate
    rate_b: Rate
    low: float | None
    high: float | None

    @computed_field
    @property
    def difference(self) -> float:
        """Beyond@1 of B minus Beyond@1 of A."""
        return self.rate_b.value - self.rate_a.value


class Faster(Frozen):
    """Speed of two runs' solutions, if the references tell fast from slow.

    Attributes:
        every: over all samples; a failed one counts 0, so it combines speed and correctness.
        passed: over passed samples only, of problems solved in both runs: speed alone.
    """

    every: PairedBeyond
    passed: PairedBeyond | None


def faster_words(faster: Faster, labels: tuple[str, str]) -> Iterator[str]:
    """Yield the comparison of speed in sentences."""
    every = faster.every
    subject = f"{count(every.problems, 'problem')} whose references tell fast from slow in both"
    yield f"Beyond@1 over {subject}: {_difference(every, labels)}"
    if faster.passed is None:
        yield "no such problem has a passed sample in both: of speed alone nothing is known"
        return
    both = count(faster.passed.problems, "such problem")
    yield f"passed samples only, over {both} that both solved: {_difference(faster.passed, labels)}"


def _difference(paired: PairedBeyond, labels: tuple[str, str]) -> str:
    a, b = labels
    rates = f"{a} {score(paired.rate_a.value)}, {b} {score(paired.rate_b.value)}"
    difference = f"{rates}; difference {b} - {a}: {paired.difference:+.3f}"
    if paired.low is None or paired.high is None:
        return f"{difference} (one problem: no interval)"
    ends = f"95 % bootstrap interval {paired.low:+.3f} to {paired.high:+.3f}"
    chance = (
        "chance alone could do this" if paired.low <= 0 <= paired.high else "unlikely to be chance"
    )
    return f"{difference} ({ends}; {chance})"
