"""Solve rate over spend: curves of strategies, and their comparison.

A strategy is a series of policies that spend more and more: an agent that is cut off later and
later, or one shot, two shots, three. Each policy has a mean spend and a solve rate over problems.
Between two policies the rate is that of a mixture of both, which is a straight line.

Uncertainty comes from a bootstrap over problems (B. Efron, Annals of Statistics 7, 1979, 1-26):
whole problems are drawn, each with both strategies, all samples and all policies. The share that is
cut off at either end is corrected for few problems, see `harness.stats.rates.tail_share`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from harness.stats.rates import exact, tail_share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RESAMPLES = 2_000
SEED = 0
MOST_CAPS = 64
"""Largest number of budgets at which attempts are cut off to draw a curve."""

UNITS, MOST_UNITS = 1_000, 2_000
"""Number of random groups drawn in place of more than `MOST_UNITS` problems.

Groups give the same variance as problems (the method of random groups: K. M. Wolter, Introduction
to Variance Estimation, 2nd edition, 2007, chapter 2), and are drawn ten times as fast.
"""

_CHUNK = 1 << 22  # weights held in memory at a time


@dataclass(slots=True)
class Attempt:
    """One attempt: its spend each time the solution it would submit changed.

    Attributes:
        problem: index of its problem.
        changes: spend so far, and whether the solution submitted from then on is solved; rising.
        spend: spend of the whole attempt.
    """

    problem: int
    changes: Sequence[tuple[float, bool]]
    spend: float


@dataclass(frozen=True, eq=False)
class Policies:
    """Series of policies that spend more and more, for each problem.

    Attributes:
        spend: spend of each policy on each problem; problems by policies.
        solved: chance that the policy solves the problem; same shape.
        amounts: amount that distinguishes the policies: the budget of an attempt, or the number of
            shots.
        complete: whether more money would change nothing; otherwise its effect is unknown.
    """

    spend: "Floats"
    solved: "Floats"
    amounts: tuple[float, ...]
    complete: bool

    @cached_property
    def curve(self) -> "tuple[Floats, Floats]":
        """Mean spend and solve rate of each policy."""
        return self.spend.mean(axis=0), self.solved.mean(axis=0)

    @property
    def most(self) -> float:
        """Mean spend of the last policy."""
        return float(self.curve[0][-1])

    def rates(self, at: Sequence[float]) -> list[float]:
        """Return the solve rate at each mean spend; beyond the last policy its solve rate."""
        import numpy as np

        spend, solved = self.curve
        return [float(each) for each in np.interp(at, spend, solved)]

    def amounts_at(self, at: Sequence[float]) -> list[float]:
        """Return the budgets, or numbers of shots, with these mean spends."""
        import numpy as np

        return [float(each) for each in np.interp(at, self.curve[0], self.amounts)]

    def of(self, rows: Sequence[int]) -> "Policies":
        """Return the same policies for some of the problems."""
        chosen = list(rows)
        return Policies(self.spend[chosen], self.solved[chosen], self.amounts, self.complete)


def cut_off(attempts: Sequence[Attempt], problems: int) -> Policies:
    """Return the policies "cut off at a budget", from a budget of 0 to no limit.

    An attempt that is cut off at a budget submits its solution of that moment, and counts as having
    spent the budget, or its whole spend where that is less. Several attempts at a problem are
    averaged.

    Args:
        attempts: at least one of each problem.
        problems: number of problems.
    """
    import numpy as np

    caps = np.array(_caps(attempts))
    places = np.array([attempt.problem for attempt in attempts])
    share = 1 / np.bincount(places, minlength=problems)
    spend = np.zeros((problems, len(caps)))
    spends = np.array([attempt.spend for attempt in attempts])
    np.add.at(spend, places, np.minimum.outer(spends, caps) * share[places, None])
    rows: list[int] = []
    at: list[float] = []
    steps: list[float] = []
    for attempt in attempts:
        before = False
        for spent, solved in attempt.changes:
            if solved != before:
                rows.append(attempt.problem)
                at.append(spent)
                steps.append((solved - before) * share[attempt.problem])
                before = solved
    change = np.zeros((problems, len(caps)))
    np.add.at(change, (np.array(rows, dtype=int), np.searchsorted(caps, at)), steps)
    return Policies(spend, change.cumsum(axis=1), tuple(map(float, caps)), complete=True)


def _caps(attempts: Sequence[Attempt]) -> list[float]:
    """Return the budgets: 0, all spends at a changed solution, and final spends.

    If there are more than `MOST_CAPS`, return that many of them, evenly spaced by rank.
    """
    import numpy as np

    ends = {attempt.spend for attempt in attempts}
    changes = {spent for attempt in attempts for spent, _ in attempt.changes}
    between = sorted(ends | changes | {0.0})
    if len(between) <= MOST_CAPS:
        return between
    shares = np.linspace(0, len(between) - 1, MOST_CAPS).round().astype(int)
    return [between[place] for place in shares]


def policies(
    spend: Sequence[Sequence[float]], solved: Sequence[Sequence[float]], *, complete: bool = False
) -> Policies:
    """Return the policies "no shot", "one shot", "two shots", ….

    Args:
        spend: cost of one shot, two shots, and so on, for each problem.
        solved: chance that these shots solve the problem, for each problem.
        complete: as in `Policies`.
    """
    import numpy as np

    start = np.zeros((len(spend), 1))
    table_spend = np.hstack([start, np.array(spend, dtype=float)])
    table_solved = np.hstack([start, np.array(solved, dtype=float)])
    amounts = tuple(map(float, range(table_spend.shape[1])))
    return Policies(table_spend, table_solved, amounts, complete)


def resampled(
    arms: Sequence[Policies],
    at: Sequence[float],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> "list[Floats]":
    """Return the solve rates of strategies at some spends, in each resample.

    Args:
        arms: policies of each strategy, for the same problems in the same order.
        at: mean spends.
        resamples: number of times the problems are drawn again.
        seed: seed of the random generator.

    Returns:
        For each strategy an array of resamples by spends; a row is the same resample in all of
        them.
    """
    import numpy as np

    draw = np.random.default_rng(seed)
    tables = np.hstack([np.ones((len(arms[0].spend), 1)), *(_both(arm) for arm in arms)])
    if len(tables) > MOST_UNITS:
        order = draw.permutation(len(tables))
        starts = np.arange(UNITS) * len(tables) // UNITS
        tables = np.add.reduceat(tables[order], starts, axis=0)
    found = [np.empty((resamples, len(at))) for _ in arms]
    units = len(tables)
    rows = max(1, _CHUNK // units)
    for start in range(0, resamples, rows):
        number = min(rows, resamples - start)
        picked = draw.integers(units, size=(number, units))
        picked += np.arange(number)[:, None] * units
        weights = np.bincount(picked.ravel(), minlength=number * units)
        sums = weights.reshape(number, units).astype(float) @ tables
        means = sums[:, 1:] / sums[:, :1]
        place = 0
        for arm, rates in zip(arms, found, strict=True):
            width = arm.spend.shape[1]
            spend, solved = means[:, place : place + width], means[:, place + width :][:, :width]
            rates[start : start + number] = _read(np.array(at), spend, solved)
            place += 2 * width
    return found


def _read(at: "Floats", spend: "Floats", solved: "Floats") -> "Floats":
    """Do `numpy.interp` on each row, in one call: the rows are placed one after the other."""
    import numpy as np

    rows = len(spend)
    shift = np.arange(rows)[:, None] * (2 * float(max(spend.max(), at.max())) + 1)
    wanted = np.minimum(at, spend[:, -1:])  # beyond the end of a row the next row begins
    found = np.interp((wanted + shift).ravel(), (spend + shift).ravel(), solved.ravel())
    return found.reshape(rows, len(at))


def _both(arm: Policies) -> "Floats":
    import numpy as np

    return np.hstack([arm.spend, arm.solved])


def band(rates: "Floats", problems: int, confidence: float = 0.95) -> list[tuple[float, float]]:
    """Return the interval of each column of resampled rates, or differences of rates."""
    import numpy as np

    tail = tail_share(problems, confidence)
    low, high = np.quantile(rates, (tail, 1 - tail), axis=0)
    return [(exact(a), exact(b)) for a, b in zip(low, high, strict=True)]


@dataclass(frozen=True, slots=True)
class CrossingPoint:
    """Largest spend at which two curves cross.

    Attributes:
        at: mean spend at the crossing.
        low, high: ends of its 95 % interval; None where it is open, because the curves may not
            cross on that side at all.
        above: 1 where the second curve is higher above the crossing, -1 where the first is.
    """

    at: float
    low: float | None
    high: float | None
    above: int


def crossing(
    at: Sequence[float], difference: Sequence[float], drawn: "Floats", confidence: float = 0.95
) -> CrossingPoint | None:
    """Return where the difference of two curves changes its sign for the last time.

    In each resample it is the last spend at which the difference has the opposite sign of the
    original curves' end: before all spends if it never has, after all if it has it at the end. The
    interval is cut from these at either end.

    Args:
        at: mean spends, rising.
        difference: second curve minus first, at each spend.
        drawn: the same difference in each resample.
        confidence: coverage of the interval.

    Returns:
        None where the difference is 0 at the end, or has one sign throughout.
    """
    import numpy as np

    end = np.sign(exact(difference[-1]))
    if not end:
        return None
    place = _last_below(at, np.array([difference]) * end)[0]
    if not math.isfinite(place):
        return None
    places = _last_below(at, drawn * end)
    tail = (1 - confidence) / 2
    low, high = np.quantile(places, (tail, 1 - tail), method="nearest")
    return CrossingPoint(
        float(place),
        float(low) if math.isfinite(low) else None,
        float(high) if math.isfinite(high) else None,
        int(end),
    )


def _last_below(at: Sequence[float], rows: "Floats") -> "Floats":
    """Return the last zero of each row, interpolated between spends; infinite if there is none."""
    import numpy as np

    spends = np.array(at)
    below = rows < -1e-12  # noqa: PLR2004 - rounding error of sums
    last = rows.shape[1] - 1 - below[:, ::-1].argmax(axis=1)
    found = np.full(len(rows), -np.inf)
    some = below.any(axis=1)
    at_end = some & (last == rows.shape[1] - 1)
    found[at_end] = np.inf
    inside = np.flatnonzero(some & ~at_end)
    here = last[inside]
    left, right = rows[inside, here], rows[inside, here + 1]
    share = left / (left - np.maximum(right, 0))
    found[inside] = spends[here] + share * (spends[here + 1] - spends[here])
    return found
