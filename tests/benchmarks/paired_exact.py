"""Size and coverage of the paired test with one sample a problem, computed and not simulated.

Of n problems, b are solved by one run alone and c by the other alone. Both are trinomial, with
shares ψ+δ and ψ-δ, halved, where ψ is the share of problems that differ and δ the true difference.
All b and c are weighed with their chance, so the figures have no error of simulation:

- size: the chance of p < 0.05 where δ = 0, at the ψ for which it is largest;
- coverage: the chance that the 95 % interval holds δ, the least and the mean over a grid of ψ and
  δ.

    python tests/benchmarks/paired_exact.py [--problems 5 8 10 20 50 200]
"""

import argparse
import math

import numpy as np
from numpy.typing import NDArray

from harness.stats.exact_tests import unconditional
from harness.stats.paired import LEVEL, PairedTest

PROBLEMS = (5, 8, 10, 20, 50, 200)
SHARES = np.linspace(0.02, 1.0, 50)
DIFFERENCES = np.linspace(0.0, 0.9, 19)

Floats = NDArray[np.float64]


class Results:
    """Every possible result of a number of problems, and what the test says of it.

    Attributes:
        b, c: numbers of problems that one run alone solves.
        p_value: of no difference; `normal` that of the normal distribution alone.
        low, high: the interval of the difference.
    """

    def __init__(self, problems: int) -> None:
        self.problems = problems
        pairs = [(b, c) for b in range(problems + 1) for c in range(problems + 1 - b)]
        self.b, self.c = (np.array(each) for each in zip(*pairs, strict=True))
        exact = _Remembered(problems)
        paired_tests = [PairedTest(b, c, problems, exact) for b, c in pairs if b >= c]
        scores = {(int(each.only_b), int(each.only_a)): each.at() for each in paired_tests}
        normal = {
            (int(each.only_b), int(each.only_a)): math.erfc(each.score / math.sqrt(2))
            for each in paired_tests
        }
        ordered = [(max(pair), min(pair)) for pair in pairs]
        swapped = self.b < self.c
        low, high = (np.array([scores[pair][place] for pair in ordered]) for place in (1, 2))
        self.p_value = np.array([scores[pair].p_value for pair in ordered])
        self.normal = np.array([normal[pair] if pair[0] > pair[1] else 1.0 for pair in ordered])
        self.low, self.high = np.where(swapped, -high, low), np.where(swapped, -low, high)

    def chances(self, differing: float, difference: float) -> Floats:
        """Return the chance of each result."""
        n, rest = self.problems, self.problems - self.b - self.c
        one, other = (differing + difference) / 2, (differing - difference) / 2
        ways = np.array([math.lgamma(each + 1) for each in range(n + 1)])
        logs = ways[n] - ways[self.b] - ways[self.c] - ways[rest]
        for share, number in ((one, self.b), (other, self.c), (1 - differing, rest)):
            logs = logs + np.where(number == 0, 0.0, number * _log(share))
        return np.exp(logs)

    def size(self, p_values: Floats) -> float:
        """Return the largest chance of p < 0.05 where the runs do not differ."""
        rejected = p_values < LEVEL
        return max(float(self.chances(share, 0.0)[rejected].sum()) for share in SHARES)

    def coverage(self) -> tuple[float, float]:
        """Return the least and the mean chance that the interval holds the true difference."""
        coverages = [
            float(self.chances(share, true)[(self.low <= true) & (true <= self.high)].sum())
            for share in SHARES
            for true in DIFFERENCES
            if true <= share
        ]
        return min(coverages), sum(coverages) / len(coverages)


class _Remembered:
    """The exact test, whose critical score is computed once."""

    def __init__(self, problems: int) -> None:
        self._test = unconditional(problems)
        self._critical: dict[float, float] = {}
        self._p_values: dict[float, float] = {}

    def p_value(self, score: float) -> float:
        """Return the two-sided p-value of a score."""
        key = round(score, 12)
        if key not in self._p_values:
            self._p_values[key] = self._test.p_value(score)
        return self._p_values[key]

    def critical(self, level: float) -> float:
        """Return the largest possible score with a p-value of at least `level`."""
        if level not in self._critical:
            self._critical[level] = self._test.critical(level)
        return self._critical[level]


def _log(share: float) -> float:
    return math.log(share) if share > 0 else -1e9


def main() -> None:
    """Print a line for each number of problems."""
    options = argparse.ArgumentParser(description="Size and coverage of the paired test.")
    options.add_argument("--problems", type=int, nargs="*", default=PROBLEMS)
    print("problems   size  McNemar's  coverage, least   mean")
    for problems in options.parse_args().problems:
        cases = Results(problems)
        least, mean = cases.coverage()
        print(
            f"{problems:8} {cases.size(cases.p_value):6.1%} {cases.size(cases.normal):10.1%} "
            f"{least:16.1%} {mean:6.1%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
