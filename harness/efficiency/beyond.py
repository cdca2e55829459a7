"""Beyond scores and percentiles: how fast a solution is among the references."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from harness.stats.rates import Rate, student_quantile, wilson

ALIKE = 1e-12
"""Squared differences up to this sum do not count as variation between problems."""


def beyond(seconds: float | None, references: Sequence[float]) -> float | None:
    """Return where a solution stands between the slowest reference and the fastest.

    (max R - min(max(s, min R), max R)) / (max R - min R): 1 if it is as fast as the fastest or
    faster, 0 if it is as slow as the slowest or slower, and 0 for a wrong solution (M. Du et al.,
    Mercury: A Code Efficiency Benchmark for Code Large Language Models, arXiv:2402.07844, 2024).
    The solution and the references must be measured by the same clock, on the same tests and
    machine.

    Args:
        seconds: time of the solution; None for a wrong one.
        references: time of each reference.

    Returns:
        Between 0 and 1; None where there are fewer than two references, or all take the same time.
    """
    known = [each for each in references if math.isfinite(each)]
    if not known or min(known) == max(known):
        return None
    if seconds is None:
        return 0.0
    fastest, slowest = min(known), max(known)
    return (slowest - min(max(seconds, fastest), slowest)) / (slowest - fastest)


@dataclass(frozen=True, slots=True)
class MeasuredTime:
    """Time with its uncertainty.

    Attributes:
        seconds: time, in any unit common to all times of a comparison.
        doubt: half the width of the 95 % interval of its logarithm: 0.01 is one per cent.
    """

    seconds: float
    doubt: float = 0.0


def beyond_half_width(
    solution: MeasuredTime, fastest: MeasuredTime, slowest: MeasuredTime
) -> float:
    """Return half the width of the 95 % interval of `beyond`, before clipping.

    The three times are measured independently, so their uncertainties add as squares (the delta
    method). With s, f and l for solution, fastest and slowest, B = (l - s) / (l - f) changes by s /
    (l - f) for a relative change of s, by f B / (l - f) for one of f, and by l (1 - B) / (l - f)
    for one of l.
    """
    spread = slowest.seconds - fastest.seconds
    if spread <= 0:
        return math.inf
    value = (slowest.seconds - solution.seconds) / spread
    inside = min(max(value, 0.0), 1.0)
    return math.hypot(
        solution.seconds * solution.doubt / spread,
        fastest.seconds * inside * fastest.doubt / spread,
        slowest.seconds * (1 - inside) * slowest.doubt / spread,
    )


def percentile(seconds: float, references: Sequence[float], doubt: float = 0.0) -> float | None:
    """Return the percentage of references slower than a solution; ties count half.

    This is the percentile rank by mid-ranks. A reference ties if its time differs by no more than
    the doubt.

    Args:
        seconds: time of the solution.
        references: time of each reference.
        doubt: half the width of the interval of the logarithm of the solution's time.

    Returns:
        Between 0 and 100; None where there is no reference.
    """
    if not references:
        return None
    ratio = math.exp(doubt)
    slower = sum(each > seconds * ratio for each in references)
    tied = sum(seconds / ratio <= each <= seconds * ratio for each in references)
    return 100 * (slower + tied / 2) / len(references)


def beyond_at_k(values: Sequence[float], k: int) -> float:
    """Return the expected best Beyond of k of a problem's n samples.

    The mean of the maximum over all choices of k: with b(1) <= … <= b(n), the sum over i of b(i)
    C(i-1, k-1) / C(n, k). If every value is 0 or 1 it is pass@k (M. Chen et al., arXiv:2107.03374,
    2021).

    Raises:
        ValueError: k is not between 1 and n.
    """
    count = len(values)
    if not 1 <= k <= count:
        raise ValueError(f"k is 1 to {count}, not {k}")
    weighted = (value * math.comb(place, k - 1) for place, value in enumerate(sorted(values)))
    return math.fsum(weighted) / math.comb(count, k)


@dataclass(frozen=True, slots=True)
class MeasuredShare:
    """Share between 0 and 1 of one sample, with half the width of its 95 % interval."""

    problem: str
    value: float
    doubt: float = 0.0


def known_rate(measured: Iterable[MeasuredShare]) -> Rate | None:
    """Return the mean over problems of the mean over samples, with its 95 % interval.

    It is `mean_rate` of the problems; the uncertainties of a problem's samples add as squares.
    """
    samples: dict[str, list[MeasuredShare]] = {}
    for each in measured:
        samples.setdefault(each.problem, []).append(each)
    return mean_rate(
        [math.fsum(each.value for each in own) / len(own) for own in samples.values()],
        [math.hypot(*(each.doubt for each in own)) / len(own) for own in samples.values()],
    )


def mean_rate(values: Sequence[float], doubts: Sequence[float] = ()) -> Rate | None:
    """Return the mean of shares between 0 and 1, with its 95 % interval.

    It is Wilson's interval with the effective number of trials n* = p(1-p) / v, v being the
    variance of the mean (see `harness.stats.rates.clustered` for the sources). v is the variance
    between problems, s²/P, widened by (t / z)² because it is an estimate. s² includes the
    measurement error. Where the values happen to differ by less than that error, v is the sum of
    (doubt / z)² over P². n* is at least P, since no share varies more than one that is 0 or 1.

    Args:
        values: one value per problem, between 0 and 1.
        doubts: half the width of the 95 % interval of each measured value; 0 by default.

    Returns:
        None where there is no value.
    """
    if not values:
        return None
    count = len(values)
    mean = min(1.0, math.fsum(values) / count)
    z = NormalDist().inv_cdf(0.975)
    trials = float(count)
    variance = math.fsum((doubt / z) ** 2 for doubt in doubts) / count**2
    if count > 1:
        squares = math.fsum((value - mean) ** 2 for value in values)
        widened = (student_quantile(0.975, count - 1) / z) ** 2
        if squares > ALIKE:
            variance = max(variance, squares / (count - 1) / count * widened)
            trials = max(trials, mean * (1 - mean) / variance)
    low, high = wilson(mean, trials)
    return Rate(value=mean, problems=count, low=low, high=high)
