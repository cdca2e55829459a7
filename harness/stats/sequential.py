"""Paired difference that may be tested after every problem: e-value and interval.

An ordinary p-value is right for one test at a number of problems that was fixed before. Testing
after every problem, and stopping when it falls below 0.05, errs far more often. An e-value stays
right: it is the wealth of a gambler who bets against the hypothesis, at odds that are fair if the
hypothesis is true. The chance that such wealth ever reaches 1 / level is at most `level` (J. Ville,
Étude critique de la notion de collectif, 1939), at any number of tests and for any stopping rule.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from harness.stats.rates import boundary

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Array = NDArray[float64]

LEVEL = 0.05
STAKES = 100
"""Number of stakes on either side among which the wealth is divided."""

SHAPE = 3.0
"""Shape of the Beta distribution of the stakes; a larger one favors small differences."""

_HALVINGS = 50
_ALMOST = 1 - 1e-9


class Evidence(NamedTuple):
    """Evidence of a number of pairs about the mean difference.

    Attributes:
        pairs: number of pairs.
        difference: mean of the pairs, between -1 and 1; 0 without a pair.
        low, high: interval of the mean, which holds at all looks together with the confidence 1 -
            level.
        e_value: e-value against a mean of 0; it is 1 / level or more exactly when 0 is outside of
            the interval.
    """

    pairs: int
    difference: float
    low: float
    high: float
    e_value: float


def evidence(differences: Sequence[float], level: float = LEVEL) -> Evidence:
    """Return the e-value and interval of paired differences, valid at every look.

    The interval is the set of means m whose e-value is below 1 / level. The e-value is log-convex
    in m and at most 1 at the sample mean, so the set is an interval around it.

    Args:
        differences: one difference per pair, each between -1 and 1. Given the pairs before, each
            must have the same mean; problems in a random order have that.
        level: probability of being wrong at any look, between 0 and 1.

    Raises:
        ValueError: a difference is out of range.
    """
    if any(not -1 <= difference <= 1 for difference in differences):
        raise ValueError("a difference of two shares is between -1 and 1")
    tallies = Counter(differences)
    pairs = len(differences)
    if not pairs:
        return Evidence(0, 0.0, -1.0, 1.0, 1.0)
    mean = math.fsum(differences) / pairs
    bound = -math.log(level)
    return Evidence(
        pairs=pairs,
        difference=mean,
        low=_end(tallies, mean, -1.0, bound),
        high=_end(tallies, mean, 1.0, bound),
        e_value=math.exp(min(log_e_value(tallies), 700.0)),
    )


def log_e_value(tallies: Mapping[float, int], mean: float = 0.0) -> float:
    """Return the logarithm of the e-value against a mean difference.

    The wealth is divided among stakes c between -1 and 1. At a difference d each part is multiplied
    by 1 + c · (d - m) / r, with r = 1 + m for c > 0 and 1 - m for c < 0, so it never becomes
    negative.

        E(m) = Σ_c w_c · Π_i (1 + c · (d_i - m) / r_c)

    The weights w follow a Beta distribution of (1 + c) / 2 (I. Waudby-Smith & A. Ramdas, Estimating
    means of bounded random variables by betting, Journal of the Royal Statistical Society B 86,
    2024, 1-27). With one sample a problem and m = 0 this is the beta-binomial mixture of the
    discordant pairs (H. Robbins, Annals of Mathematical Statistics 41, 1970, 1397-1409): concordant
    pairs multiply by 1.

    Args:
        tallies: number of occurrences of each difference.
        mean: hypothetical mean m, between -1 and 1.
    """
    import numpy as np

    values = np.array(list(tallies), dtype=float)
    counts = np.array(list(tallies.values()), dtype=float)
    stakes, weights = _stakes()
    reach = np.where(stakes > 0, 1 + mean, 1 - mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(reach > 0, stakes / reach, 0.0)
        grown = np.log1p(np.maximum(share[:, None] * (values - mean)[None, :], -1.0))
        wealth = np.nansum(np.where(counts > 0, grown * counts, 0.0), axis=1) + np.log(weights)
    most = float(wealth.max())
    return most + math.log(float(np.exp(wealth - most).sum()))


@cache
def _stakes() -> "tuple[Array, Array]":
    """Return the stakes, without 0 and the ends, and the share of the wealth on each."""
    import numpy as np

    upper = (np.arange(STAKES) + 0.5) / STAKES
    stakes = np.concatenate([-upper[::-1], upper])
    weights = (1 - stakes * stakes) ** (SHAPE - 1)
    return stakes, weights / weights.sum()


def _end(tallies: Mapping[float, int], mean: float, limit: float, bound: float) -> float:
    """Return the mean nearest to `limit` that the e-value does not exclude."""
    if math.isclose(limit, mean) or log_e_value(tallies, limit * _ALMOST) < bound:
        return limit
    return boundary(lambda middle: log_e_value(tallies, middle) < bound, mean, limit, _HALVINGS)[0]
