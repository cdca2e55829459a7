"""The median's interval, against the binomial distribution and by simulation."""

import random
from statistics import median

import pytest
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import bdtr

from harness.features.efficiency.paired_timing import middle


@for_each("count", [6, 7, 10, 20, 29, 30, 60])
def test_the_interval_is_the_narrowest_by_order_statistics_that_covers(count: int) -> None:
    median = middle(range(1, count + 1))
    rank = int(median.low)  # the k-th smallest is k here
    assert median.high == count + 1 - rank

    def covered(k: int) -> float:
        return float(1 - 2 * bdtr(k - 1, count, 0.5))

    assert covered(rank) >= 0.95
    if count <= 30:  # beyond, it may be a rank wider
        assert covered(rank + 1) < 0.95


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_the_median_lies_in_its_interval(values: list[float]) -> None:
    interval = middle(values)
    assert interval.value == median(values)
    assert min(values) <= interval.low <= interval.value <= interval.high <= max(values)


def test_few_values_have_the_widest_median_interval() -> None:
    assert (middle([3, 1, 2]).low, middle([3, 1, 2]).high) == (1, 3)
    with pytest.raises(ValueError, match="no median"):
        middle([])


@for_each("count", [12, 48])
def test_the_median_interval_covers_the_median_as_often_as_it_says(count: int) -> None:
    # Skewed, as times are: the median of exp(N(0, 1)) is 1.
    chance = random.Random(7)
    held = 0
    for _ in range(1_000):
        median = middle([chance.lognormvariate(0, 1) for _ in range(count)])
        held += median.low <= 1 <= median.high
    assert held >= 930


def test_the_half_width_is_the_larger_half() -> None:
    median = middle([1.0, 1.0, 1.0, 2.0, 5.0, 9.0])
    assert median.half_width == median.high - median.value == pytest.approx(7.5)
