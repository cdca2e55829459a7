"""pass@k and pass^k, against counting every choice of k samples, and a published evaluation."""

from itertools import combinations
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats.pass_at_k import of_several, pass_at_k, pass_hat_k
from harness.stats.rates import rate

COUNTS = st.integers(0, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


@given(COUNTS, st.integers(1, 10))
def test_pass_at_k_and_pass_hat_k_count_every_choice_of_k_samples(
    counts: tuple[int, int], k: int
) -> None:
    samples, right = counts
    outcomes = [True] * right + [False] * (samples - right)
    chosen = list(combinations(outcomes, k))
    if not chosen:
        assert pass_at_k(samples, right, k) is pass_hat_k(samples, right, k) is None
        return
    assert pass_at_k(samples, right, k) == pytest.approx(sum(map(any, chosen)) / len(chosen))
    assert pass_hat_k(samples, right, k) == pytest.approx(sum(map(all, chosen)) / len(chosen))


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), st.data())
def test_pass_at_k_is_the_product_that_its_paper_computes(
    counts: tuple[int, int], data: st.DataObject
) -> None:
    n, c = counts
    k = data.draw(st.integers(1, n))
    product = prod(1 - k / i for i in range(n - c + 1, n + 1)) if n - c >= k else 0.0
    assert pass_at_k(n, c, k) == pytest.approx(1 - product, abs=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("right", [0, 1, 3, 6])
def test_pass_at_k_and_pass_hat_k_are_without_bias(right: int) -> None:
    """The mean over what may be drawn of a problem is what k of its samples would do."""
    n, k, chance = 6, 3, right / 6
    scipy_stats = pytest.importorskip("scipy.stats")
    weights = scipy_stats.binom(n, chance).pmf(range(n + 1))
    any_right = sum(w * (pass_at_k(n, c, k) or 0) for c, w in enumerate(weights))
    all_right = sum(w * (pass_hat_k(n, c, k) or 0) for c, w in enumerate(weights))
    assert any_right == pytest.approx(1 - (1 - chance) ** k)
    assert all_right == pytest.approx(chance**k)


def test_pass_at_1_and_pass_hat_1_are_the_share_that_is_right() -> None:
    assert pass_at_k(4, 3, 1) == pass_hat_k(4, 3, 1) == 0.75


def test_a_run_has_round_k_and_the_most_there_are() -> None:
    assert [each.k for each in of_several([(12, 3), (12, 12)])] == [2, 3, 5, 10, 12]
    assert [each.k for each in of_several([(2, 1)])] == [2]
    assert of_several([(1, 1), (1, 0)]) == of_several([]) == ()


def test_problems_with_too_few_samples_are_counted_and_in_no_rate() -> None:
    two, three = of_several([(3, 1), (2, 2), (1, 1)])
    assert (two.k, two.too_few, three.k, three.too_few) == (2, 1, 3, 2)
    assert two.any_right is not None
    assert (two.any_right.problems, two.any_right.value) == (2, pytest.approx((2 / 3 + 1) / 2))
    assert two.all_right is not None
    assert two.all_right.value == pytest.approx((0 + 1) / 2)
    assert three.any_right is not None
    assert (three.any_right.problems, three.any_right.value) == (1, 1.0)


def test_pass_at_k_of_k_samples_has_the_interval_of_problems() -> None:
    counts = [(5, 0)] * 6 + [(5, 5)] * 3 + [(5, 2)]
    of_all = of_several(counts)[-1]
    assert of_all.any_right == rate([0.0] * 6 + [1.0] * 4)
