"""Round steps of a curve over turns, tokens or dollars."""

import math
from collections.abc import Iterator
from itertools import count

POINTS = 12


DENSE = 20


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
