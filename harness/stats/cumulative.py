"""The share of samples solved by each threshold."""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from operator import itemgetter


def cumulative(
    reached: Sequence[tuple[str, float | None]], thresholds: Iterable[float]
) -> tuple[float, ...]:
    """Return the share of samples solved by each threshold, averaged over problems.

    With P problems, and n_p samples of problem p of which sample i was solved at a_pi:
    F(t) = 1/P · Σ_p 1/n_p · #{i: a_pi ≤ t}.

    Args:
        reached: problem id and place at which each sample was solved, None if it never was; at
            least one sample.
        thresholds: places at which the share is read, in the same unit.

    Returns:
        One share between 0 and 1 per threshold; shares never fall as thresholds rise.
    """
    samples = Counter(map(itemgetter(0), reached))
    places: dict[int, list[float]] = defaultdict(list)  # by n_p: problems of one n count alike
    for problem, place in reached:
        if place is not None:
            places[samples[problem]].append(place)
    for amounts in places.values():
        amounts.sort()
    return tuple(
        math.fsum(bisect_right(amounts, threshold) / n for n, amounts in places.items())
        / len(samples)
        for threshold in thresholds
    )
