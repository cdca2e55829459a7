"""Two runs over the same problems, compared pair by pair."""

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist

from pydantic import BaseModel, ConfigDict, computed_field

from harness.stats.paired_score import CONFIDENCE, Score, score_interval
from harness.stats.rates import Rate, rate

POWER, LEVEL = 0.8, 0.05
_HALVINGS = 60


def detectable_difference(
    differences: Sequence[float], *, power: float = POWER, level: float = LEVEL
) -> float | None:
    """The smallest true difference that a paired test over so many problems would likely find.

    Solves √P · δ = z(1 - level/2) · √ψ + z(power) · √(ψ - δ²) for δ: R. J. Connor's number of
    pairs for McNemar's test (Biometrics 43, 1987, 207-211), where ψ is the share of problems that
    differ. With several samples a problem ψ is the mean square of the differences by problem, which
    is their variance where there is none between the runs (as E. Miller has it, Adding Error Bars
    to Evals, arXiv:2411.00640, 2024).

    ψ is estimated with half a flip added either way and two problems, so that runs which agree on
    all that was asked are not taken to agree on everything (A. Agresti & Y. Min, Statistics in
    Medicine 24, 2005, 729-740). It cannot be less than the difference asks for: δ with one sample a
    problem, δ² with several.

    Args:
        differences: of each problem, between -1 and 1.
        power: the chance of finding it.
        level: the test's, two-sided.

    Returns:
        Between 0 and 1; None where so few problems would not show even a difference of all.
    """
    if not differences:
        return None
    problems = len(differences)
    whole = all(difference in {-1, 0, 1} for difference in differences)
    differing = (math.fsum(d * d for d in differences) + 1) / (problems + 2)
    by_chance, found = NormalDist().inv_cdf(1 - level / 2), NormalDist().inv_cdf(power)

    def lacks(delta: float) -> bool:
        share = max(differing, delta if whole else delta * delta)
        wanted = by_chance * math.sqrt(share) + found * math.sqrt(max(0.0, share - delta * delta))
        return math.sqrt(problems) * delta < wanted

    if lacks(1.0):
        return None
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if lacks(middle) else (low, middle)
    return high


class Paired(BaseModel):
    """Which problems each run did better on, and how likely so uneven a split is by chance.

    Attributes:
        better_a, better_b: ids of the problems that A or B solved more of.
        both, neither: how many problems all samples of both solved, and no sample of either.
        tied: how many problems both solved equally often, neither always nor never.
        rate_a, rate_b: pass@1 over the paired problems.
        low, high: of the difference, by `harness.stats.paired_score.score_interval`; None where
            there is no problem.
        detectable: by `harness.stats.paired.detectable_difference`.
        p_value: of the difference, by the score test of the same; below 0.05 exactly where the
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
        """pass@1 of B less that of A."""
        return self.rate_b.value - self.rate_a.value if self.rate_a and self.rate_b else 0.0


def compare_paired(
    a: Mapping[str, float],
    b: Mapping[str, float],
    samples_a: Mapping[str, int] | None = None,
    samples_b: Mapping[str, int] | None = None,
) -> Paired:
    """Compare two runs on the problems they share.

    Args:
        a: the fraction of samples that run A solved, by problem id.
        b: the same of run B.
        samples_a: how many samples A has of a problem; one where it is not given.
        samples_b: the same of B.
    """
    shared = [problem for problem in a if problem in b]
    better_a = tuple(problem for problem in shared if a[problem] > b[problem])
    better_b = tuple(problem for problem in shared if b[problem] > a[problem])
    differences = [b[problem] - a[problem] for problem in shared]
    score = paired_score(a, b, samples_a, samples_b) if shared else None
    equal = [a[problem] for problem in shared if a[problem] == b[problem]]
    return Paired(
        problems=len(shared),
        both=equal.count(1),
        neither=equal.count(0),
        tied=sum(0 < fraction < 1 for fraction in equal),
        better_a=better_a,
        better_b=better_b,
        rate_a=_rate(a, samples_a, shared),
        rate_b=_rate(b, samples_b, shared),
        low=score.low if score else None,
        high=score.high if score else None,
        detectable=detectable_difference(differences),
        p_value=score.p_value if score else 1.0,
    )


def paired_score(
    a: Mapping[str, float],
    b: Mapping[str, float],
    samples_a: Mapping[str, int] | None = None,
    samples_b: Mapping[str, int] | None = None,
    confidence: float = CONFIDENCE,
) -> Score:
    """Return the difference of two runs on the problems they share, its interval and its p-value.

    Args:
        a: the fraction of samples that run A solved, by problem id.
        b: the same of run B; at least one problem is in both.
        samples_a: how many samples A has of a problem; one where it is not given.
        samples_b: the same of B.
        confidence: of the interval.
    """
    shared = [problem for problem in a if problem in b]
    numbers = [
        sum(map(of.__getitem__, shared)) if of else len(shared) for of in (samples_a, samples_b)
    ]
    return score_interval([(a[p], b[p]) for p in shared], min(numbers), confidence)


def corrected_confidence(p_value: float, p_holm: float) -> float:
    """Return the confidence at which an interval agrees with a p-value that is corrected by `holm`.

    The corrected test is p < 0.05 · p / p_holm; its interval is that of the same level, which
    excludes 0 exactly where p_holm < 0.05. It is as wide as 95 % where nothing is corrected, and at
    most as wide as Bonferroni's.
    """
    return 1 - (1 - CONFIDENCE) * (p_value / p_holm if p_holm else 1.0)


def _rate(
    fractions: Mapping[str, float], samples: Mapping[str, int] | None, shared: Sequence[str]
) -> Rate | None:
    counted = None if samples is None else sum(map(samples.__getitem__, shared))
    return rate([fractions[problem] for problem in shared], counted)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given.

    With the m p-values in rising order, p₍₁₎ ≤ … ≤ p₍ₘ₎, the adjusted one of the i-th is
    min(1, max over j ≤ i of (m - j + 1) · p₍ⱼ₎). Whoever takes for real what has at most 0.05 is
    wrong in even one of all these tests with a probability of at most 0.05, whatever the tests have
    to do with each other (S. Holm, "A simple sequentially rejective multiple test procedure",
    Scandinavian Journal of Statistics 6, 1979, 65-70).

    Args:
        p_values: of all the tests that are made, each between 0 and 1.

    Raises:
        ValueError: one is no probability.
    """
    if not all(0 <= p <= 1 for p in p_values):
        raise ValueError("a p-value is a number between 0 and 1")
    adjusted = [math.nan] * len(p_values)
    least = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, (len(p_values) - rank) * p_values[index])
        adjusted[index] = min(1.0, least)
    return adjusted
