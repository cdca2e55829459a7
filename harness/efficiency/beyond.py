"""Beyond: how fast a right solution is compared with the references."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from harness.stats.rates import Rate, student_quantile, wilson

ALIKE = 1e-12
"""Values whose squared differences come to no more do not tell how problems differ."""


def beyond(seconds: float | None, references: Sequence[float]) -> float | None:
    """Where a solution stands between the slowest reference and the fastest.

    (max R - min(max(s, min R), max R)) / (max R - min R): 1 for one as fast as the fastest or
    faster, 0 for one as slow as the slowest or slower, and 0 for one that is wrong (M. Du et al.,
    Mercury: A Code Efficiency Benchmark for Code Large Language Models, arXiv:2402.07844, 2024).
    The solution and the references are to be measured by the same clock, on the same tests and
    machine.

    Args:
        seconds: what the solution took; None for a wrong one.
        references: what each known-good solution took.

    Returns:
        Between 0 and 1; None where the references do not tell fast from slow: there are fewer than
        two, or all are alike.
    """
    known = [each for each in references if math.isfinite(each)]
    if not known or min(known) == max(known):
        return None
    if seconds is None:
        return 0.0
    fastest, slowest = min(known), max(known)
    return (slowest - min(max(seconds, fastest), slowest)) / (slowest - fastest)


@dataclass(frozen=True, slots=True)
class Timed:
    """A time and how well it is known.

    Attributes:
        seconds: in any unit that all of a comparison have.
        doubt: half the width of the 95 % interval of its logarithm: 0.01 is one per cent.
    """

    seconds: float
    doubt: float = 0.0


def beyond_half_width(solution: Timed, fastest: Timed, slowest: Timed) -> float:
    """Half the width of the 95 % interval of `beyond`, before it is cut off at 0 and 1.

    The three times are measured apart, so their doubts add as squares (the delta method). With s,
    f and l for solution, fastest and slowest, B = (l - s) / (l - f) changes by s / (l - f) for a
    relative change of s, by f B / (l - f) for one of f, and by l (1 - B) / (l - f) for one of l.
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
    """The percentage of references that a solution is faster than; those that tie count half.

    This is the percentile rank by mid-ranks. A reference ties whose time differs by no more than
    the doubt.

    Args:
        seconds: what the solution took.
        references: what each known-good solution took.
        doubt: half the width of the interval of the solution's time's logarithm.

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
    """The expected best Beyond of k samples of a problem, out of the n that there are.

    The mean of the maximum over all choices of k: with b(1) <= … <= b(n), the sum over i of
    b(i) C(i-1, k-1) / C(n, k). Where each is 0 or 1 it is pass@k (M. Chen et al.,
    arXiv:2107.03374, 2021).

    Raises:
        ValueError: k is not between 1 and n.
    """
    count = len(values)
    if not 1 <= k <= count:
        raise ValueError(f"k is 1 to {count}, not {k}")
    weighted = (value * math.comb(place, k - 1) for place, value in enumerate(sorted(values)))
    return math.fsum(weighted) / math.comb(count, k)


@dataclass(frozen=True, slots=True)
class Known:
    """A share between 0 and 1 of one sample, and half the width of its 95 % interval."""

    problem: str
    value: float
    doubt: float = 0.0


def known_rate(measured: Iterable[Known]) -> Rate | None:
    """The mean over problems of the mean over each one's samples, with its 95 % interval.

    That is `mean_rate` of the problems; the doubts of a problem's samples add as squares.
    """
    samples: dict[str, list[Known]] = {}
    for each in measured:
        samples.setdefault(each.problem, []).append(each)
    return mean_rate(
        [math.fsum(each.value for each in own) / len(own) for own in samples.values()],
        [math.hypot(*(each.doubt for each in own)) / len(own) for own in samples.values()],
    )


def mean_rate(values: Sequence[float], doubts: Sequence[float] = ()) -> Rate | None:
    """The mean of shares that need not be 0 or 1, with its 95 % interval.

    It is Wilson's interval with the effective number of trials n* = p(1-p) / v, v being the
    variance of the mean (as `harness.stats.rates.clustered` has it, and there its sources): how
    the problems differ, s²/P, widened by (t / z)² for being an estimate. What was measured differs
    by the measurement's error as well, so s² has that in it; where the values happen to differ by
    less, the error that was told, the sum of (doubt / z)² over P², is v. n* is at least P, since
    no share varies more than one that is 0 or 1.

    Args:
        values: one of each problem, between 0 and 1.
        doubts: half the width of the 95 % interval of each as it was measured; none where they
            are not given.

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
