"""Exact tests of a paired difference, for problems too few for the normal distribution.

`Unconditional` is for one sample a problem, `SignFlip` for shares of several samples. Both give the
p-value of an observed score, and the critical score of a level: the largest score that is not
significant. `harness.stats.paired` builds its interval with the same critical score.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MOST_PROBLEMS = 200
"""Of more problems the distribution of this many is used; a test of 5 % then has at most 5.2 %."""

SHARES = 400
"""Number of shares of differing problems among which the largest p-value is sought."""

MOST_FLIPS = 100
"""Largest number of differing problems whose signs are flipped."""

UNITS = 1_000
"""Differences whose common denominator is larger are rounded to multiples of one of this many."""

_ALMOST = 1e-9


class ExactTest(Protocol):
    """An exact test of no difference."""

    def p_value(self, score: float) -> float:
        """Return the two-sided p-value of a score: the chance of one as large, or larger."""
        ...

    def critical(self, level: float) -> float:
        """Return the largest possible score with a p-value of at least `level`; 0 if none has."""
        ...


@dataclass(frozen=True)
class Unconditional:
    """The exact unconditional form of McNemar's test.

    Of n problems, b are solved by one run alone and c by the other alone; the score is |b - c| /
    √(b + c). If the runs do not differ, d = b + c problems differ with a share ψ that is not known,
    and each of them goes either way with probability 1/2. The p-value is the largest over all ψ (S.
    Suissa & J. J. Shuster, The 2 x 2 matched-pairs trial: exact unconditional design and analysis,
    Biometrics 47, 1991, 361-372):

        p = max over ψ of Σ_d C(n, d) ψ^d (1 - ψ)^(n-d) · P(score of d ≥ observed)

    Attributes:
        problems: number of problems n.
    """

    problems: int

    def p_value(self, score: float) -> float:
        """Return the two-sided p-value of a score."""
        import numpy as np

        if score <= _ALMOST:
            return 1.0
        differing = np.arange(1, self.problems + 1)
        least = np.ceil((differing + score * np.sqrt(differing)) / 2 - _ALMOST).astype(int)
        tails = np.where(
            least <= differing,
            2 * self._tails[differing, np.minimum(least, self.problems)],
            0.0,
        )
        return min(1.0, float((self._weights[:, 1:] @ tails).max()))

    @cache  # noqa: B019 - `unconditional` keeps its few tests anyway
    def critical(self, level: float) -> float:
        """Return the largest possible score with a p-value of at least `level`."""
        scores = self._scores
        low, high = 0, len(scores)  # scores before `low` are not significant, from `high` on are
        while low < high:
            middle = (low + high) // 2
            if self.p_value(scores[middle]) >= level:
                low = middle + 1
            else:
                high = middle
        return scores[low - 1] if low else 0.0

    @cached_property
    def _scores(self) -> list[float]:
        """All possible scores, ascending."""
        return sorted(
            {
                round((2 * larger - number) / math.sqrt(number), 12)
                for number in range(1, self.problems + 1)
                for larger in range((number + 1) // 2, number + 1)
            }
        )

    @cached_property
    def _tails(self) -> "Floats":
        """P(at least k of d go one way), by d and k."""
        import numpy as np

        size = self.problems + 1
        chances = np.zeros((size, size + 1))
        chances[0, 0] = 1.0
        for number in range(1, size):
            chances[number, 0] = chances[number - 1, 0] / 2
            chances[number, 1:] = (chances[number - 1, 1:] + chances[number - 1, :-1]) / 2
        return chances[:, ::-1].cumsum(axis=1)[:, ::-1]

    @cached_property
    def _weights(self) -> "Floats":
        """Chance that d problems differ, by share and d."""
        import numpy as np

        n = self.problems
        angles = np.linspace(0, math.pi / 2, SHARES + 1)[1:]
        share = np.sin(angles) ** 2
        ways = np.array([math.lgamma(n + 1) - math.lgamma(d + 1) - math.lgamma(n - d + 1)
                         for d in range(n + 1)])  # fmt: skip
        number = np.arange(n + 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            others = np.where(number == n, 0.0, (n - number) * np.log1p(-share)[:, None])
        return np.exp(ways + number * np.log(share)[:, None] + others)


def unconditional(problems: int) -> Unconditional:
    """Return the test for a number of problems; see `MOST_PROBLEMS`."""
    return _unconditional(min(problems, MOST_PROBLEMS))


_unconditional = cache(Unconditional)


@dataclass(frozen=True)
class SignFlip:
    """The sign-flip randomisation test of the mean difference.

    If the runs do not differ, each problem's difference is as likely as its negative. The p-value
    is the share of all 2^n choices of signs whose sum is as far from 0 as the observed one, or
    farther (R. A. Fisher, The Design of Experiments, 1935, section 21). The distribution of the sum
    is computed in full, one problem after the other.

    Attributes:
        sizes: absolute differences, as whole numbers of a unit; none is 0.
        scale: score of a sum of one unit.
    """

    sizes: tuple[int, ...]
    scale: float

    def p_value(self, score: float) -> float:
        """Return the two-sided p-value of a score."""
        least = math.ceil(score / self.scale - _ALMOST * sum(self.sizes))
        return 1.0 if least <= 0 else min(1.0, 2 * float(self._tails[least:][:1].sum()))

    def critical(self, level: float) -> float:
        """Return the largest possible score with a p-value of at least `level`."""
        import numpy as np

        kept = np.flatnonzero((2 * self._tails >= level) & (self._chances > 0))
        return float(kept[-1]) * self.scale if len(kept) else 0.0

    @cached_property
    def _chances(self) -> "Floats":
        """Chance of each sum from 0 on."""
        import numpy as np

        total = sum(self.sizes)
        chances = np.zeros(2 * total + 1)
        chances[total] = 1.0
        for size in self.sizes:
            moved = np.zeros_like(chances)
            moved[size:] += chances[:-size] / 2
            moved[:-size] += chances[size:] / 2
            chances = moved
        return chances[total:]

    @cached_property
    def _tails(self) -> "Floats":
        """Chance of each sum from 0 on, or a larger one."""
        return self._chances[::-1].cumsum()[::-1]


def sign_flip(differences: Sequence[float], score: float) -> SignFlip | None:
    """Return the sign-flip test of differences whose sum has this score.

    Returns:
        None where the sum is 0, or more than `MOST_FLIPS` problems differ.
    """
    differing = [each for each in differences if abs(each) > _ALMOST]
    if len(differing) > MOST_FLIPS:
        return None
    signed = whole_numbers(differing)
    if not sum(signed):
        return None
    sizes = sorted(abs(each) for each in signed if each)
    return SignFlip(tuple(sizes), score / abs(sum(signed)))


def whole_numbers(differences: Sequence[float]) -> list[int]:
    """Return differences as whole numbers of a common unit."""
    shares = [Fraction(each).limit_denominator(UNITS) for each in differences]
    unit = min(UNITS, math.lcm(*(each.denominator for each in shares)))
    return [round(each * unit) for each in shares]
