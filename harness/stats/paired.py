"""Paired comparison of two runs over the same problems.

The interval holds exactly the differences that the test does not reject: it excludes 0 if and only
if p < 0.05.

With one sample a problem, b problems that only B solved and c that only A solved, it is T. Tango's
score interval for paired proportions (Statistics in Medicine 17, 1998, 891-908):

    T(δ) = (b - c - nδ) / √(n (2q + δ(1 - δ)))

with q the maximum likelihood estimate of the share of problems that only A solves, given the
difference δ. Its test of no difference is McNemar's (Psychometrika 12, 1947, 153-157): T(0) = (b -
c) / √(b + c). M. W. Fagerland, S. Lydersen & P. Laake recommend the interval for few pairs
(Statistics in Medicine 33, 2014, 2850-2875).

With few pairs T is not normally distributed, and the test would err too often. The p-value is
therefore the larger of that of the normal distribution and that of an exact test
(`harness.stats.exact_tests`), and T is compared with the larger of both critical values.

Several samples of one problem are correlated. Let x and y be the shares of a problem's samples that
A and B solve: b/n is the mean of y(1 - x) and c/n that of x(1 - y), the probability that two
samples drawn at random, one of each run, differ. The number of problems n is replaced by the
effective number of pairs (J. N. K. Rao & A. J. Scott, Biometrics 48, 1992, 577-585), for which the
variance of independent pairs equals the variance observed between problems:

    n* = n · (b/n + c/n - d²) / s²

with s² the variance of y - x over problems. It is multiplied by (z / t)² because s² is an estimate,
as in `harness.stats.rates.clustered`. It is never less than n, its value with one sample a problem.
It is computed once: an interval of another confidence, as a correction for several tests needs it,
has the same pairs.

`tests/benchmarks/paired_intervals.py` measures size and coverage.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, computed_field

from harness.stats.exact_tests import ExactTest, sign_flip, unconditional
from harness.stats.pass_at_k import Counts, share
from harness.stats.rates import Rate, boundary, rate, worth

CONFIDENCE, LEVEL = 0.95, 0.05
_LEAST = 1e-12
POWER = 0.8


class PairedScore(NamedTuple):
    """Result of the test of a paired difference, with its interval.

    Attributes:
        difference: mean of B minus mean of A.
        low, high: interval of the difference.
        p_value: two-sided p-value of no difference.
    """

    difference: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class PairedTest:
    """The test of a paired difference: what its p-value and all its intervals are computed from.

    Attributes:
        only_b, only_a: number of effective pairs that only B, or only A, solves.
        number: number of effective pairs.
        exact: the exact test that goes with them; None where so many problems differ that it is not
            needed.
    """

    only_b: float
    only_a: float
    number: float
    exact: ExactTest | None

    @property
    def difference(self) -> float:
        """Mean of B minus mean of A."""
        difference = (self.only_b - self.only_a) / self.number
        return 0.0 if abs(difference) < _LEAST else difference

    @cached_property
    def p_value(self) -> float:
        """Two-sided p-value of no difference."""
        score = self.score
        plain = math.erfc(score / math.sqrt(2)) if score else 1.0
        return max(plain, self.exact.p_value(score)) if self.exact and score else plain

    @property
    def score(self) -> float:
        """|T(0)|."""
        return score_of(self.only_b, self.only_a) if self.difference else 0.0

    def at(self, level: float = LEVEL, *, differs: bool | None = None) -> PairedScore:
        """Return the result with the interval of a level.

        Args:
            level: chance to miss the true difference.
            differs: whether the test of this level rejects; by its own p-value by default.
        """
        rejects = self.p_value < level if differs is None else differs
        critical = NormalDist().inv_cdf(1 - level / 2)
        if self.exact is not None:
            critical = max(critical, self.exact.critical(level))
        squared, seen = critical * critical, self.difference
        b, c = self.only_b, self.only_a
        low = _low_end(b, c, self.number, squared, above_zero=rejects and seen > 0)
        high = -_low_end(c, b, self.number, squared, above_zero=rejects and seen < 0)
        return PairedScore(seen, low, high, self.p_value)

    def corrected(self, p_corrected: float) -> PairedScore:
        """Return the result with the interval that agrees with a corrected p-value of `holm`.

        The corrected test is p < 0.05 · p / p_corrected. The interval of that level excludes 0
        exactly where p_corrected < 0.05. It is that of 95 % where nothing is corrected, and at most
        Bonferroni's.
        """
        level = LEVEL * (self.p_value / p_corrected if p_corrected else 1.0)
        return self.at(level, differs=p_corrected < LEVEL)


def score_of(b: float, c: float) -> float:
    """Return McNemar's statistic of the pairs that only one run solves."""
    return abs(b - c) / math.sqrt(b + c)


def paired_test(
    pairs: Sequence[tuple[float, float]], samples: int | None = None, spread: float = 1.0
) -> PairedTest:
    """Return the test of a paired difference.

    Args:
        pairs: shares of a problem's samples that A and B solve, one pair per problem, each between
            0 and 1; at least one.
        samples: number of samples of all problems in the run that has fewer; the number of problems
            by default.
        spread: variance of the difference, as a multiple of that which the pairs show.

    Raises:
        ValueError: there is no problem, or a share is out of range.
    """
    if not pairs:
        raise ValueError("there is no problem to compare")
    counts = Counter(pairs)
    if not all(0 <= share <= 1 for pair in counts for share in pair):
        raise ValueError("a share of samples is between 0 and 1")
    number = len(pairs)
    only_b = math.fsum(times * y * (1 - x) for (x, y), times in counts.items())
    only_a = math.fsum(times * x * (1 - y) for (x, y), times in counts.items())
    worth_each = effective_pairs(pairs, samples or number) / number / spread
    b, c = only_b * worth_each, only_a * worth_each
    exact: ExactTest | None = None
    if all(share in {0, 1} for pair in counts for share in pair):
        exact = unconditional(number)
    elif abs(only_b - only_a) > _LEAST:
        exact = sign_flip([y - x for x, y in pairs], score_of(b, c))
    return PairedTest(b, c, number * worth_each, exact)


def score_interval(
    pairs: Sequence[tuple[float, float]],
    samples: int | None = None,
    confidence: float = CONFIDENCE,
) -> PairedScore:
    """Return `paired_test` with its interval.

    Args:
        pairs: as in `paired_test`.
        samples: as in `paired_test`.
        confidence: coverage of the interval. It excludes 0 exactly where p < 1 - confidence.
    """
    return paired_test(pairs, samples).at(round(1 - confidence, 12))


def effective_pairs(pairs: Sequence[tuple[float, float]], samples: int) -> float:
    """Return the number of independent pairs the samples are worth: n* above.

    At least the number of problems, and at most the number of samples.
    """
    number = len(pairs)
    if number == 1 or samples <= number:
        return number
    differences = [y - x for x, y in pairs]
    mean = math.fsum(differences) / number
    squares = math.fsum((each - mean) ** 2 for each in differences)
    independent = math.fsum(x + y - 2 * x * y for x, y in pairs) / number - mean * mean
    if independent < _LEAST:
        return number
    if squares < _LEAST:
        return samples
    return worth(number, samples, independent, squares, CONFIDENCE)


def _low_end(b: float, c: float, number: float, squared: float, *, above_zero: bool) -> float:
    """Return the smallest difference that is not rejected.

    Args:
        b: number of pairs that only B solves.
        c: number of pairs that only A solves.
        number: number of all pairs.
        squared: square of the normal quantile.
        above_zero: whether the hypothesis of no difference is rejected, with B better.
    """
    seen = (b - c) / number
    rejected, kept = (0.0, seen) if above_zero else (-1.0, min(seen, 0.0))

    def is_kept(delta: float) -> bool:
        linear = (2 * number - b + c) * delta - b - c
        constant = c * delta * (1 - delta)
        root = math.sqrt(max(0.0, linear * linear + 8 * number * constant))
        variance = (root - linear) / 2 + number * delta * (1 - delta)
        return (b - c - number * delta) ** 2 <= squared * variance

    kept, rejected = boundary(is_kept, kept, rejected)
    return kept if above_zero else rejected


def detectable_difference(
    differences: Sequence[float], *, power: float = POWER, level: float = LEVEL
) -> float | None:
    """Return the smallest true difference that a paired test would likely find.

    Solves √P · δ = z(1 - level/2) · √ψ + z(power) · √(ψ - δ²) for δ: R. J. Connor's number of pairs
    for McNemar's test (Biometrics 43, 1987, 207-211), where ψ is the share of problems that differ.
    With several samples a problem ψ is the mean square of the differences by problem, which is
    their variance if the runs do not differ (E. Miller, Adding Error Bars to Evals,
    arXiv:2411.00640, 2024).

    ψ is estimated after adding two problems, half a flip each way. Runs that agree on all observed
    problems are thus not assumed to agree on every problem (A. Agresti & Y. Min, Statistics in
    Medicine 24, 2005, 729-740). ψ cannot be less than the difference implies: δ with one sample a
    problem, δ² with several.

    Args:
        differences: one difference per problem, between -1 and 1.
        power: probability of finding the difference.
        level: two-sided significance level of the test.

    Returns:
        Between 0 and 1; None where these problems are too few to show even a difference of 1.
    """
    if not differences:
        return None
    problems = len(differences)
    whole = all(difference in {-1, 0, 1} for difference in differences)
    differing = (math.fsum(d * d for d in differences) + 1) / (problems + 2)
    by_chance, by_power = NormalDist().inv_cdf(1 - level / 2), NormalDist().inv_cdf(power)

    def lacks(delta: float) -> bool:
        share = max(differing, delta if whole else delta * delta)
        wanted = by_chance * math.sqrt(share) + by_power * math.sqrt(
            max(0.0, share - delta * delta)
        )
        return math.sqrt(problems) * delta < wanted

    if lacks(1.0):
        return None
    return boundary(lacks, 0.0, 1.0)[1]


class Paired(BaseModel):
    """Problems each run did better on, and the test of the rates' difference.

    Attributes:
        better_a, better_b: ids of the problems that A or B solved more of.
        both, neither: numbers of problems where both runs solved all samples, or none.
        tied: number of problems both solved equally often, neither always nor never.
        rate_a, rate_b: pass@1 over the paired problems.
        low, high: interval of the difference, by `harness.stats.paired.score_interval`; None
            where there is no problem.
        detectable: result of `harness.stats.paired.detectable_difference`.
        p_value: p-value of the difference, by the same score test; below 0.05 exactly where the
            interval excludes 0.
    """

    model_config = ConfigDict(frozen=True)

    problems: int
    both: int
    neither: int
    tied: int
    better_a: tuple[str, ...]
    better_b: tuple[str, ...]
    rate_a: Rate | None
    rate_b: Rate | None
    low: float | None = None
    high: float | None = None
    detectable: float | None = None
    p_value: float

    @computed_field
    @property
    def difference(self) -> float:
        """pass@1 of B minus pass@1 of A."""
        return self.rate_b.value - self.rate_a.value if self.rate_a and self.rate_b else 0.0


def compare_counts(a: Mapping[str, Counts], b: Mapping[str, Counts]) -> Paired:
    """Compare two runs on the problems they share.

    Args:
        a: numbers of samples and of solved samples of run A, by problem id.
        b: the same of run B.
    """
    shared, pairs, samples = _shared(a, b)
    differences = [y - x for x, y in pairs]
    equal = [x for x, y in pairs if x == y]
    score = paired_test(pairs, min(samples)).at() if pairs else None
    return Paired(
        problems=len(shared),
        both=equal.count(1),
        neither=equal.count(0),
        tied=sum(0 < fraction < 1 for fraction in equal),
        better_a=tuple(p for p, gain in zip(shared, differences, strict=True) if gain < 0),
        better_b=tuple(p for p, gain in zip(shared, differences, strict=True) if gain > 0),
        rate_a=rate([x for x, _ in pairs], samples[0]),
        rate_b=rate([y for _, y in pairs], samples[1]),
        low=score.low if score else None,
        high=score.high if score else None,
        detectable=detectable_difference(differences),
        p_value=score.p_value if score else 1.0,
    )


def paired_score(a: Mapping[str, Counts], b: Mapping[str, Counts]) -> PairedTest:
    """Return the test of two runs' difference.

    Args:
        a: as in `compare_counts`.
        b: as in `compare_counts`; at least one problem is in both.
    """
    _, pairs, samples = _shared(a, b)
    return paired_test(pairs, min(samples))


def _shared(
    a: Mapping[str, Counts], b: Mapping[str, Counts]
) -> tuple[list[str], list[tuple[float, float]], tuple[int, int]]:
    """Return the problems that both have, the shares solved of each, and both runs' samples."""
    shared = [problem for problem in a if problem in b]
    counts = [[of[problem] for problem in shared] for of in (a, b)]
    pairs = [*zip(*(map(share, own) for own in counts), strict=True)]
    samples_a, samples_b = (sum(samples for samples, _ in own) for own in counts)
    return shared, pairs, (samples_a, samples_b)
