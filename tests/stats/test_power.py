"""The smallest difference that so many problems would show."""

import math

import pytest
from for_each import for_each

from harness.stats.paired import detectable_difference

special = pytest.importorskip("scipy.special")
np = pytest.importorskip("numpy")


def flips(problems: int, flipped: int) -> list[float]:
    half = flipped // 2
    return [1.0] * half + [-1.0] * (flipped - half) + [0.0] * (problems - flipped)


@for_each(("problems", "flipped"), [(100, 30), (300, 60), (1_000, 100), (50, 25)])
@for_each("power", [0.8, 0.9])
def test_detectable_difference_needs_as_many_problems_as_connor_s_formula(
    problems: int, flipped: int, power: float
) -> None:
    delta = detectable_difference(flips(problems, flipped), power=power)
    assert delta is not None
    share = (flipped + 1) / (problems + 2)
    z, beta = special.ndtri([0.975, power])
    wanted = (z * math.sqrt(share) + beta * math.sqrt(share - delta**2)) ** 2 / delta**2
    assert wanted == pytest.approx(problems, rel=1e-6)


@for_each(("problems", "flipped"), [(60, 20), (200, 40), (1_000, 300)])
def test_a_difference_of_that_size_is_found_four_times_of_five(problems: int, flipped: int) -> None:
    delta = detectable_difference(flips(problems, flipped))
    assert delta is not None
    share = max((flipped + 1) / (problems + 2), delta)
    chances = (share + delta) / 2, (share - delta) / 2, 1 - share
    drawn = np.random.default_rng(3).multinomial(problems, chances, size=2_000)
    power = sum((b - c) / math.sqrt(max(1, b + c)) > 1.959964 for b, c, _ in drawn) / 2_000
    assert 0.77 < power < 0.85


def test_more_problems_show_a_smaller_difference() -> None:
    differences = [detectable_difference(flips(n, n // 5)) or 1 for n in (20, 100, 500, 2_500)]
    assert differences == sorted(differences, reverse=True)
    assert differences[-1] < 0.03


def test_more_flips_hide_a_larger_difference() -> None:
    few, many = (detectable_difference(flips(200, n)) or 1 for n in (10, 100))
    assert few < many


def test_agreement_on_few_problems_shows_little() -> None:
    assert detectable_difference([0.0] * 3) is None
    assert 0.5 < (detectable_difference([0.0] * 10) or 0) < 0.7
    assert 0.05 < (detectable_difference([0.0] * 100) or 0) < 0.1


def test_samples_of_a_problem_that_agree_better_show_more() -> None:
    once = [1.0, -1.0, 0.0, 0.0] * 25
    often = [0.25, -0.25, 0.0, 0.0] * 25
    difference, finer = detectable_difference(once), detectable_difference(often)
    assert difference is not None
    assert finer is not None
    assert finer < difference / 2


def test_detectable_difference_is_unknown_without_problems() -> None:
    assert detectable_difference([]) is None
