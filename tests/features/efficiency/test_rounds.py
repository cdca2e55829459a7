"""The mean of batches and its interval, by simulation and by hand."""

import math
import random
from statistics import fmean, stdev

import pytest
from for_each import for_each
from scipy.special import stdtrit

from harness.features.efficiency.paired_timing import mean_of_rounds


def test_the_interval_with_one_anchor_is_student_s() -> None:
    values = [0.1, 0.12, 0.09, 0.13, 0.11, 0.1, 0.08]
    mean = mean_of_rounds([[each] for each in values])
    half = stdtrit(len(values) - 1, 0.975) * stdev(values) / math.sqrt(len(values))
    exact = (fmean(values) - half, fmean(values) + half)
    assert (mean.low, mean.high) == pytest.approx(exact, rel=0.001)


def test_an_anchor_s_error_does_not_widen_the_interval() -> None:
    rounds = [[0.1, 0.12], [0.12, 0.1], [0.11, 0.11]]
    apart = [[one - 1, other + 1] for one, other in rounds]
    alike, shifted_mean = mean_of_rounds(rounds), mean_of_rounds(apart)
    assert shifted_mean.value == pytest.approx(alike.value)
    assert shifted_mean.half_width == pytest.approx(alike.half_width)


@for_each("shape", [(2, 3), (4, 2), (8, 1)])
def test_the_interval_of_rounds_holds_the_mean_as_often_as_it_says(shape: tuple[int, int]) -> None:
    draw = random.Random(1).gauss
    rounds, anchors = shape
    offsets = [0.02, -0.02, 0.0] if anchors == 3 else [0.0] * anchors
    held = 0
    for _ in range(2_000):
        mean = mean_of_rounds(
            [[draw(1.0 + offset, 0.01) for offset in offsets] for _ in range(rounds)]
        )
        held += mean.low <= 1.0 <= mean.high
    assert held / 2_000 == pytest.approx(0.95, abs=0.02)
