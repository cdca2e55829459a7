"""Two runs over the same problems, compared pair by pair."""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict, computed_field

from harness.stats.bootstrap import mean_interval
from harness.stats.power import detectable_difference
from harness.stats.rates import Rate, rate
from harness.stats.sign_flip import sign_flip_test


class Paired(BaseModel):
    """Which problems each run did better on, and how likely so uneven a split is by chance.

    Attributes:
        better_a, better_b: ids of the problems that A or B solved more of.
        both, neither: how many problems all samples of both solved, and no sample of either.
        tied: how many problems both solved equally often, neither always nor never.
        rate_a, rate_b: pass@1 over the paired problems.
        low, high: of the difference, by `harness.stats.bootstrap.mean_interval`; None where there
            is no problem.
        detectable: by `harness.stats.power.detectable_difference`.
        p_value: of the difference, by `harness.stats.sign_flip.sign_flip_test`; exact McNemar where
            both have one sample a problem.
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
    low, high = mean_interval(differences) if shared else (None, None)
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
        low=low,
        high=high,
        detectable=detectable_difference(differences),
        p_value=p_value_of(differences),
    )


def p_value_of(differences: Sequence[float]) -> float:
    """The p-value of a mean difference over problems, whose sign is the one that is tested.

    Args:
        differences: of the shares of samples solved, by problem.
    """
    if all(difference in {-1, 0, 1} for difference in differences):
        return mcnemar_exact(differences.count(-1), differences.count(1))
    return sign_flip_test(differences)


def _rate(
    fractions: Mapping[str, float], samples: Mapping[str, int] | None, shared: Sequence[str]
) -> Rate | None:
    counted = None if samples is None else sum(samples[problem] for problem in shared)
    return rate([fractions[problem] for problem in shared], counted)


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """The two-sided p-value of McNemar's test by the binomial distribution, without approximation.

    Under the null hypothesis each discordant pair falls to either side with probability 1/2:
    p = min(1, 2 · P(X ≤ min(b, c))), X ~ Binomial(b + c, 1/2) (Q. McNemar, Psychometrika 12, 1947;
    the exact form is the sign test on the discordant pairs).
    """
    discordant = only_a + only_b
    ways = tail = 1  # of so many pairs, k fell to the rarer side; each from the one before
    for k in range(min(only_a, only_b)):
        ways = ways * (discordant - k) // (k + 1)
        tail += ways
    return min(1.0, 2 * tail / 2**discordant)
