"""The mean over problems of shares between 0 and 1, with its interval."""

import math
from collections.abc import Iterable, Sequence
from statistics import NormalDist
from typing import NamedTuple

from harness.stats.rates import Rate, student_quantile, wilson

ALIKE = 1e-12
"""Squared differences up to this sum do not count as variation between problems."""


class MeasuredShare(NamedTuple):
    """Share between 0 and 1 of one sample, with half the width of its 95 % interval."""

    problem: str
    value: float
    doubt: float = 0.0


def known_rate(measured: Iterable[MeasuredShare]) -> Rate | None:
    """Return the mean over problems of the mean over samples, with its 95 % interval.

    It is `mean_rate` of the problems; the uncertainties of a problem's samples add as squares.
    """
    return rate_of_means(means_by_problem(measured).values())


def means_by_problem(measured: Iterable[MeasuredShare]) -> dict[str, tuple[float, float]]:
    """Return the mean of each problem's samples, and its doubt; uncertainties add as squares."""
    samples: dict[str, list[MeasuredShare]] = {}
    for each in measured:
        samples.setdefault(each.problem, []).append(each)
    return {
        problem: (
            math.fsum(each.value for each in own) / len(own),
            math.hypot(*(each.doubt for each in own)) / len(own),
        )
        for problem, own in samples.items()
    }


def rate_of_means(means: Iterable[tuple[float, float]]) -> Rate | None:
    """Return `mean_rate` of means with their doubts."""
    known = list(means)
    return mean_rate([value for value, _ in known], [doubt for _, doubt in known])


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
