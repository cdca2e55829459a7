"""Paired comparison of two runs over the same problems."""

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
    """Problems each run did better on, and the test of the rates' difference.

    Attributes:
        better_a, better_b: ids of the problems that A or B solved more of.
        both, neither: numbers of problems where both runs solved all samples, or none.
        tied: number of problems both solved equally often, neither always nor never.
        rate_a, rate_b: pass@1 over the paired problems.
        low, high: interval of the difference, by `harness.stats.paired_score.score_interval`; None
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


def compare_paired(
    a: Mapping[str, float],
    b: Mapping[str, float],
    samples_a: Mapping[str, int] | None = None,
    samples_b: Mapping[str, int] | None = None,
) -> Paired:
    """Compare two runs on the problems they share.

    Args:
        a: fraction of samples that run A solved, by problem id.
        b: fraction of samples that run B solved, by problem id.
        samples_a: number of A's samples by problem id; 1 for every problem by default.
        samples_b: number of B's samples by problem id; 1 for every problem by default.
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
    """Return the difference of two runs, its interval and its p-value.

    Args:
        a: fraction of samples that run A solved, by problem id.
        b: fraction of samples that run B solved, by problem id; at least one problem is in both.
        samples_a: number of A's samples by problem id; 1 for every problem by default.
        samples_b: number of B's samples by problem id; 1 for every problem by default.
        confidence: coverage of the interval.
    """
    shared = [problem for problem in a if problem in b]
    numbers = [
        sum(map(of.__getitem__, shared)) if of else len(shared) for of in (samples_a, samples_b)
    ]
    return score_interval([(a[p], b[p]) for p in shared], min(numbers), confidence)


def corrected_confidence(p_value: float, p_holm: float) -> float:
    """Return the confidence of the interval that agrees with a p-value of `holm`.

    The corrected test is p < 0.05 · p / p_holm. The interval of that level excludes 0 exactly where
    p_holm < 0.05. Its confidence is 95 % where nothing is corrected, and at most Bonferroni's.
    """
    return 1 - (1 - CONFIDENCE) * (p_value / p_holm if p_holm else 1.0)


def _rate(
    fractions: Mapping[str, float], samples: Mapping[str, int] | None, shared: Sequence[str]
) -> Rate | None:
    counted = None if samples is None else sum(map(samples.__getitem__, shared))
    return rate([fractions[problem] for problem in shared], counted)


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
