"""The result of a comparison at equal spend: its types, and curves with bootstrap intervals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from harness.features.compare.arms import CurveKind, Unit
from harness.frozen import Frozen
from harness.stats.crossing import CrossingPoint, crossing
from harness.stats.spend_curves import Policies, difference_interval, rate_interval, resampled

if TYPE_CHECKING:
    from harness.stats.spend_curves import Floats

GRID = 40
"""Number of evenly spaced spends of a curve; further ones are added."""
SHOWN_SHOTS = 12
BEFORE = 1 - 1e-8
"""A spend just before a step of a curve, as a share of the step's."""


class SpendPoint(Frozen):
    """A solve rate at a mean spend per problem, with its 95 % interval.

    Attributes:
        spend: mean US dollars, tokens or model calls per problem.
        solved: solve rate.
        low, high: ends of the interval; None for a single problem.
        amount: shots per problem, or the budget at which attempts are cut off, with this spend.
    """

    spend: float
    solved: float
    low: float | None
    high: float | None
    amount: float


class SpendCurve(Frozen):
    """Solve rate over mean spend.

    Attributes:
        label: label of the run, `A` or `B`.
        way: kind of the curve, see `harness.features.compare.arms.CurveKind`.
        compared: whether differences and the crossing are computed from this curve.
        complete: whether the rate stays constant beyond the last point.
    """

    label: str
    way: CurveKind
    compared: bool
    complete: bool
    points: tuple[SpendPoint, ...]


class SpendDifference(Frozen):
    """Two arms at the same mean spend.

    Attributes:
        at: mean spend per problem.
        mean_of: label of the run whose mean spend per sample this is; None if the user chose the
            spend, or if it is the limit of what is known of both runs.
        a, b: the arms' points at this spend.
        difference: solve rate of B minus that of A.
        low, high: 95 % interval of the difference, by
            `harness.stats.spend_curves.difference_interval`; None for a single problem.
        at_any_look: whether it is the interval of an experiment that may stop early instead.
    """

    at: float
    mean_of: str | None
    a: SpendPoint
    b: SpendPoint
    difference: float
    low: float | None
    high: float | None
    at_any_look: SkipJsonSchema[bool] = Field(default=False, exclude=True)

    @property
    def decided(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


class Crossing(Frozen):
    """The spend above which one arm is better, and below which the other is.

    Attributes:
        at: mean spend per problem.
        low, high: 95 % interval; None if it is open on that side, so that the crossing may be due
            to chance.
        better_above, better_below: labels of the better arm above and below.
    """

    at: float
    low: float | None
    high: float | None
    better_above: str
    better_below: str


class SpendGroup(Frozen):
    """The arms on the problems of one difficulty.

    Attributes:
        differences: empty if there are too few problems.
    """

    name: str
    problems: int
    differences: tuple[SpendDifference, ...]


class ArmFacts(Frozen):
    """Facts about one of the runs.

    Attributes:
        label: `A` or `B`.
        name: name of the run in the sentence.
        way: kind of the compared curve.
        mean: mean spend of a sample.
        most: mean spend up to which the curve is known.
        samples, most_samples: fewest and most graded samples of a problem.
        problems: number of problems.
    """

    label: str
    name: str
    way: CurveKind
    mean: float
    most: float
    samples: int
    most_samples: int
    problems: int


class SpendComparison(Frozen):
    """Two runs at equal spend, over the problems that both have graded.

    Attributes:
        unit: unit of spend: `dollars`, or `tokens` if a cost is unknown, or else model `calls`.
        problems: number of problems.
        lacking: number of problems left out, since an early end left them with too few shots.
        a, b: facts about the runs.
        curves: curves of both runs, the compared ones first.
        differences: differences at the chosen spends, or else at each run's mean spend per sample.
        until_pass: the same if shots stop at the first that passes the public tests; empty if no
            arm is an arm of shots.
        crossing: crossing of the compared curves; None if they do not cross.
        by_difficulty: the arms per difficulty, the easiest first.
        unreached: chosen spends beyond the known range of an arm.
        notes: limits of the comparison, in sentences.
        sentence: the summary in plain sentences.
    """

    unit: Unit
    problems: int
    lacking: int = 0
    a: ArmFacts
    b: ArmFacts
    curves: tuple[SpendCurve, ...]
    differences: tuple[SpendDifference, ...]
    until_pass: tuple[SpendDifference, ...] = ()
    crossing: Crossing | None
    by_difficulty: tuple[SpendGroup, ...] = ()
    unreached: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()
    sentence: str


Key = tuple[int, CurveKind]
"""Key of a curve: the run (0 for A, 1 for B) and the kind of curve."""


def draw(
    curves: Mapping[Key, Policies],
    at: Sequence[float],
    limit: float | None = None,
    own: Mapping[float, Key] | None = None,
) -> "Drawn":
    """Evaluate curves at some spends.

    Args:
        curves: curves over the same problems.
        at: spends to compare at.
        limit: spend up to which both runs are known, to evaluate the whole curves as well; None to
            evaluate them only at `at`.
        own: curves whose mean spend of a sample is one of the spends, by that spend.
    """
    spends = set(at)
    if limit is not None:
        top = max(own.most for own in curves.values())
        spends |= {top * (place + 1) / GRID for place in range(GRID)} | {limit}
        spends |= {
            float(spend)
            for (_, kind), own in curves.items()
            if kind != "cut_off"
            for spend in own.curve[0][1 : SHOWN_SHOTS + 1]
        } | {
            float(spend) * side
            for (_, kind), own in curves.items()
            if kind == "cut_off"
            for spend in own.steps
            for side in (BEFORE, 1)
        }
    return Drawn(curves, tuple(sorted(spends)), limit, own or {})


@dataclass(frozen=True, eq=False)
class Drawn:
    """Curves evaluated at some spends.

    Attributes:
        curves: curves over the same problems.
        spends: the spends, ascending.
        limit, own: as in `draw`.
    """

    curves: Mapping[Key, Policies]
    spends: tuple[float, ...]
    limit: float | None
    own: Mapping[float, Key]

    @property
    def problems(self) -> int:
        """Number of problems."""
        return len(next(iter(self.curves.values())).spend)

    @cached_property
    def _rates(self) -> Mapping[Key, list[float]]:
        return {key: own.rates(self.spends) for key, own in self.curves.items()}

    @cached_property
    def _drawn(self) -> "Mapping[Key, Floats]":
        keys = list(self.curves)
        own = {
            self.spends.index(spend): (keys.index(key), 1 if self.curves[key].shots else -1)
            for spend, key in self.own.items()
        }
        draws = resampled([*self.curves.values()], self.spends, own=own)
        return dict(zip(self.curves, draws, strict=True))

    def points(self, key: Key) -> Iterator[SpendPoint]:
        """Yield the points of a curve as far as it is known."""
        own = self.curves[key]
        yield SpendPoint(spend=0.0, solved=0.0, low=0.0, high=0.0, amount=0.0)
        for spend in self.spends:
            if own.complete or spend <= own.most * (1 + 1e-9):
                yield self.point(key, spend)

    def point(self, key: Key, spend: float) -> SpendPoint:
        """Return a curve's point at one of the spends."""
        place = self.spends.index(spend)
        solved = self._rates[key][place]
        low, high = None, None
        if self.problems > 1:
            own = self._own_spend(spend)
            low, high = rate_interval(self.curves[key], spend, self._drawn[key][:, place], own)
        (amount,) = self.curves[key].amounts_at([spend])
        return SpendPoint(spend=spend, solved=solved, low=low, high=high, amount=amount)

    def difference(
        self, first: Key, second: Key, spend: float
    ) -> tuple[float, float | None, float | None]:
        """Return the second curve minus the first at one of the spends, and the interval."""
        place = self.spends.index(spend)
        rates = [min(1.0, self._rates[key][place]) for key in (first, second)]
        difference = rates[1] - rates[0]
        if self.problems < 2:  # noqa: PLR2004 - one problem gives no interval
            return difference, None, None
        drawn = self._drawn[second][:, place] - self._drawn[first][:, place]
        one, other, own = self.curves[first], self.curves[second], self._own_spend(spend)
        interval = difference_interval(one, other, spend, drawn, own)
        return difference, interval.low, interval.high

    def _own_spend(self, spend: float) -> "Floats | None":
        """Return the spend by problem of the policy whose mean spend this is; None if of none."""
        if spend not in self.own:
            return None
        arm = self.curves[self.own[spend]]
        return arm.spend[:, 1 if arm.shots else -1]

    def crossing(self, first: Key, second: Key) -> CrossingPoint | None:
        """Return the last crossing of two curves where both are known, or None."""
        if self.limit is None or self.problems < 2:  # noqa: PLR2004 - as above
            return None
        number = sum(spend <= self.limit for spend in self.spends)
        one, other = self._rates[first], self._rates[second]
        return crossing(
            self.spends[:number],
            [other[place] - one[place] for place in range(number)],
            (self._drawn[second] - self._drawn[first])[:, :number],
            self.problems,
        )
