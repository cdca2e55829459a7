"""Curves of solve rate over spend: how they are read, and what their intervals hold."""

import itertools
import math

import numpy as np
import pytest
from for_each import for_each
from spend_made import Truth, held

from harness.stats.crossing import crossing
from harness.stats.paired import score_interval
from harness.stats.rates import wilson
from harness.stats.spend_curves import (
    AttemptSpend,
    cut_off,
    difference_interval,
    policies,
    rate_interval,
    resampled,
)


def test_an_attempt_that_is_cut_off_hands_in_what_it_has_by_then() -> None:
    attempts = [
        AttemptSpend(0, [(1.0, False), (2.0, True)], 3.0),
        AttemptSpend(1, [(1.0, True), (2.0, False)], 2.0),  # a worse solution passed later
        AttemptSpend(1, [], 5.0),  # wrote nothing
    ]
    points = cut_off(attempts, 2)
    assert points.amounts == (0, 1, 1, 2, 2, 3, 5)  # twice where a solution changes
    assert points.solved.tolist() == [[0, 0, 0, 0, 1, 1, 1], [0, 0, 0.5, 0.5, 0, 0, 0]]
    assert points.spend.tolist() == [[0, 1, 1, 2, 2, 3, 3], [0, 1, 1, 2, 2, 2.5, 3.5]]
    assert points.most == 3.25
    assert points.rates([3.25, 100]) == [0.5, 0.5]  # more money would change nothing
    assert points.complete


def test_an_agent_solves_nothing_before_its_first_attempt_has_written_something() -> None:
    """Every attempt writes at its second call; half are right then, the others at the third."""
    attempts = [
        AttemptSpend(n, [(2.0, n % 2 == 0), (3.0, True)][: 2 - (n % 2 == 0)], 2.0 + n % 2)
        for n in range(10)
    ]
    points = cut_off(attempts, 10)
    assert points.rates([0.5, 1.0, 1.9, 1.999]) == [0, 0, 0, 0]
    assert points.rates([2.0, 2.2, 2.49]) == [0.5, 0.5, 0.5]
    assert points.rates([2.5, 9]) == [1, 1]
    assert points.steps.tolist() == [2, 2.5]


def test_no_step_of_a_long_curve_is_before_the_first_attempt() -> None:
    attempts = [AttemptSpend(n, [(5.0 + n / 500, True)], 6.0) for n in range(500)]
    assert cut_off(attempts, 500).rates([1.0, 4.99]) == [0, 0]


def test_a_strategy_that_solves_nothing_is_as_uncertain_as_its_problems() -> None:
    none, half = policies([[1.0]] * 20, [[0.0]] * 20), policies([[1.0]] * 20, [[0.0], [1.0]] * 10)
    drawn = resampled([none, half], [1.0], resamples=500)
    assert rate_interval(none, 1.0, drawn[0][:, 0]) == pytest.approx((0, 0.161), abs=0.001)
    interval = difference_interval(none, half, 1.0, (drawn[1] - drawn[0])[:, 0])
    pairs = [(0.0, 0.0), (0.0, 1.0)] * 10
    assert interval == score_interval(pairs)
    alike = difference_interval(none, none, 1.0, drawn[0][:, 0])
    assert alike.high == -alike.low > 0.15


def test_between_two_policies_the_rate_is_that_of_a_mixture() -> None:
    mixture = policies([[1.0, 2.0], [3.0, 6.0]], [[0.5, 1.0], [0.0, 0.5]])
    assert mixture.rates([0, 1, 2, 3]) == pytest.approx([0, 0.125, 0.25, 0.5])
    assert mixture.amounts_at([1, 2, 3]) == [0.5, 1, 1.5]


def test_a_thinned_curve_keeps_its_ends() -> None:
    draw = np.random.default_rng(0)
    attempts = [AttemptSpend(n, [(float(draw.random()), True)], 1.0 + n / 500) for n in range(500)]
    points = cut_off(attempts, 500)
    assert len({*points.amounts}) in {64, 65}
    assert points.rates([points.most]) == [1.0]
    half = points.rates([0.375])[0]  # cut off at x, an attempt spends x, and x of them are solved
    assert half == pytest.approx(0.375, abs=0.05)


def test_resamples_are_all_those_that_a_bootstrap_can_draw() -> None:
    """Of three problems there are 27: the quantiles are those of the whole distribution."""
    way = policies([[1.0], [2.0], [4.0]], [[1.0], [0.0], [1.0]])
    (solve_rates,) = resampled([way], [1.5], resamples=20_000)
    exact: list[float] = []
    for drawn in itertools.product(range(3), repeat=3):
        spend = sum(way.spend[place, 1] for place in drawn) / 3
        solved = sum(way.solved[place, 1] for place in drawn) / 3
        exact.append(float(np.interp(1.5, [0, spend], [0, solved])))
    assert solve_rates.mean() == pytest.approx(np.mean(exact), abs=0.01)
    shares = (0.1, 0.5, 0.9)
    assert np.quantile(solve_rates, shares) == pytest.approx(
        np.quantile(exact, shares, method="inverted_cdf"), abs=1e-9
    )


def test_random_groups_of_very_many_problems_say_as_much_as_the_problems() -> None:
    draw = np.random.default_rng(5)
    solved = draw.random(9_000) < 0.3
    way = policies([[1.0]] * 9_000, [[float(each)] for each in solved])
    (solve_rates,) = resampled([way], [1.0])
    low, high = rate_interval(way, 1.0, solve_rates[:, 0])
    expected = 1.96 * math.sqrt(0.3 * 0.7 / 9_000)
    assert (high - low) / 2 == pytest.approx(expected, rel=0.1)


class TestCrossing:
    AT = (1.0, 2.0, 3.0, 4.0)

    def test_the_crossing_is_where_the_difference_changes_sign_for_the_last_time(self) -> None:
        difference = [-0.2, -0.1, 0.1, 0.3]
        drawn = np.array([difference] * 100)
        crossing_point = crossing(self.AT, difference, drawn, 50)
        assert crossing_point is not None
        assert (
            crossing_point.at,
            crossing_point.low,
            crossing_point.high,
            crossing_point.above,
        ) == (2.5, 2.0, 3.0, 1)

    def test_the_first_curve_may_be_the_better_one_above(self) -> None:
        crossing_point = crossing(
            self.AT, [0.2, 0.1, -0.1, -0.3], np.array([[0.2, 0.1, -0.1, -0.3]] * 9), 50
        )
        assert crossing_point is not None
        assert crossing_point.above == -1

    @for_each("difference", [[0.1, 0.1, 0.1, 0.1], [0.1, 0.1, 0.0, 0.0]])
    def test_curves_that_keep_their_order_do_not_cross(self, difference: list[float]) -> None:
        assert crossing(self.AT, difference, np.array([difference] * 9), 50) is None

    def test_the_crossing_s_interval_is_open_if_chance_could_have_made_it(self) -> None:
        seen = [-0.1, 0.1, 0.1, 0.1]
        drawn = np.array([[0.1] * 4] * 50 + [seen] * 50)
        crossing_point = crossing(self.AT, seen, drawn, 50)
        assert crossing_point is not None
        assert (crossing_point.low, crossing_point.high) == (None, 2.0)


@pytest.mark.thorough
def test_intervals_hold_the_known_curves_and_the_crossing_is_found() -> None:
    """A short run of tests/benchmarks/spend_coverage.py: 90 to 99 % of 100 draws."""
    truth = Truth.of(10_000, (4.0, 7.0))
    draw = np.random.default_rng(11)
    coverage = [held(draw, 60, truth, 300, seed) for seed in range(100)]
    for name in ("shots", "attempts", "difference"):
        rate = np.mean([getattr(each, name) for each in coverage])
        assert 0.9 <= rate <= 0.99, name
    assert np.mean([each.crossing for each in coverage]) >= 0.9
    assert np.mean([each.crossed for each in coverage]) >= 0.95


def test_the_interval_at_a_spend_near_a_jump_holds_both_sides_of_it() -> None:
    """Attempts end at 4 or 6, which is 4.9 on average; half are solved, at their end."""
    ends = [4.0] * 55 + [6.0] * 45
    attempts = [AttemptSpend(n, [(end, n % 2 == 0)], end) for n, end in enumerate(ends)]
    before, after = cut_off(attempts, 100), cut_off(attempts[:55], 55)
    (drawn,) = resampled([before], [4.91], resamples=500)
    low, high = rate_interval(before, 4.91, drawn[:, 0])
    assert low < 0.28, "solved by those that end at 4"
    assert high > 0.5, "solved by all"
    none = policies([[1.0]] * 100, [[0.0]] * 100, samples=1)
    interval = difference_interval(none, before, 4.91, drawn[:, 0])
    assert interval.low < 0.28
    assert interval.high > 0.5
    (drawn,) = resampled([after], [4.0], resamples=500)
    low, high = rate_interval(after, 4.0, drawn[:, 0])
    assert low > 0.36, "every attempt has spent 4 where it is cut off there: no doubt of the side"


def test_the_spend_of_the_attempts_themselves_is_on_the_side_after_their_last_jump() -> None:
    attempts = [AttemptSpend(n, [(4.0 + 2 * (n % 2), True)], 4.0 + 2 * (n % 2)) for n in range(100)]
    way = cut_off(attempts, 100)
    assert len(way.sides(way.most)) == 3
    assert len(way.sides(way.most, way.spend[:, -1])) == 1


def test_a_jump_that_the_attempts_reach_on_every_problem_is_on_no_other_side() -> None:
    """One goes on after the jump, so that its mean spend is hardly told from theirs."""
    ends = [6.0] * 9 + [5.0] * 3 + [6.3]
    attempts = [AttemptSpend(n, [(end, end == 6.0)], end) for n, end in enumerate(ends)]
    way = cut_off(attempts, len(ends))
    assert len(way.sides(way.most)) == 3
    own = way.spend[:, -1]
    assert len(way.sides(way.most, own)) == 1
    (drawn,) = resampled([way], [way.most], own={0: (0, -1)}, resamples=500)
    low, high = rate_interval(way, way.most, drawn[:, 0], own)
    assert (low, high) == pytest.approx(wilson(9 / 13, 13))


def test_an_interval_is_no_wider_for_rates_that_hardly_vary() -> None:
    """Seven problems, six always solved and one nearly; resamples vary more than the values."""
    nearly = policies([[1.0]] * 7, [[1.0]] * 6 + [[0.98]])
    always = policies([[1.0]] * 7, [[1.0]] * 7)
    drawn = np.linspace(0.9, 1.0, 500)
    low, high = rate_interval(nearly, 1.0, drawn)
    assert low > 0.5
    assert high > 0.99
    interval = difference_interval(nearly, always, 1.0, drawn - drawn.mean())
    assert -0.5 < interval.low < 0 < interval.high < 0.5
