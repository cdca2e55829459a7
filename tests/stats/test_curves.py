"""Shares that grow with what was spent: the unit is the problem, and thresholds are round."""

import math

import pytest
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st

from harness.stats.cumulative import cumulative, round_steps, whole_steps
from harness.stats.rates import mean_by_problem, solved_per

REACHED = st.lists(
    st.tuples(st.sampled_from("abcdefg"), st.none() | st.integers(0, 50)), min_size=1, max_size=60
)
AMOUNT = st.floats(1e-9, 1e12)


def test_a_share_is_the_mean_over_problems_of_the_fraction_of_their_samples() -> None:
    reached = [("a", 1), ("a", 3), ("a", None), ("a", 2), ("b", 3), ("c", None)]
    assert cumulative(reached, [0, 1, 2, 3, 99]) == pytest.approx(
        (0, 1 / 12, 2 / 12, (3 / 4 + 1) / 3, (3 / 4 + 1) / 3)
    )


@given(REACHED, st.lists(st.integers(-1, 60), max_size=9).map(sorted))
def test_cumulative_shares_are_those_counted_by_problem(
    reached: list[tuple[str, int | None]], thresholds: list[int]
) -> None:
    totals = cumulative(reached, thresholds)
    for threshold, share in zip(thresholds, totals, strict=True):
        there = ((p, float(at is not None and at <= threshold)) for p, at in reached)
        by_problem = mean_by_problem(there)
        assert share == pytest.approx(math.fsum(by_problem.values()) / len(by_problem))
    assert list(totals) == sorted(totals)
    assert all(0 <= share <= 1 for share in totals)


@for_each("problems", [1, 3, 7, 49, 60])
@for_each("samples", [1, 3, 7, 49])
def test_cumulative_share_of_all_solved_is_exactly_one(problems: int, samples: int) -> None:
    reached = [(str(number % problems), 1) for number in range(problems * samples)]
    assert cumulative(reached, [1]) == (1.0,)


@for_each(
    ("most", "steps"),
    [
        (0, ()),
        (1, (1,)),
        (3, (1, 2, 3)),
        (20, tuple(range(1, 21))),
        (21, (*range(1, 21), 21)),
        (50, (*range(1, 21), 50)),
        (137, (*range(1, 21), 50, 100, 137)),
    ],
)
def test_counts_are_told_one_by_one_then_roughly(most: int, steps: tuple[int, ...]) -> None:
    assert whole_steps(most) == steps


@for_each(
    ("least", "most", "steps"),
    [
        (958, 12_243, (1_000, 2_000, 5_000, 10_000, 20_000)),
        (1_000, 1_000, (1_000,)),
        (0.0011, 0.02, (0.002, 0.005, 0.01, 0.02)),
        (0.3, 3, (0.5, 1, 2, 5)),
        (1, 5_000, (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)),
    ],
)
def test_amounts_are_told_in_round_steps(
    least: float, most: float, steps: tuple[float, ...]
) -> None:
    amounts = round_steps(least, most)
    assert amounts == steps
    assert [type(step) for step in amounts] == [int if step >= 1 else float for step in amounts]


def test_round_steps_takes_every_second_of_too_many() -> None:
    assert round_steps(1, 10_000) == (1, 5, 20, 100, 500, 2_000, 10_000)


@given(AMOUNT, AMOUNT)
def test_steps_reach_from_the_least_to_the_most(one: float, other: float) -> None:
    least, most = sorted((one, other))
    steps = round_steps(least, most)
    assert 1 <= len(steps) <= 12
    assert least <= steps[0]
    assert most <= steps[-1] < 2.6 * most
    assert list(steps) == sorted(set(steps))
    assert all(f"{step:e}"[0] in "125" and f"{step:e}"[2:8] == "000000" for step in steps)


def test_what_was_spent_on_failures_counts() -> None:
    assert solved_per(15, 50_000, 1_000) == pytest.approx(0.3)
    assert solved_per(0, 0.5) == 0
    assert solved_per(3, None) is None
    assert solved_per(3, 0) is None
