"""Solve rate over spend: curves of strategies, and their comparison.

A strategy is a series of policies that spend more and more: an agent that is cut off later and
later, or one shot, two shots, three. Each policy has a mean spend and a solve rate over problems.
The rate of an agent is a step function: it rises where an attempt changes its solution, and is 0
before the first attempt writes one. Between two numbers of shots the rate is that of a mixture: so
many problems get one shot more.

At a spend each problem has a share that it is solved, and the intervals are those of shares:
`harness.stats.rates.clustered` and `harness.stats.paired`, which are right where no problem or
every problem is solved. That the spend is an estimate too widens them, by the ratio of the variance
in a bootstrap over problems (B. Efron, Annals of Statistics 7, 1979, 1-26) to that of the shares.
In the bootstrap whole problems are drawn, each with both strategies, all samples and all policies.

Where many attempts change their solution at one budget, the rate jumps at the mean spend of that
budget, which is an estimate. The resamples of a rate beside a jump have two peaks, and their
variance says little. So at a spend that cannot be told from the jump's, the interval holds those of
the rates before and after it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from harness.stats.paired import CONFIDENCE, PairedScore, paired_test
from harness.stats.rates import wilson, worth

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RESAMPLES = 2_000
SEED = 0
MOST_CAPS = 64
"""Largest number of budgets at which attempts are cut off to draw a curve; between two of them the
curve of more steps is a straight line."""

UNITS, MOST_UNITS = 1_000, 2_000
"""Number of random groups drawn in place of more than `MOST_UNITS` problems.

Groups give the same variance as problems (the method of random groups: K. M. Wolter, Introduction
to Variance Estimation, 2nd edition, 2007, chapter 2), and are drawn ten times as fast.
"""

CHANCE = 3
"""Standard deviations within which a ratio of variances is called chance."""

NEAR_JUMP = 2.0
"""Standard errors within which a spend cannot be told from that of a jump."""

_NEAR = 1e-9
"""Relative rounding error of a spend: what is reached at a spend counts there."""

_AT_ONCE = 100  # resamples: their draws fit into a processor's cache
_LEAST = 1e-12


@dataclass(slots=True)
class AttemptSpend:
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
        samples: samples of a problem, on average.
        shots: whether a policy uses as many samples as its amount; otherwise it uses one.
    """

    spend: "Floats"
    solved: "Floats"
    amounts: tuple[float, ...]
    complete: bool
    samples: float = 1.0
    shots: bool = False

    @cached_property
    def curve(self) -> "tuple[Floats, Floats]":
        """Mean spend and solve rate of each policy."""
        return self.spend.mean(axis=0), self.solved.mean(axis=0)

    @property
    def steps(self) -> "Floats":
        """Mean spends at which the rate jumps: those that two policies have."""
        spend = self.curve[0]
        return spend[1:][spend[1:] == spend[:-1]]

    @property
    def most(self) -> float:
        """Mean spend of the last policy."""
        return float(self.curve[0][-1])

    def rates(self, at: Sequence[float]) -> list[float]:
        """Return the solve rate at each mean spend; beyond the last policy its solve rate."""
        import numpy as np

        spend, solved = self.curve
        return [float(each) for each in np.interp(_reached(at), spend, solved)]

    def shares(self, at: float) -> "Floats":
        """Return the chance that each problem is solved at a mean spend."""
        import numpy as np

        spend = self.curve[0]
        (wanted,) = _reached([at])
        after = min(int(np.searchsorted(spend, wanted, side="right")), len(spend) - 1)
        width = spend[after] - spend[after - 1]
        part = min(1.0, (wanted - spend[after - 1]) / width) if width > 0 else 1.0
        share = (1 - part) * self.solved[:, after - 1] + part * self.solved[:, after]
        return np.clip(share.round(12), 0.0, 1.0)

    def sides(self, at: float, own: "Floats | None" = None) -> "list[Floats]":
        """Return the shares at a mean spend, and before and after each jump that is near.

        A jump counts if it is larger than the standard error of the rate, and if it is not reached
        on every single problem, as by a strategy at its own spend.

        Args:
            at: the mean spend.
            own: spend on each problem of the policy whose mean spend this is, if it is one.
        """
        import numpy as np

        number, shares = len(self.spend), [self.shares(at)]
        spend, solved = self.curve
        for place in np.flatnonzero(spend[1:] == spend[:-1]):
            rate = min(1.0, max(0.0, float(solved[place : place + 2].mean())))
            if abs(solved[place + 1] - solved[place]) <= math.sqrt(rate * (1 - rate) / number):
                continue
            apart = self.spend[:, place] - (at if own is None else own)
            if own is not None and float(apart.max()) <= 0:
                continue  # it is reached in every resample
            doubt = float(apart.std()) / math.sqrt(number)
            if doubt > _LEAST and abs(float(apart.mean())) <= NEAR_JUMP * doubt:
                shares += [np.clip(self.solved[:, side], 0.0, 1.0) for side in (place, place + 1)]
        return shares

    def trials(self, at: float) -> int:
        """Return how many trials at a mean spend the samples of all problems are, at most."""
        (amount,) = self.amounts_at([at])
        return int(len(self.spend) * self.samples / (max(1.0, amount) if self.shots else 1.0))

    def amounts_at(self, at: Sequence[float]) -> list[float]:
        """Return the budgets, or numbers of shots, with these mean spends."""
        import numpy as np

        return [float(each) for each in np.interp(at, self.curve[0], self.amounts)]

    def of(self, rows: Sequence[int]) -> "Policies":
        """Return the same policies for some of the problems."""
        chosen = list(rows)
        return replace(self, spend=self.spend[chosen], solved=self.solved[chosen])


def cut_off(attempts: Sequence[AttemptSpend], problems: int) -> Policies:
    """Return the policies "cut off at a budget", from a budget of 0 to no limit.

    An attempt that is cut off at a budget submits its solution of that moment, and counts as having
    spent the budget, or its whole spend where that is less. Several attempts at a problem are
    averaged. A budget at which a solution changes is there twice: just before and after the change.

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
    place = np.searchsorted(caps, at)
    sudden = caps[place] == at
    change = np.zeros((problems, 2 * len(caps)))  # before and after each budget
    np.add.at(change, (np.array(rows, dtype=int), 2 * place + sudden), steps)
    kept = np.arange(2 * len(caps)) % 2 > 0
    kept[2 * place[sudden]] = True
    solved = change.cumsum(axis=1)[:, kept]
    both = np.repeat(np.arange(len(caps)), 2)[kept]
    amounts = tuple(map(float, caps[both]))
    return Policies(spend[:, both], solved, amounts, True, samples=len(attempts) / problems)


def _caps(attempts: Sequence[AttemptSpend]) -> list[float]:
    """Return the budgets: 0, all spends at a changed solution, and final spends.

    If there are more than `MOST_CAPS`, return that many of them, evenly spaced by rank, and the
    first change.
    """
    import numpy as np

    ends = {attempt.spend for attempt in attempts}
    changes = {spent for attempt in attempts for spent, _ in attempt.changes}
    between = sorted(ends | changes | {0.0})
    if len(between) <= MOST_CAPS:
        return between
    places: list[int] = np.linspace(0, len(between) - 1, MOST_CAPS).round().astype(int).tolist()
    return sorted({*(between[place] for place in places), min(changes, default=0.0)})


def _reached(at: Sequence[float]) -> list[float]:
    """Return spends, and a little more, so that what is reached at a spend counts."""
    return [each * (1 + _NEAR) for each in at]


def policies(
    spend: Sequence[Sequence[float]],
    solved: Sequence[Sequence[float]],
    *,
    amounts: Sequence[float] | None = None,
    complete: bool = False,
    samples: float = 1.0,
) -> Policies:
    """Return the policies "no shot", "one shot", "two shots", ….

    Args:
        spend: cost of one shot, two shots, and so on, for each problem.
        solved: chance that these shots solve the problem, for each problem.
        amounts: mean number of shots of each policy. Default: one, two, and so on.
        complete: as in `Policies`.
        samples: as in `Policies`.
    """
    import numpy as np

    start = np.zeros((len(spend), 1))
    table_spend = np.hstack([start, np.array(spend, dtype=float)])
    table_solved = np.hstack([start, np.array(solved, dtype=float)])
    numbers = range(1, table_spend.shape[1]) if amounts is None else amounts
    return Policies(
        table_spend, table_solved, (0.0, *map(float, numbers)), complete, samples, shots=True
    )


def resampled(
    arms: Sequence[Policies],
    at: Sequence[float],
    *,
    own: Mapping[int, tuple[int, int]] | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> "list[Floats]":
    """Return the solve rates of strategies at some spends, in each resample.

    Args:
        arms: policies of each strategy, for the same problems in the same order.
        at: mean spends.
        own: spends that are the mean spend of a policy, by position in `at`: the strategy's
            position and the policy's. In a resample it is the mean spend of its problems.
        resamples: number of times the problems are drawn again.
        seed: seed of the random generator.

    Returns:
        For each strategy an array of resamples by spends; a row is the same resample in all of
        them.
    """
    import numpy as np

    draw = np.random.default_rng(seed)
    both = (table for arm in arms for table in (arm.spend, arm.solved))
    tables = np.hstack([np.ones((len(arms[0].spend), 1)), *both])
    if len(tables) > MOST_UNITS:
        order = draw.permutation(len(tables))
        starts = np.arange(UNITS) * len(tables) // UNITS
        tables = np.add.reduceat(tables[order], starts, axis=0)
    units = len(tables)
    weights = np.empty((resamples, units))
    for start in range(0, resamples, _AT_ONCE):
        rows = weights[start : start + _AT_ONCE]
        picked = draw.integers(units, size=rows.shape)
        picked += np.arange(len(rows))[:, None] * units
        rows[:] = np.bincount(picked.ravel(), minlength=rows.size).reshape(rows.shape)
    sums = weights @ tables
    means = sums[:, 1:] / sums[:, :1]
    curves: list[tuple[Floats, Floats]] = []
    for arm in arms:
        width = arm.spend.shape[1]
        curves.append((means[:, :width], means[:, width : 2 * width]))
        means = means[:, 2 * width :]
    spends = np.tile(at, (resamples, 1))
    for place, (strategy, policy) in (own or {}).items():
        spends[:, place] = curves[strategy][0][:, policy]
    return [_read(spends * (1 + _NEAR), spend, solved) for spend, solved in curves]


def _read(at: "Floats", spend: "Floats", solved: "Floats") -> "Floats":
    """Do `numpy.interp` on each row, in one call: the rows are placed one after the other."""
    import numpy as np

    rows = len(spend)
    shift = np.arange(rows)[:, None] * (2 * float(max(spend.max(), at.max())) + 1)
    wanted = np.minimum(at, spend[:, -1:])  # beyond the end of a row the next row begins
    shares = np.interp((wanted + shift).ravel(), (spend + shift).ravel(), solved.ravel())
    return shares.reshape(at.shape)


def rate_interval(
    arm: Policies, at: float, drawn: "Floats", own: "Floats | None" = None
) -> tuple[float, float]:
    """Return the interval of a solve rate at a mean spend.

    Args:
        arm: policies of the strategy, for two problems or more.
        at: the mean spend.
        drawn: the solve rate there in each resample.
        own: as in `Policies.sides`.
    """
    sides = arm.sides(at, own)
    ends = [_rate_ends(arm, at, shares, drawn if len(sides) == 1 else None) for shares in sides]
    return min(low for low, _ in ends), max(high for _, high in ends)


def _rate_ends(
    arm: Policies, at: float, shares: "Floats", drawn: "Floats | None"
) -> tuple[float, float]:
    number, rate = len(shares), float(shares.mean())
    squares = float(((shares - rate) ** 2).sum())
    worth_all = float(number)
    if 0 < rate < 1 and arm.trials(at) > number:
        independent = rate * (1 - rate)
        worth_all = worth(number, arm.trials(at), independent, max(squares, _LEAST), CONFIDENCE)
    spread = 1.0 if drawn is None else _spread(squares, number, drawn)
    return wilson(min(1.0, rate), worth_all / spread)


def difference_interval(
    first: Policies,
    second: Policies,
    at: float,
    drawn: "Floats | None" = None,
    own: "Floats | None" = None,
) -> PairedScore:
    """Return the test of the difference of two strategies at a mean spend, and its interval.

    Args:
        first: policies of the first strategy.
        second: policies of the second one, for the same problems.
        at: the mean spend.
        drawn: the second solve rate minus the first in each resample; None where the problems are
            too few to resample.
        own: as in `Policies.sides`.
    """
    both = [(one, other) for one in first.sides(at, own) for other in second.sides(at, own)]
    samples = min(first.trials(at), second.trials(at))
    intervals = [
        _difference(one, other, samples, drawn if len(both) == 1 else None) for one, other in both
    ]
    low, high = min(each.low for each in intervals), max(each.high for each in intervals)
    return intervals[0]._replace(
        low=low, high=high, p_value=max(each.p_value for each in intervals)
    )


def _difference(
    one: "Floats", other: "Floats", samples: int, drawn: "Floats | None"
) -> PairedScore:
    gains = other - one
    squares = float(((gains - gains.mean()) ** 2).sum())
    spread = 1.0 if drawn is None else _spread(squares, len(gains), drawn)
    pairs = list(zip(one.tolist(), other.tolist(), strict=True))
    return paired_test(pairs, samples, spread).at()


def _spread(squares: float, number: int, drawn: "Floats") -> float:
    """Return the variance of a mean in resamples as a multiple of that of its values.

    It is 1 where it is not more than the resamples' own chance can make it. Values that vary less
    than if one problem differed wholly from the rest count as if one did. Else the multiple of a
    tiny variance would be huge, and the interval would hold every rate.
    """
    if squares / number / number < _LEAST:
        return 1.0
    expected = max(squares, 1 - 1 / number) / number / number
    ratio = float(drawn.var()) / expected
    return ratio if ratio > 1 + CHANCE * math.sqrt(2 / len(drawn)) else 1.0
