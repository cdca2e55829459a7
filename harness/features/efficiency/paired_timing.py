"""Default timing: a solution in turns with references until the interval is narrow.

A solution's time is the mean, over batches of turns, of the ratio of its time to an anchor's, times
the anchor's own on the scale of the references. Every batch is timed in new processes, the anchors
one after another. The scale comes from the same measurement of every reference against the anchors,
so times are comparable.
"""

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist, fmean, median
from typing import NamedTuple

from harness.features.efficiency.scale import Efficiency, Scale
from harness.features.efficiency.turns import (
    FEWEST_PAIRS,
    PAIRS,
    WRONG,
    Expected,
    Grouping,
    LapError,
    Turns,
    race_of,
)
from harness.sandbox.timing_race import ProgramStep
from harness.sandbox.worker import Worker
from harness.stats.rates import student_quantile

EXACT = 30  # observations; beyond this, the normal approximation of the binomial is close enough
MOST_BATCHES = 100
PASSES_OF_MERCURY = 128  # per solution: the CPU time of that protocol is the limit here
LEAST_S, MOST_S = 0.25, 10.0  # CPU seconds for a solution's pairs
WANTED = 0.012  # half the width of a Beyond's interval: its intended variation is 0.005
WANTED_OF_REFERENCES = 0.015  # half the width of the interval of a reference's log time
WANTED_OF_ANCHORS = 0.006  # the same of an anchor, whose error is in everything timed against it
TOO_SLOW = 2.5  # anchors so many times slower are skipped: the others suffice
REMEMBERS = "faster once it has run before: timed in fresh processes"


class Middle(NamedTuple):
    """Median and its interval, in the unit of the measurements."""

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """The larger half of the interval."""
        return max(self.value - self.low, self.high - self.value)


def middle(values: Sequence[float], confidence: float = 0.95) -> Middle:
    """Return the median and its interval by order statistics, for any distribution.

    The interval goes from the k-th smallest value to the k-th largest, with the largest k for which
    it covers the median often enough: P(k <= X < n - k + 1) for X binomial with n and 1/2 (W. J.
    Conover, Practical Nonparametric Statistics, 3rd ed., 1999, 3.2). Fewer than six values cover
    less than 95 %; their interval goes from the smallest to the largest.

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("there is no median without a value")
    ordered = sorted(values)
    rank = _rank(len(ordered), confidence)
    return Middle(median(ordered), ordered[rank - 1], ordered[-rank])


def _rank(count: int, confidence: float) -> int:
    """Return k: the rank at which the interval begins, from 1."""
    tail = (1 - confidence) / 2
    if count > EXACT:
        z = NormalDist().inv_cdf(1 - tail)
        return max(1, math.floor((count - z * math.sqrt(count)) / 2))
    below, rank = 0.0, 0
    while rank < count // 2:
        below += math.comb(count, rank) / 2**count
        if below > tail:
            break
        rank += 1
    return max(1, rank)


class MeasuredTime(NamedTuple):
    """A solution's time against some anchors.

    Attributes:
        ratio: logarithm of its time in the anchors' unit, with its interval.
        seconds: CPU seconds of one pass.
        pairs: number of pairs of turns.
        branches: number of branches of one pass.
        remembers: whether it was timed in fresh processes.
    """

    ratio: Middle
    seconds: float
    pairs: int
    branches: int | None
    remembers: bool


def against(
    worker: Worker,
    expected: Expected,
    code: str,
    anchors: Sequence[tuple[str, float]],
    *,
    apart: bool,
    enough: Callable[[Middle], bool],
    effort: float = 1.0,
) -> MeasuredTime:
    """Time a solution against anchors.

    Args:
        worker: worker on which they take turns.
        expected: the tests.
        code: code of the solution.
        anchors: code and time of each anchor.
        apart: as in `Grouping`.
        enough: whether the interval of the logarithm of its time is narrow enough.
        effort: how many times the usual CPU time it may take.

    Raises:
        LapError: the solution, program 0, or an anchor failed, or answered wrongly in one of its
            passes.
        SandboxError: the sandbox failed.
    """
    plan = Grouping.of(len(expected.inputs), apart=apart)
    codes = [code, *(each for each, _ in anchors)]
    with worker.on(race_of(expected, codes, plan)) as race:
        turns = Turns(worker, race, plan)
        remembers = turns.remembers()
        seconds, *others = turns.settle()
        near = [
            number
            for number, other in enumerate(others, 1)
            if other <= TOO_SLOW * max(seconds, min(others))
        ]
        counts = [
            lap.branches
            for lap in turns.take([ProgramStep(0, g, phase="count") for g in plan.every])
        ]
        usual = max(LEAST_S, PASSES_OF_MERCURY * seconds)
        budget = min(MOST_S, effort * usual) + turns.spent_s
        ratios: list[list[float]] = []  # one list a round: a batch against each anchor
        pairs, count = 0, PAIRS
        while len(ratios) * len(near) < MOST_BATCHES:
            ratios.append([])
            for each in near:
                before, pairs = turns.spent_s, pairs + count
                ratio = turns.batch((0, each), count, fresh=remembers)
                ratios[-1].append(math.log(ratio * anchors[each - 1][1]))
                first = pairs == PAIRS
                if first and before + 2 * len(near) * (turns.spent_s - before) > budget:
                    count = FEWEST_PAIRS  # two rounds are the least
            if len(ratios) > 1 and (enough(mean_of_rounds(ratios)) or turns.spent_s > budget):
                break
    wrong = turns.wrong(expected)
    if wrong:
        raise LapError(wrong, WRONG)
    known = [each for each in counts if each is not None]
    branches = sum(known) if len(known) == len(counts) else None
    return MeasuredTime(mean_of_rounds(ratios), seconds, pairs, branches, remembers)


def mean_of_rounds(rounds: Sequence[Sequence[float]]) -> Middle:
    """Return the mean of the batches, with its 95 % interval by Student's t.

    The anchors' own times on the scale are not quite right, so that batches against different ones
    differ by more than noise. Their variance is that around the mean of their anchor, with as many
    degrees of freedom as there are batches less anchors.

    Args:
        rounds: at least two; each the logarithm of one batch against each anchor.
    """
    anchors = list(zip(*rounds, strict=True))
    count = len(rounds) * len(anchors)
    squares = [(each - fmean(own)) ** 2 for own in anchors for each in own]
    freedom = count - len(anchors)
    half = student_quantile(0.975, freedom) * math.sqrt(sum(squares) / freedom / count)
    value = fmean(each for own in anchors for each in own)
    return Middle(value, value - half, value + half)


def measure(
    worker: Worker, expected: Expected, scale: Scale, codes: dict[str, str], code: str
) -> Efficiency:
    """Return how fast a solution that passes all tests is among the references.

    An anchor that fails now, though it passed before, is left out: the others suffice.

    Args:
        worker: worker on which they take turns.
        expected: the tests.
        scale: scale of the references.
        codes: code of each anchor by its hash.
        code: code of the solution.

    Raises:
        LapError: every anchor failed.
        SandboxError: the sandbox failed.
    """
    anchors = [
        (codes[reference.code_hash], reference.time)
        for reference in (scale.references[index] for index in scale.anchors)
    ]
    if not anchors:
        return Efficiency(timing="paired", protocol=scale.protocol, lack=scale.lack)

    def enough(ratio: Middle) -> bool:
        efficiency = _placed(scale, ratio)
        if efficiency.beyond_low is None or efficiency.beyond_high is None:
            return ratio.half_width <= WANTED_OF_REFERENCES
        return efficiency.beyond_high - efficiency.beyond_low <= 2 * WANTED

    apart, measured = scale.apart, None
    while measured is None:
        try:
            measured = against(worker, expected, code, anchors, apart=apart, enough=enough)
        except LapError as error:
            if 0 in error.programs and apart:
                return Efficiency.of_failure(scale, error.why.strip().splitlines()[-1])
            if 0 in error.programs:
                apart = True
                continue
            anchors = [each for n, each in enumerate(anchors, 1) if n not in error.programs]
            if not anchors:
                raise
    return _placed(scale, measured.ratio, measured)


def _placed(scale: Scale, ratio: Middle, measured: MeasuredTime | None = None) -> Efficiency:
    """Return the place of a ratio on a scale; while it is measured, without the rest."""
    time, low, high = (math.exp(each) for each in (ratio.value, ratio.low, ratio.high))
    return Efficiency.of(
        *(scale, time, low, high, ratio.half_width),
        cpu_s=measured.seconds if measured else 0.0,
        pairs=measured.pairs if measured else 0,
        branches=measured.branches if measured else None,
        remark=REMEMBERS if measured and measured.remembers else "",
    )
