"""The problems to look at first: the slowest, the dearest, and those that flip the most."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from harness.features.report import figures
from harness.features.report.run_labels import LabelledRun
from harness.run.store.results import SampleResult

MOST = 10


@dataclass(frozen=True)
class Extreme:
    """A problem over all runs.

    Attributes:
        value: what it stands in the list for.
        solved, samples: of it in all runs.
        side, sample: where to look: that of its samples which took the most, or disagrees.
    """

    problem: str
    title: str
    value: float
    solved: int
    samples: int
    side: LabelledRun
    sample: str


def slowest(sides: Sequence[LabelledRun]) -> list[Extreme]:
    """By the mean of the wall seconds of their samples."""
    return _by_mean(sides, figures.seconds)


def dearest(sides: Sequence[LabelledRun]) -> list[Extreme]:
    """By the mean of what their samples cost; those of which one's is unknown are left out."""
    return _by_mean(sides, figures.dollars)


def longest(sides: Sequence[LabelledRun]) -> list[Extreme]:
    """By the mean of their samples' tokens; those of which one's are unknown are left out."""
    return _by_mean(sides, figures.tokens)


def flipping(sides: Sequence[LabelledRun]) -> list[Extreme]:
    """By how many samples would have to end otherwise for all to agree, of all of a problem's.

    A problem that is solved half of the time has 0.5; one that always is, or never, is not in the
    list.
    """
    found: list[Extreme] = []
    for samples in _by_problem(sides).values():
        solved = sum(result.solved for _, result in samples)
        if solved in {0, len(samples)}:
            continue
        rarer = solved * 2 <= len(samples)  # look at one that ended as fewer did
        side, odd = next((side, result) for side, result in samples if result.solved == rarer)
        share = min(solved, len(samples) - solved) / len(samples)
        found.append(_extreme(samples, share, side, odd))
    return sorted(found, key=lambda each: (-each.value, -each.samples, each.problem))[:MOST]


_Samples = list[tuple[LabelledRun, SampleResult]]


def _by_problem(sides: Sequence[LabelledRun]) -> dict[tuple[str, str], _Samples]:
    """The graded samples of a problem as it is in some runs: another content is another."""
    found: defaultdict[tuple[str, str], _Samples] = defaultdict(list)
    for side in sides:
        for result in side.graded:
            found[result.problem_id, result.problem_hash].append((side, result))
    return found


def _by_mean(sides: Sequence[LabelledRun], amount: figures.Amount) -> list[Extreme]:
    found: list[Extreme] = []
    for samples in _by_problem(sides).values():
        known = [(taken, at) for at in samples if (taken := amount(at[1])) is not None]
        if len(known) < len(samples) or not any(taken for taken, _ in known):
            continue
        _, (side, most) = max(known, key=lambda each: each[0])
        found.append(_extreme(samples, fmean(taken for taken, _ in known), side, most))
    return sorted(found, key=lambda each: (-each.value, each.problem))[:MOST]


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
