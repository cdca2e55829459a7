"""Rates and their intervals, against scipy's."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats.rates import rate, wilson

binomtest = pytest.importorskip("scipy.stats").binomtest

COUNTS = st.integers(1, 5_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS, st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_wilson_is_scipys(counts: tuple[int, int], confidence: float) -> None:
    solved, n = counts
    theirs = binomtest(solved, n).proportion_ci(confidence, method="wilson")
    assert wilson(solved / n, n, confidence) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@given(COUNTS)
def test_an_interval_lies_around_its_rate_within_bounds(counts: tuple[int, int]) -> None:
    solved, n = counts
    low, high = wilson(solved / n, n)
    assert 0 <= low <= solved / n + 1e-12
    assert solved / n - 1e-12 <= high <= 1
    assert high - low > 0


def test_a_known_interval() -> None:
    # 10 of 20 at 95 %: centre 0.5, half-width z·√(0.25/20 + z²/1600)/(1 + z²/20), z = 1.959964
    assert wilson(0.5, 20) == pytest.approx((0.29929, 0.70071), abs=1e-5)


def test_no_problem_has_no_rate() -> None:
    assert rate([]) is None


@given(st.lists(st.booleans(), min_size=1, max_size=200))
def test_with_one_sample_a_problem_the_rate_is_a_proportion(solved: list[bool]) -> None:
    found = rate([float(value) for value in solved])
    assert found is not None
    assert found.value == pytest.approx(sum(solved) / len(solved))
    assert found.problems == len(solved)
    assert (found.low, found.high) == pytest.approx(wilson(found.value, len(solved)))


def test_problems_count_alike_whatever_their_samples() -> None:
    found = rate([1.0, 0.0, 0.25, 0.75])
    assert found is not None
    assert (found.value, found.problems) == (0.5, 4)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.randoms())
def test_the_order_of_problems_does_not_matter(fractions: list[float], random: Random) -> None:
    shuffled = list(fractions)
    random.shuffle(shuffled)
    assert rate(fractions) == rate(shuffled)
