"""Choosing some of many problems, by what they are and never by where they stand.

A problem's rank is a hash of the seed and its id. So the same seed picks the same problems whatever
order the data comes in, and a larger random sample holds every smaller one.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence

from harness.problem import Problem

Stratum = tuple[str, str]


def rank(seed: int, name: str) -> bytes:
    """A problem's place in the shuffle of a seed: 32 bytes, lowest first."""
    return hashlib.sha256(f"{seed}\0{name}".encode()).digest()


def random_sample(problems: Sequence[Problem], size: int, seed: int) -> list[Problem]:
    """`size` problems at random, or all when there are fewer; order is the rank's."""
    return sorted(problems, key=lambda problem: rank(seed, problem.id))[:size]


def stratified_sample(problems: Sequence[Problem], size: int, seed: int) -> list[Problem]:
    """`size` problems at random with each platform and difficulty in its share, or all if fewer."""
    ranked = random_sample(problems, len(problems), seed)
    left = quotas(Counter(map(stratum, problems)), size, seed)
    sample: list[Problem] = []
    for problem in ranked:
        if left[stratum(problem)]:
            left[stratum(problem)] -= 1
            sample.append(problem)
    return sample


def stratum(problem: Problem) -> Stratum:
    """What a stratified sample keeps in proportion: platform and difficulty."""
    return problem.platform, problem.difficulty or problem.difficulty_word


def quotas(counts: Counter[Stratum], size: int, seed: int) -> Counter[Stratum]:
    """How many of each stratum make a sample, by the method of largest remainders (Hamilton's).

    Every stratum gets its share rounded down; what is missing goes one each to the largest
    remainders, equal ones by rank. Shares are integers throughout, so no rounding can err.

    Args:
        counts: how many problems each stratum has.
        size: of the sample; at most all problems are given out.
        seed: of the ranks.
    """
    total = counts.total()
    size = min(size, total)
    shares = {name: divmod(count * size, total) for name, count in counts.items()}
    given = Counter({name: whole for name, (whole, _) in shares.items()})
    by_remainder = sorted(shares, key=lambda name: (-shares[name][1], rank(seed, "\0".join(name))))
    given.update(by_remainder[: size - given.total()])
    return given
