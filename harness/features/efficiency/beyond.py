"""Beyond scores: how fast a solution is between the slowest reference and the fastest."""

import math
from collections.abc import Sequence


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
