"""The exact test that a mean difference over pairs is zero: every sign could have been the other.

With one sample a problem it is exact McNemar.
"""

import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction

MOST_BITS = 1 << 32
"""Work that the exact distribution may take: bits added, over all pairs."""
DRAWS = 20_000
CLOSEST = 1 << 12
"""Greatest denominator by which a share of samples is read back from a float."""


def sign_flip_test(differences: Iterable[float]) -> float:
    """The two-sided p-value that the mean of paired differences is zero.

    Under the null hypothesis a difference is as likely as its negative (R. A. Fisher, The Design of
    Experiments, 1935, section 21): the p-value is the share of all 2^n choices of signs whose sum
    is at least as far from zero as the one that was seen. It is exact as long as that takes little
    work, and else the share among 20,000 choices drawn from a fixed seed, the seen one included.

    Args:
        differences: of each pair, as shares of samples, whose denominators are small.
    """
    exact = [Fraction(each).limit_denominator(CLOSEST) for each in differences]
    scale = math.lcm(*(each.denominator for each in exact)) if exact else 1
    steps = [int(each * scale) for each in exact if each]
    common = math.gcd(*steps) or 1
    steps = [each // common for each in steps]
    if not steps:
        return 1.0
    sizes = [abs(each) for each in steps]
    negative = sum(-each for each in steps if each < 0)
    tail = min(negative, sum(sizes) - negative)
    if 2 * tail == sum(sizes):
        return 1.0
    if len(sizes) * (tail + 1) * (len(sizes) + 1) <= MOST_BITS:
        return min(1.0, 2 * _ways(sizes, tail) / 2 ** len(sizes))
    return _drawn(sizes, tail)


def _ways(sizes: Sequence[int], most: int) -> int:
    """How many subsets of the sizes have a sum of `most` or less.

    The number for each sum stands in its own bits of one integer, which is added to itself shifted
    once for each size.
    """
    width = len(sizes) + 1
    kept = (1 << (width * (most + 1))) - 1
    counts = 1
    for size in sizes:
        if size <= most:
            counts = (counts + (counts << (width * size))) & kept
    return _sum_of_parts(counts, width, most + 1)


def _sum_of_parts(counts: int, width: int, parts: int) -> int:
    """The sum of an integer's parts of so many bits, by halves."""
    if parts == 1:
        return counts
    half = parts // 2
    low = counts & ((1 << (width * half)) - 1)
    return _sum_of_parts(low, width, half) + _sum_of_parts(
        counts >> (width * half), width, parts - half
    )


def _drawn(sizes: Sequence[int], tail: int) -> float:
    chosen = random.Random(0)  # noqa: S311 - repeatable
    groups = [*Counter(sizes).items()]
    whole = sum(sizes)
    found = 1
    for _ in range(DRAWS):
        total = sum(size * chosen.getrandbits(number).bit_count() for size, number in groups)
        found += min(total, whole - total) <= tail
    return found / (DRAWS + 1)
