"""Shares that grow with what was spent: how many are there by so many turns, tokens or dollars."""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from operator import itemgetter

POINTS = 12
DENSE = 20


def mean_by_problem(values: Iterable[tuple[str, float]]) -> dict[str, float]:
    """The mean of a value over each problem's samples.

    Args:
        values: a problem's id and a sample's value, for each sample.
    """
    pairs = list(values)
    by_problem = dict(pairs)
    if len(by_problem) == len(pairs):  # one sample a problem
        return by_problem
    found: dict[str, list[float]] = defaultdict(list)
    for problem, value in pairs:
        found[problem].append(value)
    return {problem: math.fsum(samples) / len(samples) for problem, samples in found.items()}


def cumulative(
    reached: Sequence[tuple[str, float | None]], thresholds: Iterable[float]
) -> tuple[float, ...]:
    """The share of samples that had got there by each threshold, as the mean over problems.

    With P problems, and n_p samples of problem p of which sample i got there at a_pi:
    F(t) = 1/P · Σ_p 1/n_p · #{i: a_pi ≤ t}.

    Args:
        reached: a problem's id and where a sample got there, None if it never did; at least one.
        thresholds: each in the unit of the above.

    Returns:
        As many shares, between 0 and 1; with a threshold they never fall.
    """
    samples = Counter(map(itemgetter(0), reached))
    places: dict[int, list[float]] = defaultdict(list)  # by n_p: problems of one n count alike
    for problem, place in reached:
        if place is not None:
            places[samples[problem]].append(place)
    for found in places.values():
        found.sort()
    return tuple(
        math.fsum(bisect_right(found, threshold) / n for n, found in places.items()) / len(samples)
        for threshold in thresholds
    )


def whole_steps(most: int) -> tuple[int, ...]:
    """1, 2, 3, … to 20, then 50, 100, 200, 500, …, and `most` at the end; empty for 0."""
    if most <= DENSE:
        return tuple(range(1, most + 1))
    coarse = (int(step) for step in _rounded(DENSE + 1, most))
    return (*range(1, DENSE + 1), *(step for step in coarse if step < most), most)


def round_steps(least: float, most: float) -> tuple[float, ...]:
    """1, 2 and 5 times powers of ten, from the first not below `least` to the first for `most`.

    Those from 1 on are whole numbers. There are a dozen at most: of more only every second is
    taken, or third, …, counted from the last.

    Args:
        least: more than 0.
        most: not below `least`, and finite.
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


def solved_per(solved: int, spent: float | None, unit: float = 1.0) -> float | None:
    """What so much brought: unit · solved / spent.

    Args:
        solved: samples that were.
        spent: on all samples, those that failed included; None where it is unknown.
        unit: how much of it is meant: 1,000 for solved samples per 1,000 tokens.

    Returns:
        None where it is unknown what was spent, or nothing was.
    """
    return unit * solved / spent if spent else None
