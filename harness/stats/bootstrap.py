"""Bootstrap confidence intervals of a mean over problems."""

import math
from collections import Counter
from collections.abc import Sequence
from statistics import NormalDist

from harness.stats.rates import student_quantile

RESAMPLES = 10_000
SEED = 0


def mean_interval(
    values: Sequence[float],
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[float, float]:
    """Return the expanded percentile bootstrap interval of a mean.

    Values are drawn again with replacement, as many as there are. The interval ends are quantiles
    of the means of these resamples (B. Efron, Annals of Statistics 7, 1979, 1-26). The quantiles (1
    - confidence) / 2 at either end would make it too narrow for few values; `tail_share` gives
    wider ones. A value is the mean over one problem's samples: problems are drawn, each together
    with its samples (A. C. Davison & D. V. Hinkley, Bootstrap Methods and their Application, 1997,
    section 3.8). For a difference of two runs the values are the differences by problem, so that
    the pairs are kept.

    The number of times each distinct value is drawn is multinomial. Drawing these numbers is
    equivalent to drawing the values, and faster. The result depends only on the values and the
    seed, not on the order of the problems. The interval of the negated values is the negated one.

    Args:
        values: one value per problem; at least one.
        confidence: coverage of the interval.
        resamples: number of means to draw.
        seed: seed of the random generator.
    """
    import numpy as np

    tallies = sorted(Counter(map(_exact, values)).items())
    mirrored = [(_exact(-value), number) for value, number in reversed(tallies)]
    if mirrored > tallies:  # of the two, the same one is drawn from
        low, high = mean_interval(
            [-value for value in values], confidence=confidence, resamples=resamples, seed=seed
        )
        return _exact(-high), _exact(-low)
    levels = np.array([value for value, _ in tallies])
    if len(levels) == 1:
        return tallies[0][0], tallies[0][0]
    shares = np.array([number for _, number in tallies]) / len(values)
    drawn = np.random.default_rng(seed).multinomial(len(values), shares, size=resamples)
    means = drawn @ levels / len(values)
    tail = tail_share(len(values), confidence)
    low, high = np.quantile(means, (tail, 1 - tail))
    if mirrored == tallies:  # a mean can be drawn exactly as likely as its negative
        high = (high - low) / 2
        low = -high
    return _exact(low), _exact(high)


def tail_share(count: int, confidence: float = 0.95) -> float:
    """Return the share of a bootstrap distribution to cut off at either end.

    It is Φ(-√(n / (n-1)) · t) instead of (1 - confidence) / 2, with t the quantile of Student's t
    with n - 1 degrees of freedom. The reason: the bootstrap distribution of the mean of n values is
    too narrow by √((n-1) / n), and its tails are those of the normal distribution (T. C.
    Hesterberg, The American Statistician 69, 2015, 371-386).

    Args:
        count: number of values n, at least 2.
        confidence: coverage of the interval.
    """
    t = student_quantile(0.5 + confidence / 2, count - 1)
    return NormalDist().cdf(-math.sqrt(count / (count - 1)) * t)


def _exact(value: float) -> float:
    """Round off the last digits, which depend on the order of a sum, and turn -0 into 0."""
    rounded = round(float(value), 12)
    return rounded if math.copysign(1, rounded) > 0 or rounded else 0.0
