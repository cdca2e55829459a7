"""The interval of a Beyond score, from the doubt of the times measured."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UncertainTime:
    """Time with its uncertainty.

    Attributes:
        seconds: time, in any unit common to all times of a comparison.
        doubt: half the width of the 95 % interval of its logarithm: 0.01 is one per cent.
    """

    seconds: float
    doubt: float = 0.0


def beyond_half_width(
    solution: UncertainTime, fastest: UncertainTime, slowest: UncertainTime
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
