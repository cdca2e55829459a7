"""Exact tests against an enumeration of everything that can happen."""

import itertools
import math

import pytest
from for_each import for_each
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.stats.exact_tests import Unconditional, sign_flip, unconditional, whole_numbers


def size(problems: int, share: float, least: float) -> float:
    """The chance of a score of at least `least`, by summing over all counts of either kind."""
    total = 0.0
    for b in range(problems + 1):
        for c in range(problems + 1 - b):
            same = problems - b - c
            ways = math.comb(problems, b) * math.comb(problems - b, c)
            if b + c and abs(b - c) / math.sqrt(b + c) >= least - 1e-9:
                total += ways * (share / 2) ** (b + c) * (1 - share) ** same
    return total


@for_each(("problems", "score"), [(5, 2.0), (8, 2.0), (10, 1.9), (20, 2.2)])
def test_the_p_value_is_the_largest_size_of_any_share_of_differing_problems(
    problems: int, score: float
) -> None:
    p_value = Unconditional(problems).p_value(score)
    sizes = [size(problems, number / 500, score) for number in range(501)]
    assert max(sizes) - 1e-4 <= p_value <= max(sizes) + 1e-4


@for_each(("problems", "plain"), [(5, 0.078), (8, 0.070), (50, 0.065)], ids=["5", "8", "50"])
def test_the_exact_test_errs_less_often_than_the_normal_distribution(
    problems: int, plain: float
) -> None:
    test = Unconditional(problems)
    assert test.p_value(1.959964) == pytest.approx(plain, abs=0.0005)
    assert test.p_value(test.critical(0.05) + 1e-6) < 0.05


@for_each("level", [0.05, 0.01, 0.2])
@for_each("problems", [1, 2, 5, 8, 10, 20, 50])
def test_the_critical_score_is_the_largest_that_is_not_significant(
    problems: int, level: float
) -> None:
    test = Unconditional(problems)
    critical = test.critical(level)
    assert test.p_value(critical) >= level
    assert test.p_value(critical + 1e-6) < level


@for_each("problems", [400, 1_000])
def test_the_distribution_of_200_problems_nearly_keeps_the_level_of_more(
    problems: int,
) -> None:
    assert unconditional(problems) is unconditional(200)
    critical = unconditional(200).critical(0.05)
    assert Unconditional(problems).p_value(critical + 1e-6) < 0.052


SHARES = st.lists(st.sampled_from([-1, -0.8, -0.5, -1 / 3, 0, 0.2, 0.25, 1]), max_size=9)


@settings(deadline=None)
@given(SHARES)
def test_signs_are_flipped_in_every_way(differences: list[float]) -> None:
    p_value = sign_flip(differences, 2.0)
    seen = math.fsum(differences)
    if p_value is None:
        assert abs(seen) < 1e-9
        return
    sums = [
        abs(math.fsum(sign * each for sign, each in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    share = sum(each >= abs(seen) - 1e-9 for each in sums) / len(sums)
    assert p_value.p_value(2.0) == pytest.approx(share, rel=1e-9)
    for level in (0.05, 0.3):
        critical = p_value.critical(level)
        assert p_value.p_value(critical) >= level
        assert p_value.p_value(critical + 1e-3) < level


def test_sign_flip_is_not_used_for_very_many_differing_problems() -> None:
    assert sign_flip([0.5] * 101, 3.0) is None
    assert sign_flip([0.5] * 100 + [0.0] * 500, 3.0) is not None


def test_shares_keep_their_denominators() -> None:
    assert whole_numbers([0.2, -0.5, 0.25]) == [4, -10, 5]
    assert whole_numbers([1 / 7, 1 / 11, 1 / 13, -1.0]) == [143, 91, 77, -1000]
