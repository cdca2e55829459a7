"""The score test of a paired difference, and the interval that is its inversion.

The interval holds exactly those differences that the test does not reject: it excludes 0 where
p < 0.05, and nowhere else.

With one sample a problem, b problems that B alone solved and c that A alone did, it is T. Tango's
score interval for paired proportions (Statistics in Medicine 17, 1998, 891-908):

    T(δ) = (b - c - nδ) / √(n (2q + δ(1 - δ)))

with q the most likely share of problems that A alone solves if the difference is δ. Its test of no
difference is McNemar's (Psychometrika 12, 1947, 153-157): T(0) = (b - c) / √(b + c).
M. W. Fagerland, S. Lydersen & P. Laake recommend the interval for few pairs (Statistics in Medicine
33, 2014, 2850-2875), and find the test to keep its level and to find more than the exact one (BMC
Medical Research Methodology 13, 2013, 91).

With several samples a problem the samples resemble one another. Let x and y be the shares of a
problem's samples that A and B solve: b/n is the mean of y(1 - x) and c/n that of x(1 - y), which is
how often a sample of each, drawn at random, differ. The number of problems n is replaced by the
effective number of pairs (J. N. K. Rao & A. J. Scott, Biometrics 48, 1992, 577-585): the one that
makes the variance of independent pairs the variance that is seen between problems,

    n* = n · (b/n + c/n - d²) / s²

with s² the variance of y - x over problems, times (z / t)² for s² being an estimate, as in
`harness.stats.rates.clustered`. It is never less than n, which it is with one sample a problem.

`tests/benchmarks/paired_intervals.py` measures size and coverage.
"""

import math
from collections import Counter
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

from harness.stats.rates import student_quantile

CONFIDENCE = 0.95
_STEPS = 60
_LEAST = 1e-12


class Score(NamedTuple):
    """The score test of a paired difference, and its interval.

    Attributes:
        difference: the mean of B less that of A.
        low, high: the interval of the difference.
        p_value: two-sided, that there is none.
    """

    difference: float
    low: float
    high: float
    p_value: float


def score_interval(
    pairs: Sequence[tuple[float, float]],
    samples: int | None = None,
    confidence: float = CONFIDENCE,
) -> Score:
    """Return the score test of a paired difference, and its interval.

    Args:
        pairs: of each problem the share of its samples that A solves, and that B does, between 0
            and 1; at least one problem.
        samples: of all problems, in the run that has fewer; as many as problems where not given.
        confidence: of the interval. It excludes 0 exactly where p < 1 - confidence.

    Raises:
        ValueError: there is no problem, or a share is none.
    """
    if not pairs:
        raise ValueError("there is no problem to compare")
    if not all(0 <= share <= 1 for pair in set(pairs) for share in pair):
        raise ValueError("a share of samples is between 0 and 1")
    number, counts = len(pairs), Counter(pairs)
    only_b = math.fsum(times * y * (1 - x) for (x, y), times in counts.items()) / number
    only_a = math.fsum(times * x * (1 - y) for (x, y), times in counts.items()) / number
    difference = only_b - only_a
    difference = 0.0 if abs(difference) < _LEAST else difference
    pairs_worth = effective_pairs(pairs, samples or number, confidence)
    b, c = only_b * pairs_worth, only_a * pairs_worth
    p_value = math.erfc(abs(b - c) / math.sqrt(2 * (b + c))) if difference else 1.0
    differs = p_value < 1 - confidence
    squared = NormalDist().inv_cdf(0.5 + confidence / 2) ** 2
    low = _low_end(b, c, pairs_worth, squared, above_zero=differs and difference > 0)
    high = -_low_end(c, b, pairs_worth, squared, above_zero=differs and difference < 0)
    return Score(difference, low, high, p_value)


def effective_pairs(
    pairs: Sequence[tuple[float, float]], samples: int, confidence: float = CONFIDENCE
) -> float:
    """Return how many independent pairs the samples of some problems are worth: n* of above.

    At least as many as problems, and at most as many as samples.
    """
    number = len(pairs)
    if number == 1 or samples <= number:
        return number
    differences = [y - x for x, y in pairs]
    mean = math.fsum(differences) / number
    squares = math.fsum((each - mean) ** 2 for each in differences)
    independent = math.fsum(x + y - 2 * x * y for x, y in pairs) / number - mean * mean
    if independent < _LEAST:
        return number
    if squares < _LEAST:
        return samples
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    doubt = (z / student_quantile(0.5 + confidence / 2, number - 1)) ** 2
    return min(samples, max(number, number * (number - 1) * independent / squares * doubt))


def _low_end(b: float, c: float, number: float, squared: float, *, above_zero: bool) -> float:
    """Return the least difference that is not rejected.

    Args:
        b: pairs that B alone solves.
        c: pairs that A alone does.
        number: of all pairs.
        squared: of the normal quantile.
        above_zero: whether no difference is rejected, and B is better.
    """
    seen = (b - c) / number
    rejected, kept = (0.0, seen) if above_zero else (-1.0, min(seen, 0.0))
    for _ in range(_STEPS):
        delta = (rejected + kept) / 2
        linear = (2 * number - b + c) * delta - b - c
        constant = c * delta * (1 - delta)
        root = math.sqrt(max(0.0, linear * linear + 8 * number * constant))
        variance = (root - linear) / 2 + number * delta * (1 - delta)
        if (b - c - number * delta) ** 2 > squared * variance:
            rejected = delta
        else:
            kept = delta
    return kept if above_zero else rejected
