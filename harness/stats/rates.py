"""Rates of success over problems: means over problems, and their intervals."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import NormalDist

from pydantic import BaseModel, ConfigDict

RESAMPLES = 10_000
SEED = 0


class Rate(BaseModel):
    """Rate over problems with its 95 % interval.

    Attributes:
        value: the rate, between 0 and 1.
        problems: number of problems.
        low, high: ends of Wilson's interval; of that of `clustered` with several samples a problem.
    """

    model_config = ConfigDict(frozen=True)

    value: float
    problems: int
    low: float
    high: float


def rate(fractions: Sequence[float], samples: int | None = None) -> Rate | None:
    """Return pass@1: the mean over problems of the fraction of solved samples.

    With one sample a problem its interval is Wilson's; with several it is `clustered`.

    Args:
        fractions: one fraction per problem.
        samples: number of samples of all problems together; the number of problems by default.

    Returns:
        None when there is no problem, which is not a rate of zero.
    """
    if not fractions:
        return None
    value = math.fsum(fractions) / len(fractions)
    low, high = clustered(fractions, samples or len(fractions))
    return Rate(value=value, problems=len(fractions), low=low, high=high)


def rate_by_problem(values: Iterable[tuple[str, float]]) -> Rate | None:
    """Return `rate` of samples, given as problem id and a value between 0 and 1."""
    pairs = list(values)
    return rate([*mean_by_problem(pairs).values()], len(pairs))


def wilson(value: float, count: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion.

    With z the normal quantile (E. B. Wilson, JASA 22, 1927, 209-212):
    (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n).

    Args:
        value: the proportion p, between 0 and 1.
        count: number of trials n, at least 1; an effective number need not be whole.
        confidence: coverage of the interval.
    """
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    centre = value + z * z / (2 * count)
    spread = z * math.sqrt(value * (1 - value) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def clustered(
    fractions: Sequence[float], samples: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Return Wilson's interval with the effective number of trials.

    Samples of one problem are correlated: N samples of P problems say more than P trials, and less
    than N. The effective number of trials follows from the variance of the problems' fractions x
    (L. Kish, Survey Sampling, 1965): n* = p(1-p) / (s²/P) with s² their sample variance. It is
    multiplied by (z / t)² because s² is an estimate, with t of P - 1 degrees of freedom (E. L. Korn
    & B. I. Graubard, Survey Methodology 24, 1998, 193-201). n* replaces n in Wilson's interval (N.
    Dean & M. Pagano, Journal of Survey Statistics and Methodology 3, 2015, 484-503). It is at least
    P, its value if all samples of a problem are alike, and at most N. With one sample a problem it
    is P, which gives Wilson's own interval. `tests/benchmarks/intervals.py` measures the coverage.

    Args:
        fractions: fraction x of each problem, between 0 and 1; at least one.
        samples: number of samples N of all problems.
        confidence: coverage of the interval.
    """
    return wilson(
        min(1.0, math.fsum(fractions) / len(fractions)),
        effective_trials(fractions, samples, confidence),
        confidence,
    )


def effective_trials(fractions: Sequence[float], samples: int, confidence: float = 0.95) -> float:
    """Return n* of `clustered`: the number of independent trials the samples are worth."""
    problems = len(fractions)
    mean = math.fsum(fractions) / problems
    if problems == 1 or samples <= problems or not 0 < mean < 1:
        return problems
    squares = math.fsum((fraction - mean) ** 2 for fraction in fractions)
    return worth(problems, samples, mean * (1 - mean), squares, confidence) if squares else samples


def worth(
    problems: int, samples: int, independent: float, squares: float, confidence: float
) -> float:
    """Return how many independent trials, or pairs, samples of some problems are worth.

    Args:
        problems: number of problems: the least that they are worth.
        samples: number of samples: the most.
        independent: variance of one independent trial.
        squares: sum of the squared deviations of the problems' values from their mean.
        confidence: coverage of the interval that they are for.
    """
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    doubt = (z / student_quantile(0.5 + confidence / 2, problems - 1)) ** 2
    variance = independent * problems * (problems - 1) / squares * doubt
    return min(samples, max(problems, variance))


def boundary(
    holds: Callable[[float], bool], inside: float, outside: float, halvings: int = 60
) -> tuple[float, float]:
    """Narrow the range between a value for which something holds and one for which it does not.

    Returns:
        The last value for which it holds, and the last for which it does not.
    """
    for _ in range(halvings):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside, outside


def student_quantile(share: float, freedom: int) -> float:
    """Return a quantile of Student's t, for shares from 0.5 to 0.995.

    Exact for one and two degrees of freedom. From three on it is the Cornish-Fisher expansion in
    the normal quantile z (M. Abramowitz & I. A. Stegun, Handbook, 1964, 26.7.5), accurate to 2 %
    for three and 0.1 % from six on. This avoids importing scipy, which is slow to load.
    """
    if freedom == 1:
        return math.tan(math.pi * (share - 0.5))
    if freedom == 2:  # noqa: PLR2004 - as above
        return (2 * share - 1) * math.sqrt(2 / (4 * share * (1 - share)))
    z = NormalDist().inv_cdf(share)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
    )
    return z + math.fsum(term / freedom**power for power, term in enumerate(terms, 1))


def mean_interval(
    values: Sequence[float],
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[float, float]:
    """Return the expanded percentile bootstrap interval of a mean.

    Values are drawn again with replacement, as many as there are. The interval ends are quantiles
    of the means of these resamples (B. Efron, Annals of Statistics 7, 1979, 1-26). The quantiles (1
    - confidence) / 2 at either end would make it too narrow for few values; `tail_share` gives
    wider ones. A value is the mean over one problem's samples: problems are drawn, each together
    with its samples (A. C. Davison & D. V. Hinkley, Bootstrap Methods and their Application, 1997,
    section 3.8). For a difference of two runs the values are the differences by problem, so that
    the pairs are kept.

    The number of times each distinct value is drawn is multinomial. Drawing these numbers is
    equivalent to drawing the values, and faster. The result depends only on the values and the
    seed, not on the order of the problems. The interval of the negated values is the negated one.

    Args:
        values: one value per problem; at least one.
        confidence: coverage of the interval.
        resamples: number of means to draw.
        seed: seed of the random generator.
    """
    import numpy as np

    tallies = sorted(Counter(map(exact, values)).items())
    mirrored = [(exact(-value), number) for value, number in reversed(tallies)]
    if mirrored > tallies:  # of the two, the same one is drawn from
        low, high = mean_interval(
            [-value for value in values], confidence=confidence, resamples=resamples, seed=seed
        )
        return exact(-high), exact(-low)
    levels = np.array([value for value, _ in tallies])
    if len(levels) == 1:
        return tallies[0][0], tallies[0][0]
    shares = np.array([number for _, number in tallies]) / len(values)
    drawn = np.random.default_rng(seed).multinomial(len(values), shares, size=resamples)
    means = drawn @ levels / len(values)
    tail = tail_share(len(values), confidence)
    low, high = np.quantile(means, (tail, 1 - tail))
    if mirrored == tallies:  # a mean can be drawn exactly as likely as its negative
        high = (high - low) / 2
        low = -high
    return exact(low), exact(high)


def tail_share(count: int, confidence: float = 0.95) -> float:
    """Return the share of a bootstrap distribution to cut off at either end.

    It is Φ(-√(n / (n-1)) · t) instead of (1 - confidence) / 2, with t the quantile of Student's t
    with n - 1 degrees of freedom. The reason: the bootstrap distribution of the mean of n values is
    too narrow by √((n-1) / n), and its tails are those of the normal distribution (T. C.
    Hesterberg, The American Statistician 69, 2015, 371-386).

    Args:
        count: number of values n, at least 2.
        confidence: coverage of the interval.
    """
    t = student_quantile(0.5 + confidence / 2, count - 1)
    return NormalDist().cdf(-math.sqrt(count / (count - 1)) * t)


def exact(value: float) -> float:
    """Round off the last digits, which depend on the order of a sum, and turn -0 into 0."""
    return round(float(value), 12) + 0.0


def mean_by_problem(values: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return the mean of a value over each problem's samples.

    Args:
        values: problem id and value of each sample.
    """
    pairs = list(values)
    by_problem = dict(pairs)
    if len(by_problem) == len(pairs):  # one sample a problem
        return by_problem
    values_of: dict[str, list[float]] = defaultdict(list)
    for problem, value in pairs:
        values_of[problem].append(value)
    return {problem: math.fsum(samples) / len(samples) for problem, samples in values_of.items()}


def solved_per(solved: int, spent: float | None, unit: float = 1.0) -> float | None:
    """Return the solved samples per amount spent: unit · solved / spent.

    Args:
        solved: number of solved samples.
        spent: amount spent on all samples, failed ones included; None where it is unknown.
        unit: amount to which the result refers: 1,000 for solved samples per 1,000 tokens.

    Returns:
        None where the amount is unknown or 0.
    """
    return unit * solved / spent if spent else None
