"""Rates of success and their intervals."""

import math
from collections.abc import Sequence
from statistics import NormalDist

from pydantic import BaseModel, ConfigDict


class Rate(BaseModel):
    """A rate over problems with its 95 % interval.

    Attributes:
        value: between 0 and 1.
        problems: how many problems it is the mean of.
        low, high: Wilson's interval.
    """

    model_config = ConfigDict(frozen=True)

    value: float
    problems: int
    low: float
    high: float


def rate(fractions: Sequence[float]) -> Rate | None:
    """pass@1: the mean over problems of the fraction of each problem's samples that are solved.

    The interval takes problems, not samples, for what was drawn at random: samples of one problem
    are not independent, and an interval that counted them so would be too narrow. With one sample
    a problem it is Wilson's interval exactly; with several it is on the wide side.

    Returns:
        None when there is no problem: no rate is not a rate of zero.
    """
    if not fractions:
        return None
    value = math.fsum(fractions) / len(fractions)
    low, high = wilson(value, len(fractions))
    return Rate(value=value, problems=len(fractions), low=low, high=high)


def wilson(value: float, count: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a proportion (E. B. Wilson, JASA 22, 1927, 209-212).

    With z the normal quantile: (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n).

    Args:
        value: the proportion p, between 0 and 1.
        count: the number of trials n, at least 1.
        confidence: the interval's coverage.
    """
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    centre = value + z * z / (2 * count)
    spread = z * math.sqrt(value * (1 - value) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)
