"""How fast a solution is among the references: Beyond with its interval, and the percentile."""

import math
from collections.abc import Sequence
from typing import NamedTuple


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


class UncertainTime(NamedTuple):
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


def percentile(solution: UncertainTime, references: Sequence[UncertainTime]) -> float | None:
    """Return the percentage of references slower than a solution; ties count half.

    This is the percentile rank by mid-ranks. A reference ties if the 95 % interval of the
    difference of both logarithms holds 0.

    Args:
        solution: time of the solution.
        references: time of each reference.

    Returns:
        Between 0 and 100; None where there is no reference.
    """
    if not references:
        return None
    slower = 0.0
    for each in references:
        ratio = math.exp(math.hypot(each.doubt, solution.doubt))
        is_tied = solution.seconds / ratio <= each.seconds <= solution.seconds * ratio
        slower += 0.5 if is_tied else float(each.seconds > solution.seconds)
    return 100 * slower / len(references)
