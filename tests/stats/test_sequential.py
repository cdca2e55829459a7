"""The e-value and the interval that may be looked at as often as one likes."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from for_each import for_each

from harness.stats.sequential import LEVEL, STAKES, evidence, log_e_value

DRAWS, PROBLEMS = 2_000, 120
BOUND = -math.log(LEVEL)


def table(most: int) -> np.ndarray:
    """The logarithm of the e-value by how many pairs favour each variant."""
    log_e = np.empty((most + 1, most + 1))
    for gained in range(most + 1):
        for lost in range(most + 1):
            log_e[gained, lost] = log_e_value({1.0: gained, -1.0: lost})
    return log_e


def test_e_value_of_one_sample_a_problem_is_the_mixture_over_the_stakes() -> None:
    """Written out with fractions: the sum over all stakes of their weight times their product."""
    stakes = [Fraction(2 * place + 1, 2 * STAKES) for place in range(STAKES)]
    stakes += [-stake for stake in stakes]
    weights = [(1 - stake * stake) ** 2 for stake in stakes]
    won = [(1 + stake) ** 7 * (1 - stake) ** 3 for stake in stakes]
    wanted = sum(w * x for w, x in zip(weights, won, strict=True)) / sum(weights)
    estimate = evidence([1] * 7 + [-1] * 3 + [0] * 40)
    assert estimate.e_value == pytest.approx(float(wanted))
    beta = math.gamma(10) * math.gamma(6) / math.gamma(16)  # B(7 + 3, 3 + 3)
    mixture = 2**10 * beta / (math.gamma(3) ** 2 / math.gamma(6))
    assert estimate.e_value == pytest.approx(mixture, rel=1e-3), "the beta-binomial mixture"


def test_the_order_of_the_pairs_and_those_that_agree_change_no_e_value() -> None:
    some = [1.0, -1.0, 1.0, 0.5, 1.0]
    assert evidence(some).e_value == pytest.approx(evidence(some[::-1] + [0.0] * 9).e_value)


@for_each("gained", range(0, 26, 3))
@for_each("lost", [0, 2, 8])
def test_zero_is_outside_of_the_interval_exactly_when_the_e_value_decides(
    gained: int, lost: int
) -> None:
    estimate = evidence([1] * gained + [-1] * lost + [0] * 15)
    assert (estimate.low > 0 or estimate.high < 0) == (estimate.e_value >= 1 / LEVEL)
    assert estimate.low <= estimate.difference <= estimate.high


def test_the_interval_ends_where_the_e_value_reaches_its_bound() -> None:
    differences = [1, 1, 1, 0.5, 0, 0, -0.25, -1, 1, 0, 1, 0.5]
    estimate, tallies = evidence(differences), Counter(differences)
    assert log_e_value(tallies, estimate.low) == pytest.approx(BOUND, abs=1e-6)
    assert log_e_value(tallies, estimate.high) == pytest.approx(BOUND, abs=1e-6)
    means = np.linspace(-0.99, 0.99, 199)
    inside = [log_e_value(tallies, mean) < BOUND for mean in means]
    assert inside == [estimate.low < mean < estimate.high for mean in means], "one interval"


def test_the_sequential_interval_is_as_wide_for_either_sign() -> None:
    one, other = evidence([1, 1, 0.5, 0, -1, 1]), evidence([-1, -1, -0.5, 0, 1, -1])
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))


def test_evidence_without_pairs_knows_nothing() -> None:
    assert evidence([]) == (0, 0, -1, 1, 1)
    assert evidence([1] * 400).high == 1
    assert evidence([1] * 400).low > 0.9


def test_what_is_no_difference_of_shares_is_refused() -> None:
    with pytest.raises(ValueError, match="between -1 and 1"):
        evidence([1.5])


@for_each(("gained", "lost"), [(0.02, 0.02), (0.1, 0.1), (0.25, 0.25), (0.5, 0.5)])
def test_looking_after_every_pair_errs_in_one_of_twenty_experiments_at_most(
    gained: float, lost: float
) -> None:
    drawn = np.random.default_rng(7).random((DRAWS, PROBLEMS))
    won = np.cumsum(drawn < gained, axis=1)
    lost_ = np.cumsum((drawn >= gained) & (drawn < gained + lost), axis=1)
    e_values = table(int(max(won.max(), lost_.max())))[won, lost_]
    errors = (e_values >= BOUND).any(axis=1).mean()
    assert errors <= LEVEL


@pytest.mark.thorough
@pytest.mark.parametrize("mean", [0.0, 0.2])
def test_the_interval_holds_the_mean_at_all_looks_together(mean: float) -> None:
    """With several samples a problem; the mean is outside when its own e-value is too large."""
    random = np.random.default_rng(3)
    values = np.array([-1, -0.5, 0, 0.5, 1])
    shares = np.array([0.1, 0.1, 0.5, 0.1, 0.2])
    shares = np.array([0.15, 0.1, 0.5, 0.1, 0.15]) if mean == 0 else shares
    missed = 0
    draws = 300
    centre = float(values @ shares)
    for _ in range(draws):
        drawn = random.choice(values, size=120, p=shares)
        looks = (Counter(map(float, drawn[:size])) for size in range(4, 121, 4))
        missed += any(log_e_value(tallies, centre) >= BOUND for tallies in looks)
    assert missed / draws <= LEVEL
