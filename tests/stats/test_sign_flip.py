"""The test of a mean difference over pairs: exact, and McNemar's where a pair is won or lost."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats.paired import compare_paired, mcnemar_exact
from harness.stats.sign_flip import sign_flip_test


def share_as_far(differences: list[float]) -> float:
    """Every choice of signs, one by one."""
    seen = abs(sum(differences))
    sums = [
        abs(sum(sign * each for sign, each in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    return sum(each >= seen - 1e-9 for each in sums) / len(sums)


SHARES = st.sampled_from([-1.0, -0.75, -2 / 3, -0.5, -1 / 3, 0.0, 0.25, 1 / 3, 0.5, 0.8, 1.0])


@given(st.lists(SHARES, max_size=9))
def test_counts_every_choice_of_signs(differences: list[float]) -> None:
    assert sign_flip_test(differences) == pytest.approx(share_as_far(differences), rel=1e-9)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 9))
def test_is_mcnemar_for_one_sample_a_problem(only_a: int, only_b: int, tied: int) -> None:
    differences = [-1.0] * only_a + [1.0] * only_b + [0.0] * tied
    assert sign_flip_test(differences) == pytest.approx(mcnemar_exact(only_a, only_b), rel=1e-12)


def test_is_close_where_it_draws() -> None:
    differences = [(place % 7 - 2) / 1_009 for place in range(400)]
    exact = [(place % 7 - 2) / 5 for place in range(400)]
    assert sign_flip_test(differences) == sign_flip_test(exact)  # scaled down to the same steps
    uneven = [*differences, *((place % 11 - 6) / 997 for place in range(400))]
    assert sign_flip_test(uneven) == sign_flip_test(uneven)


def test_thousands_of_pairs_are_quick() -> None:
    differences = [(place * 7 % 21 - 10) / 10 for place in range(2_500)]
    started = time.process_time()
    sign_flip_test(differences)
    assert time.process_time() - started < 2


def test_a_run_that_is_ahead_on_most_problems_may_still_have_the_lower_rate() -> None:
    """Ten problems a little better, three lost whole: the counts and the rates disagree."""
    a = {f"p{place}": 0.5 for place in range(10)} | {f"q{place}": 1.0 for place in range(3)}
    b = {f"p{place}": 0.6 for place in range(10)} | {f"q{place}": 0.0 for place in range(3)}
    paired = compare_paired(a, b)
    assert (len(paired.better_a), len(paired.better_b)) == (3, 10)
    assert paired.difference < 0
    assert mcnemar_exact(1, 12) < 0.05
    assert paired.p_value == pytest.approx(share_as_far([0.1] * 10 + [-1.0] * 3), rel=1e-9)
    assert paired.p_value > 0.2
