"""The score test and its interval: one cannot contradict the other."""

import math
import random

import pytest
from for_each import for_each
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.stats.exact_tests import Unconditional
from harness.stats.paired import effective_pairs, score_interval

Z2 = 1.959963984540054**2


def tango(b: int, c: int, n: int, delta: float) -> float:
    """T² of Tango's paper, by its closed form."""
    linear = -b - c + (2 * n - b + c) * delta
    constant = -c * delta * (1 - delta)
    share = (math.sqrt(max(0.0, linear * linear - 8 * n * constant)) - linear) / (4 * n)
    variance = n * (2 * share + delta * (1 - delta))
    return (b - c - n * delta) ** 2 / variance


def one_each(b: int, c: int, n: int) -> list[tuple[float, float]]:
    """One sample a problem: B alone solves b, A alone c."""
    return [(0.0, 1.0)] * b + [(1.0, 0.0)] * c + [(1.0, 1.0)] * (n - b - c)


@for_each(
    ("b", "c", "n"), [(0, 0, 10), (4, 0, 10), (7, 1, 20), (1, 7, 50), (9, 2, 44), (30, 5, 200)]
)
def test_score_interval_of_one_sample_a_problem_is_tangos_with_the_exact_critical_score(
    b: int, c: int, n: int
) -> None:
    interval = score_interval(one_each(b, c, n))
    critical = max(Z2, Unconditional(n).critical(0.05) ** 2)
    assert tango(b, c, n, interval.low) == pytest.approx(critical, rel=1e-6)
    assert tango(b, c, n, interval.high) == pytest.approx(critical, rel=1e-6)
    assert interval.low < interval.difference < interval.high


@for_each(("b", "c"), [(4, 0), (7, 1), (3, 9), (100, 70)])
def test_its_p_value_is_that_of_the_exact_test_but_not_below_mcnemars(b: int, c: int) -> None:
    interval = score_interval(one_each(b, c, 200))
    chi = abs(b - c) / math.sqrt(b + c)
    plain = math.erfc(chi / math.sqrt(2))
    assert interval.p_value == max(plain, Unconditional(200).p_value(chi))
    assert plain <= interval.p_value < 1.15 * plain + 0.002


def test_four_problems_of_five_are_not_significant() -> None:
    assert score_interval(one_each(4, 0, 5)).p_value > 0.05
    assert score_interval(one_each(4, 0, 20)).p_value > 0.05


share = st.integers(0, 5).map(lambda number: number / 5)
several = st.lists(st.tuples(share, share), min_size=1, max_size=40)
single = st.lists(st.sampled_from([(0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]), min_size=1, max_size=40)


@settings(deadline=None)
@given(several | single, st.sampled_from([1, 5]))
def test_the_interval_excludes_0_exactly_where_p_is_below_a_twentieth(
    pairs: list[tuple[float, float]], samples: int
) -> None:
    interval = score_interval(pairs, samples * len(pairs))
    assert (interval.p_value < 0.05) is not (interval.low <= 0 <= interval.high)
    assert -1 <= interval.low <= interval.difference <= interval.high <= 1
    turned = score_interval([(y, x) for x, y in pairs], samples * len(pairs))
    assert (-turned.high, -turned.low) == pytest.approx((interval.low, interval.high), abs=1e-9)
    assert turned.p_value == pytest.approx(interval.p_value, rel=1e-9)


@settings(deadline=None)
@given(several)
def test_samples_of_a_problem_are_worth_no_less_than_one_and_no_more_than_all(
    pairs: list[tuple[float, float]],
) -> None:
    assert len(pairs) <= effective_pairs(pairs, 5 * len(pairs)) <= 5 * len(pairs)
    assert effective_pairs(pairs, len(pairs)) == len(pairs)


def test_samples_that_are_all_alike_are_worth_one() -> None:
    pairs = one_each(6, 2, 20)
    assert score_interval(pairs, 100) == score_interval(pairs)


def test_independent_samples_are_worth_about_as_many_as_they_are() -> None:
    draw = random.Random(0)
    pairs = [
        (sum(draw.random() < 0.5 for _ in range(10)) / 10, draw.randint(0, 10) / 10)
        for _ in range(50)
    ]
    alike = [(x, sum(draw.random() < 0.5 for _ in range(10)) / 10) for x, _ in pairs]
    assert effective_pairs(alike, 500) > 350
    assert effective_pairs(pairs, 500) < 350  # B's chance varies from problem to problem


def test_the_order_of_the_problems_does_not_matter() -> None:
    pairs = [(0.2, 0.4), (1.0, 0.4), (0.1, 0.2), (0.0, 1.0), (0.6, 0.6), (0.3, 0.7)] * 5
    shuffled = random.Random(0).sample(pairs, len(pairs))
    assert score_interval(pairs, 300) == score_interval(shuffled, 300)


def test_runs_that_agree_on_few_problems_may_still_differ() -> None:
    interval = score_interval([(1.0, 1.0)] * 10)
    assert interval.p_value == 1
    squared = Unconditional(10).critical(0.05) ** 2
    assert interval.high == -interval.low == pytest.approx(squared / (10 + squared))


@for_each("pairs", [[], [(0.0, 1.5)]])
def test_what_is_no_pair_of_shares_is_refused(pairs: list[tuple[float, float]]) -> None:
    with pytest.raises(ValueError, match=r"problem|between 0 and 1"):
        score_interval(pairs)
