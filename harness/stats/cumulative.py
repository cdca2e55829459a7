"""The share of samples solved by each threshold, and round thresholds."""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from operator import itemgetter

POINTS = 12
DENSE = 20


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


def whole_steps(most: int) -> tuple[int, ...]:
    """Return 1, 2, 3, … to 20, then 50, 100, 200, 500, …, and `most`; empty for 0."""
    if most <= DENSE:
        return tuple(range(1, most + 1))
    coarse = (int(step) for step in _rounded(DENSE + 1, most))
    return (*range(1, DENSE + 1), *(step for step in coarse if step < most), most)


def round_steps(least: float, most: float) -> tuple[float, ...]:
    """Return 1, 2 and 5 times powers of ten that cover `least` to `most`.

    The first is not below `least`, the last is the first not below `most`. Steps from 1 on are
    whole numbers. There are a dozen at most: of more only every second, or third, … is kept,
    counted from the last.

    Args:
        least: lower end, more than 0.
        most: upper end, not below `least`, and finite.
    """
    steps = tuple(_rounded(least, most))
    every = -(-len(steps) // POINTS) or 1
    return steps[::-1][::every][::-1]


def _rounded(least: float, most: float) -> Iterator[float]:
    for exponent in count(math.floor(math.log10(least)) - 1):
        for digit in (1, 2, 5):
            step = digit * 10**exponent if exponent >= 0 else float(f"{digit}e{exponent}")
            if step >= least:
                yield step
            if step >= most:
                return
