"""The interval of a mean by drawing problems again, against scipy's and the exact distribution."""

import math
from itertools import product

import pytest
from for_each import for_each
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.stats.rates import mean_interval, tail_share

np = pytest.importorskip("numpy")
scipy_stats = pytest.importorskip("scipy.stats")

VALUES = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 1 / 3, 1.0]), min_size=1, max_size=40)


@for_each("spread", [[-1, 0, 0, 1, 1], [-0.3, 0.1, 0.25, 0.7]])
@for_each("times", [4, 30])
def test_mean_interval_is_scipy_s_percentile_interval_cut_further_out(
    spread: list[float], times: int
) -> None:
    values = spread * times
    interval = mean_interval(values)
    theirs = scipy_stats.bootstrap(
        (np.array(values),),
        np.mean,
        n_resamples=20_000,
        confidence_level=1 - 2 * tail_share(len(values)),
        method="percentile",
        rng=np.random.default_rng(7),
    ).confidence_interval
    width = theirs.high - theirs.low
    assert interval == pytest.approx((theirs.low, theirs.high), abs=0.06 * width)


def test_mean_interval_of_few_values_is_that_of_all_draws() -> None:
    values = (-1.0, 0.0, 0.0, 1.0, 1.0, 1.0)
    means = [math.fsum(drawn) / 6 for drawn in product(values, repeat=6)]
    tail = tail_share(6)
    low, high = np.quantile(means, (tail, 1 - tail))
    assert mean_interval(values, resamples=200_000) == pytest.approx((low, high), abs=0.17)
    assert tail < 0.025


@for_each("count", [2, 5, 30, 1_000])
def test_the_tail_is_that_of_students_t(count: int) -> None:
    t = scipy_stats.t(count - 1).ppf(0.975)
    expected = scipy_stats.norm.cdf(-math.sqrt(count / (count - 1)) * t)
    assert tail_share(count) == pytest.approx(expected, rel=0.02, abs=1e-9)
    assert tail_share(count) < 0.025


@given(VALUES, st.randoms())
@settings(max_examples=30)
def test_the_order_of_problems_does_not_matter(values: list[float], random: object) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert mean_interval(values, resamples=500) == mean_interval(shuffled, resamples=500)


@given(VALUES)
@example([-1.0, -1.0, -1.0, -1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0])
@settings(max_examples=30)
def test_the_interval_of_the_negated_values_is_the_negated_one(values: list[float]) -> None:
    low, high = mean_interval(values, resamples=500)
    mirrored = mean_interval([-value for value in values], resamples=500)
    assert mirrored == pytest.approx((-high, -low))


@given(VALUES)
@settings(max_examples=30)
def test_mean_interval_lies_within_the_values_and_holds_the_mean(values: list[float]) -> None:
    low, high = mean_interval(values, resamples=2_000)
    mean = math.fsum(values) / len(values)
    assert min(values) - 1e-9 <= low <= mean + 1e-9
    assert mean - 1e-9 <= high <= max(values) + 1e-9


def test_mean_interval_depends_on_the_seed_alone() -> None:
    values = [-1, 0, 0, 1, 1] * 9
    assert mean_interval(values, resamples=50) == mean_interval(values, resamples=50)
    assert mean_interval(values, resamples=50) != mean_interval(values, resamples=50, seed=1)


@for_each("value", [0.0, -0.0, 0.25])
def test_mean_interval_of_equal_values_is_that_value(value: float) -> None:
    assert mean_interval([value] * 3) == (value, value)
    assert math.copysign(1, mean_interval([value] * 3)[0]) == 1


def test_mean_interval_widens_with_confidence() -> None:
    values = [-1, 0, 0, 1, 1] * 9
    low, high = mean_interval(values, confidence=0.99)
    inner_low, inner_high = mean_interval(values, confidence=0.8)
    assert low < inner_low < inner_high < high
