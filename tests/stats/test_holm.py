"""Holm's correction: the closed test that it is, counted out, and its textbook figures."""

import itertools

import pytest
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st

from harness.stats.holm import holm

P = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.02, 0.05, 0.5, 1.0]))


@given(st.lists(P, max_size=7))
@pytest.mark.thorough
def test_holm_is_the_closed_test_of_bonferroni(p_values: list[float]) -> None:
    """A test is rejected when every set of tests that it is in is, each by Bonferroni."""
    everyone = range(len(p_values))
    sets = [c for size in everyone for c in itertools.combinations(everyone, size + 1)]
    for index, adjusted in enumerate(holm(p_values)):
        by_sets = max(len(s) * min(p_values[i] for i in s) for s in sets if index in s)
        assert adjusted == pytest.approx(min(1.0, by_sets))


def test_holm_by_hand_in_the_order_given() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.6]) == [1.0, 1.0]


def test_holm_leaves_a_single_test_as_it_is() -> None:
    assert (holm([0.04]), holm([])) == ([0.04], [])


@for_each("wrong", [-0.1, 1.1, float("nan")])
def test_what_is_no_probability_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.5, wrong])
