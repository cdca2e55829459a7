"""Solve rate over spend: what a way of working solves for what it costs, and two ways compared.

A way of working is a row of policies that spend more and more: an agent that is cut off later and
later, or one shot, two shots, three. Each policy has a mean spend and a solve rate over problems.
Between two policies the rate is that of a mixture of both, which is a straight line.

Uncertainty is the bootstrap's over problems (B. Efron, Annals of Statistics 7, 1979, 1-26): whole
problems are drawn, so that both ways, all samples and all policies of a problem come along. The
share that is cut off at either end is widened for few problems, see
`harness.stats.bootstrap.tail_share`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from harness.stats.bootstrap import tail_share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RESAMPLES = 2_000
SEED = 0
MOST_CAPS = 64
"""Budgets, at most, at which an attempt is cut off to draw its curve."""

UNITS, MOST_UNITS = 1_000, 2_000
"""Of more problems than the latter, so many random groups are drawn in the place of problems.

The groups are as good as problems that say more each (the method of random groups: K. M. Wolter,
Introduction to Variance Estimation, 2nd edition, 2007, chapter 2), and drawn ten times as fast.
"""

_CHUNK = 1 << 22  # weights held at a time


class Attempt:
    """One attempt: what it had spent when the solution that it would hand in changed.

    Attributes:
        problem: the place of its problem.
        changes: spend so far, and whether what is handed in from then on is solved; rising.
        spend: of the whole attempt.
    """

    __slots__ = ("changes", "problem", "spend")

    def __init__(self, problem: int, changes: Sequence[tuple[float, bool]], spend: float) -> None:
        self.problem = problem
        self.changes = changes
        self.spend = spend


@dataclass(frozen=True, eq=False)
class Policies:
    """Policies that spend more and more, for each problem.

    Attributes:
        spend: what each policy spends on each problem; problems by policies.
        solved: the chance that it solves the problem; of the same shape.
        amounts: what tells the policies apart: the budget of an attempt, or the number of shots.
        complete: whether more money would change nothing; else nobody knows what it would bring.
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
        """The mean spend of the last policy."""
        return float(self.curve[0][-1])

    def rates(self, at: Sequence[float]) -> list[float]:
        """The solve rate at each mean spend; beyond the last policy that of the last."""
        import numpy as np

        spend, solved = self.curve
        return [float(each) for each in np.interp(at, spend, solved)]

    def amounts_at(self, at: Sequence[float]) -> list[float]:
        """Which budget, or how many shots, spend so much on average."""
        import numpy as np

        return [float(each) for each in np.interp(at, self.curve[0], self.amounts)]

    def of(self, rows: Sequence[int]) -> "Policies":
        """The same for some of the problems."""
        chosen = list(rows)
        return Policies(self.spend[chosen], self.solved[chosen], self.amounts, self.complete)


def cut_off(attempts: Sequence[Attempt], problems: int) -> Policies:
    """Return the policies "cut every attempt off at a budget", from a budget of nothing to none.

    An attempt that is cut off at a budget hands in what it would have handed in then, and counts as
    having spent the budget, or its whole spend where that is less. Several attempts at a problem
    are averaged.

    Args:
        attempts: at least one of each problem.
        problems: how many there are.
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
    """Nothing, the most that an attempt spent, and the spends between at which something changes.

    Of many, so many that an equal share of them lies between any two.
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
    """Return the policies "no shot", "one shot", "two shots", …, from what each brings a problem.

    Args:
        spend: of each problem, what one shot costs, two shots, and so on.
        solved: of each problem, the chance that they solve it.
        complete: as in `Policies`.
    """
    import numpy as np

    start = np.zeros((len(spend), 1))
    table_spend = np.hstack([start, np.array(spend, dtype=float)])
    table_solved = np.hstack([start, np.array(solved, dtype=float)])
    amounts = tuple(map(float, range(table_spend.shape[1])))
    return Policies(table_spend, table_solved, amounts, complete)


def resampled(
    ways: Sequence[Policies],
    at: Sequence[float],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> "list[Floats]":
    """Return the solve rates of ways of working at some spends, in each resample of the problems.

    Args:
        ways: of the same problems, in the same order.
        at: mean spends.
        resamples: how often the problems are drawn again.
        seed: of the drawing.

    Returns:
        For each way an array of resamples by spends; a row is the same resample in all of them.
    """
    import numpy as np

    draw = np.random.default_rng(seed)
    tables = np.hstack([np.ones((len(ways[0].spend), 1)), *(_both(way) for way in ways)])
    if len(tables) > MOST_UNITS:
        order = draw.permutation(len(tables))
        starts = np.arange(UNITS) * len(tables) // UNITS
        tables = np.add.reduceat(tables[order], starts, axis=0)
    found = [np.empty((resamples, len(at))) for _ in ways]
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
        for way, rates in zip(ways, found, strict=True):
            width = way.spend.shape[1]
            spend, solved = means[:, place : place + width], means[:, place + width :][:, :width]
            rates[start : start + number] = _read(np.array(at), spend, solved)
            place += 2 * width
    return found


def _read(at: "Floats", spend: "Floats", solved: "Floats") -> "Floats":
    """`numpy.interp` of each row, in one call: the rows are laid one after the other."""
    import numpy as np

    rows = len(spend)
    shift = np.arange(rows)[:, None] * (2 * float(max(spend.max(), at.max())) + 1)
    wanted = np.minimum(at, spend[:, -1:])  # beyond the end of a row lies the next
    found = np.interp((wanted + shift).ravel(), (spend + shift).ravel(), solved.ravel())
    return found.reshape(rows, len(at))


def _both(way: Policies) -> "Floats":
    import numpy as np

    return np.hstack([way.spend, way.solved])


def band(rates: "Floats", problems: int, confidence: float = 0.95) -> list[tuple[float, float]]:
    """Return the interval of each column of resampled rates, or of differences of rates."""
    import numpy as np

    tail = tail_share(problems, confidence)
    low, high = np.quantile(rates, (tail, 1 - tail), axis=0)
    return [(_plain(a), _plain(b)) for a, b in zip(low, high, strict=True)]


@dataclass(frozen=True, slots=True)
class CrossingPoint:
    """The greatest spend at which two curves change places.

    Attributes:
        at: the mean spend.
        low, high: its 95 % interval; None where it is open: the curves may as well not cross there.
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

    In each resample it is the last spend at which the difference has the other sign than at the end
    of the curves: before all spends where it never has, after all where it has it at the end. The
    interval is cut from these at either end.

    Args:
        at: mean spends, rising.
        difference: second curve less first, at each.
        drawn: the same in each resample.
        confidence: of the interval.

    Returns:
        None where the difference is nothing at the end, or has one sign throughout.
    """
    import numpy as np

    end = np.sign(_plain(difference[-1]))
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
    """The last zero of each row, between the spends around it; infinite where there is none."""
    import numpy as np

    spends = np.array(at)
    below = rows < -1e-12  # noqa: PLR2004 - what sums leave over
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


def _plain(value: float) -> float:
    """Without the last digits, which the order of a sum decides; and no zero below zero."""
    return round(float(value), 12) + 0.0
