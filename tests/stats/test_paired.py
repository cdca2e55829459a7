"""Paired comparison: what must hold of any two runs, and Holm's correction of an interval."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.stats.holm import holm
from harness.stats.paired import compare_counts, paired_score, paired_test
from harness.stats.pass_at_k import Counts, share

RUN = st.dictionaries(
    st.integers(0, 40).map("p{}".format), st.sampled_from([0, 3, 4, 6, 12]), max_size=30
).map(lambda solved: {problem: (12, right) for problem, right in solved.items()})


@given(RUN, RUN)
def test_swapping_the_runs_turns_the_difference_round(
    a: dict[str, Counts], b: dict[str, Counts]
) -> None:
    there, back = compare_counts(a, b), compare_counts(b, a)
    assert there.difference == -back.difference
    assert there.p_value == pytest.approx(back.p_value)
    assert set(there.better_a) == set(back.better_b)
    assert set(there.better_b) == set(back.better_a)
    assert (there.problems, there.both, there.neither) == (back.problems, back.both, back.neither)


@given(RUN, RUN)
def test_every_shared_problem_is_counted_once(a: dict[str, Counts], b: dict[str, Counts]) -> None:
    paired = compare_counts(a, b)
    shared = a.keys() & b.keys()
    equal_in_part = sum(
        a[problem] == b[problem] and 0 < share(a[problem]) < 1 for problem in shared
    )
    counted = paired.both + paired.neither + len(paired.better_a) + len(paired.better_b)
    assert counted + equal_in_part == paired.problems == len(shared)
    assert not set(paired.better_a) & set(paired.better_b)


@given(RUN, RUN)
def test_the_difference_is_that_of_the_rates(a: dict[str, Counts], b: dict[str, Counts]) -> None:
    shared = a.keys() & b.keys()
    expected = sum(share(b[p]) - share(a[p]) for p in shared) / len(shared) if shared else 0
    assert compare_counts(a, b).difference == pytest.approx(expected, abs=1e-12)


@given(RUN)
def test_a_run_does_not_differ_from_itself(a: dict[str, Counts]) -> None:
    paired = compare_counts(a, dict(a))
    assert (paired.difference, paired.p_value) == (0, 1)
    assert paired.better_a == paired.better_b == ()


def test_problems_of_one_run_alone_say_nothing() -> None:
    paired = compare_counts({"x": (1, 1), "only a": (1, 1)}, {"x": (1, 1), "only b": (1, 0)})
    assert (paired.problems, paired.both, paired.difference, paired.p_value) == (1, 1, 0, 1)


def test_nothing_shared_is_no_difference() -> None:
    paired = compare_counts({"a": (1, 1)}, {"b": (1, 1)})
    assert (paired.problems, paired.difference, paired.p_value) == (0, 0, 1)


def test_a_problem_of_many_samples_is_one_pair() -> None:
    a = {"easy": (4, 4), "hard": (4, 1), "tied": (4, 2), "worse": (4, 3)}
    b = {"easy": (4, 4), "hard": (4, 2), "tied": (4, 2), "worse": (4, 0)}
    paired = compare_counts(a, b)
    assert (paired.better_a, paired.better_b) == (("worse",), ("hard",))
    assert paired.difference == pytest.approx(-0.125)
    assert paired.p_value > 0.3


def test_an_interval_that_is_corrected_as_its_p_value_agrees_with_it() -> None:
    """Five problems more of 40, beside tests that are clearer and less clear."""
    a = {f"p{number}": (1, 0) for number in range(40)}
    runs = [{p: (1, int(n < gained)) for n, p in enumerate(a)} for gained in (2, 4, 5, 6, 8, 30)]
    tests = [paired_score(a, b) for b in runs]
    for test, p_holm in zip(tests, holm([each.p_value for each in tests]), strict=True):
        plain, wide = test.at(), test.corrected(p_holm)
        assert (p_holm < 0.05) is (not wide.low <= 0 <= wide.high)
        assert wide.low <= plain.low < plain.high <= wide.high


SHARES = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda pair: (pair[0] / 5, pair[1] / 5)),
    min_size=1,
    max_size=30,
)


@pytest.mark.thorough
@settings(deadline=None)
@given(st.lists(SHARES, min_size=2, max_size=5), st.sampled_from([1, 5]))
def test_a_corrected_interval_never_contradicts_its_p_value(
    every: list[list[tuple[float, float]]], samples: int
) -> None:
    """The pairs that an interval is computed from do not depend on its confidence."""
    tests = [paired_test(pairs, samples * len(pairs)) for pairs in every]
    for test, p_holm in zip(tests, holm([each.p_value for each in tests]), strict=True):
        wide = test.corrected(p_holm)
        assert (p_holm < 0.05) is (not wide.low <= 0 <= wide.high)
