"""Score test of a paired difference, and the interval found by inverting it.

The interval holds exactly the differences that the test does not reject: it excludes 0 if and only
if p < 0.05.

With one sample a problem, b problems that only B solved and c that only A solved, it is T. Tango's
score interval for paired proportions (Statistics in Medicine 17, 1998, 891-908):

    T(δ) = (b - c - nδ) / √(n (2q + δ(1 - δ)))

with q the maximum likelihood estimate of the share of problems that only A solves, given the
difference δ. Its test of no difference is McNemar's (Psychometrika 12, 1947, 153-157): T(0) = (b -
c) / √(b + c). M. W. Fagerland, S. Lydersen & P. Laake recommend the interval for few pairs
(Statistics in Medicine 33, 2014, 2850-2875), and find that the test keeps its level and has more
power than the exact one (BMC Medical Research Methodology 13, 2013, 91).

Several samples of one problem are correlated. Let x and y be the shares of a problem's samples that
A and B solve: b/n is the mean of y(1 - x) and c/n that of x(1 - y), the probability that two
samples drawn at random, one of each run, differ. The number of problems n is replaced by the
effective number of pairs (J. N. K. Rao & A. J. Scott, Biometrics 48, 1992, 577-585), for which the
variance of independent pairs equals the variance observed between problems:

    n* = n · (b/n + c/n - d²) / s²

with s² the variance of y - x over problems. It is multiplied by (z / t)² because s² is an estimate,
as in `harness.stats.rates.clustered`. It is never less than n, its value with one sample a problem.

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
    """Result of the score test of a paired difference, with its interval.

    Attributes:
        difference: mean of B minus mean of A.
        low, high: interval of the difference.
        p_value: two-sided p-value of no difference.
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
        pairs: shares of a problem's samples that A and B solve, one pair per problem, each between
            0 and 1; at least one.
        samples: number of samples of all problems in the run that has fewer; the number of problems
            by default.
        confidence: coverage of the interval. It excludes 0 exactly where p < 1 - confidence.

    Raises:
        ValueError: there is no problem, or a share is out of range.
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
    """Return the number of independent pairs the samples are worth: n* above.

    At least the number of problems, and at most the number of samples.
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
    """Return the smallest difference that is not rejected.

    Args:
        b: number of pairs that only B solves.
        c: number of pairs that only A solves.
        number: number of all pairs.
        squared: square of the normal quantile.
        above_zero: whether the hypothesis of no difference is rejected, with B better.
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
