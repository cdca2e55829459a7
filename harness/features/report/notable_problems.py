"""Problems to look at first: slow, expensive and flipping ones."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from harness.features.report import figures
from harness.features.report.labelled_runs import LabelledRun
from harness.run.store.results import SampleResult

MOST_NAMED = 10


class Extreme(NamedTuple):
    """A problem over all runs.

    Attributes:
        value: the figure by which the list is sorted.
        solved, samples: number of its solved samples and of all its samples, in all runs.
        side, sample: the sample to look at, and its run: the one that took the most, or disagrees.
    """

    problem: str
    title: str
    value: float
    solved: int
    samples: int
    side: LabelledRun
    sample: str


def flipping(sides: Sequence[LabelledRun]) -> list[Extreme]:
    """Return the problems whose samples disagree most.

    The value is the share of a problem's samples that would have to change for all to agree: 0.5 if
    it
    is solved half of the time. Problems solved always or never are not in the list.
    """
    extremes: list[Extreme] = []
    for samples in _by_problem(sides).values():
        solved = sum(result.solved for _, result in samples)
        if solved in {0, len(samples)}:
            continue
        rarer = solved * 2 <= len(samples)  # show a sample of the rarer outcome
        side, odd = next((side, result) for side, result in samples if result.solved == rarer)
        share = min(solved, len(samples) - solved) / len(samples)
        extremes.append(_extreme(samples, share, side, odd))
    return sorted(extremes, key=lambda each: (-each.value, -each.samples, each.problem))[
        :MOST_NAMED
    ]


_Samples = list[tuple[LabelledRun, SampleResult]]


def _by_problem(sides: Sequence[LabelledRun]) -> dict[tuple[str, str], _Samples]:
    """Group graded samples by problem; other content counts as another problem."""
    samples: defaultdict[tuple[str, str], _Samples] = defaultdict(list)
    for side in sides:
        for result in side.graded:
            samples[result.problem_id, result.problem_hash].append((side, result))
    return samples


def by_mean(sides: Sequence[LabelledRun], amount: figures.Amount) -> list[Extreme]:
    """Return the problems with the largest mean amount, of those with all amounts known."""
    extremes: list[Extreme] = []
    for samples in _by_problem(sides).values():
        known = [(taken, at) for at in samples if (taken := amount(at[1])) is not None]
        if len(known) < len(samples) or not any(taken for taken, _ in known):
            continue
        _, (side, most) = max(known, key=lambda each: each[0])
        extremes.append(_extreme(samples, fmean(taken for taken, _ in known), side, most))
    return sorted(extremes, key=lambda each: (-each.value, each.problem))[:MOST_NAMED]


def _extreme(samples: _Samples, value: float, side: LabelledRun, shown: SampleResult) -> Extreme:
    solved = sum(result.solved for _, result in samples)
    return Extreme(
        problem=shown.problem_id,
        title=shown.title,
        value=value,
        solved=solved,
        samples=len(samples),
        side=side,
        sample=shown.sample,
    )
