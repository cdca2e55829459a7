"""Evaluate curves of solve rate over spend, with bootstrap intervals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from harness.features.compare.arms import CurveKind
from harness.features.compare.spend_types import SpendPoint
from harness.stats.paired import score_interval
from harness.stats.rates import wilson
from harness.stats.spend_curves import CrossingPoint, Policies, band, crossing, resampled

if TYPE_CHECKING:
    from harness.stats.spend_curves import Floats

GRID = 40
"""Number of evenly spaced spends of a curve; further ones are added."""

SHOWN_SHOTS = 12

Key = tuple[int, CurveKind]
"""Key of a curve: the run (0 for A, 1 for B) and the kind of curve."""


def draw(
    curves: Mapping[Key, Policies], at: Sequence[float], limit: float | None = None
) -> "Drawn":
    """Evaluate curves at some spends.

    Args:
        curves: curves over the same problems.
        at: spends to compare at.
        limit: spend up to which both runs are known, to evaluate the whole curves as well; None to
            evaluate them only at `at`.
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
        }
    return Drawn(curves, tuple(sorted(spends)), limit)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Curves evaluated at some spends.

    Attributes:
        curves: curves over the same problems.
        spends: the spends, ascending.
        limit: as in `draw`.
    """

    curves: Mapping[Key, Policies]
    spends: tuple[float, ...]
    limit: float | None

    @property
    def problems(self) -> int:
        """Number of problems."""
        return len(next(iter(self.curves.values())).spend)

    @cached_property
    def _rates(self) -> Mapping[Key, list[float]]:
        return {key: own.rates(self.spends) for key, own in self.curves.items()}

    @cached_property
    def _drawn(self) -> "Mapping[Key, Floats]":
        found = resampled([*self.curves.values()], self.spends)
        return dict(zip(self.curves, found, strict=True))

    @cached_property
    def _bands(self) -> Mapping[Key, list[tuple[float, float]]]:
        return {key: band(rates, self.problems) for key, rates in self._drawn.items()}

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
        low, high = self._bands[key][place] if self.problems > 1 else (None, None)
        if low is not None and low == high:  # all problems alike: resampling shows no variation
            low, high = wilson(min(1.0, solved), self.problems)
        (amount,) = self.curves[key].amounts_at([spend])
        return SpendPoint(spend=spend, solved=solved, low=low, high=high, amount=amount)

    def difference(
        self, first: Key, second: Key, spend: float
    ) -> tuple[float, float | None, float | None]:
        """Return the second curve minus the first at one of the spends, and the interval."""
        place = self.spends.index(spend)
        one, other = (min(1.0, self._rates[key][place]) for key in (first, second))
        difference = other - one
        if self.problems < 2:  # noqa: PLR2004 - one problem gives no interval
            return difference, None, None
        drawn = self._drawn[second][:, [place]] - self._drawn[first][:, [place]]
        ((low, high),) = band(drawn, self.problems)
        if low == high:
            _, low, high, _ = score_interval([(one, other)] * self.problems)
        return difference, low, high

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
        )
