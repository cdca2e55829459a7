"""Paired comparison: McNemar's exact test, and what must hold of any two runs."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats.paired import compare_paired, mcnemar_exact

binomtest = pytest.importorskip("scipy.stats").binomtest

RUN = st.dictionaries(
    st.integers(0, 40).map("p{}".format), st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0]), max_size=30
)


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_scipys_sign_test(only_a: int, only_b: int) -> None:
    discordant = only_a + only_b
    theirs = binomtest(only_a, discordant).pvalue if discordant else 1.0
    assert mcnemar_exact(only_a, only_b) == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize("discordant", range(1, 11))
def test_mcnemar_counts_every_way_the_pairs_could_have_fallen(discordant: int) -> None:
    ways = [sum(way) for way in itertools.product((0, 1), repeat=discordant)]
    for only_a in range(discordant + 1):
        uneven = abs(2 * only_a - discordant)
        as_uneven = sum(abs(2 * way - discordant) >= uneven for way in ways)
        expected = as_uneven / len(ways)
        assert mcnemar_exact(only_a, discordant - only_a) == pytest.approx(expected, rel=1e-12)


def test_mcnemar_of_thousands_is_exact_and_quick() -> None:
    started = time.process_time()
    assert mcnemar_exact(5_000, 5_000) == 1.0
    assert mcnemar_exact(0, 5_000) == 0.0  # 2^-4999 is less than any float
    assert mcnemar_exact(4_900, 5_100) == pytest.approx(binomtest(4_900, 10_000).pvalue, rel=1e-6)
    assert time.process_time() - started < 2


@given(RUN, RUN)
def test_swapping_the_runs_turns_the_difference_round(
    a: dict[str, float], b: dict[str, float]
) -> None:
    there, back = compare_paired(a, b), compare_paired(b, a)
    assert there.difference == -back.difference
    assert there.p_value == back.p_value
    assert set(there.better_a) == set(back.better_b)
    assert set(there.better_b) == set(back.better_a)
    assert (there.problems, there.both, there.neither) == (back.problems, back.both, back.neither)


@given(RUN, RUN)
def test_every_shared_problem_is_counted_once(a: dict[str, float], b: dict[str, float]) -> None:
    paired = compare_paired(a, b)
    shared = a.keys() & b.keys()
    equal_in_part = sum(a[problem] == b[problem] and 0 < a[problem] < 1 for problem in shared)
    counted = paired.both + paired.neither + len(paired.better_a) + len(paired.better_b)
    assert counted + equal_in_part == paired.problems == len(shared)
    assert not set(paired.better_a) & set(paired.better_b)


@given(RUN, RUN)
def test_the_difference_is_that_of_the_rates(a: dict[str, float], b: dict[str, float]) -> None:
    shared = a.keys() & b.keys()
    expected = (
        sum(b[p] for p in shared) / len(shared) - sum(a[p] for p in shared) / len(shared)
        if shared
        else 0
    )
    assert compare_paired(a, b).difference == pytest.approx(expected, abs=1e-12)


@given(RUN)
def test_a_run_does_not_differ_from_itself(a: dict[str, float]) -> None:
    paired = compare_paired(a, dict(a))
    assert (paired.difference, paired.p_value) == (0, 1)
    assert paired.better_a == paired.better_b == ()


def test_problems_of_one_run_alone_say_nothing() -> None:
    paired = compare_paired({"x": 1.0, "only a": 1.0}, {"x": 1.0, "only b": 0.0})
    assert (paired.problems, paired.both, paired.difference, paired.p_value) == (1, 1, 0, 1)


def test_nothing_shared_is_no_difference() -> None:
    paired = compare_paired({"a": 1.0}, {"b": 1.0})
    assert (paired.problems, paired.difference, paired.p_value) == (0, 0, 1)


def test_a_problem_of_many_samples_is_one_pair() -> None:
    a = {"easy": 1.0, "hard": 0.25, "tied": 0.5, "worse": 0.75}
    b = {"easy": 1.0, "hard": 0.5, "tied": 0.5, "worse": 0.0}
    paired = compare_paired(a, b)
    assert (paired.better_a, paired.better_b) == (("worse",), ("hard",))
    assert paired.difference == pytest.approx(-0.125)
    assert paired.p_value == 1
