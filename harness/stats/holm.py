"""Holm's correction of p-values."""

import math
from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values, in the order given.

    With the m p-values in rising order, p₍₁₎ ≤ … ≤ p₍ₘ₎, the adjusted one of the i-th is min(1, max
    over j ≤ i of (m - j + 1) · p₍ⱼ₎). Rejecting every hypothesis with an adjusted p-value of at
    most 0.05 makes even one false rejection with a probability of at most 0.05, whatever the
    dependence between the tests (S. Holm, "A simple sequentially rejective multiple test
    procedure", Scandinavian Journal of Statistics 6, 1979, 65-70).

    Args:
        p_values: p-values of all the tests made, each between 0 and 1.

    Raises:
        ValueError: a value is not between 0 and 1.
    """
    if not all(0 <= p <= 1 for p in p_values):
        raise ValueError("a p-value is a number between 0 and 1")
    adjusted = [math.nan] * len(p_values)
    least = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, (len(p_values) - rank) * p_values[index])
        adjusted[index] = min(1.0, least)
    return adjusted
