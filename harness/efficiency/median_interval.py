"""Median of noisy measurements, with its confidence interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, median

EXACT = 30  # observations; beyond this, the normal approximation of the binomial is close enough


@dataclass(frozen=True, slots=True)
class Middle:
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
