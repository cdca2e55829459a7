"""What j shots bring and cost, against all orders one by one."""

import math
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.stats.pass_at_k import (
    Shot,
    any_solved,
    chosen_solved,
    mean_solved,
    spend_of_all,
    spend_until_pass,
)

shot = st.builds(
    Shot,
    rank=st.integers(-1, 2),
    passes=st.booleans(),
    solved=st.booleans(),
    spend=st.integers(0, 9).map(float),
)


@settings(deadline=None, max_examples=60)
@given(st.lists(shot, min_size=1, max_size=6), st.data())
def test_means_are_those_over_all_orders(shots: list[Shot], data: st.DataObject) -> None:
    first = data.draw(st.integers(1, len(shots)))
    orders = list(permutations(shots))
    chosen = [max(order[:first], key=lambda s: s.rank).solved for order in orders]
    any_right = [any(s.solved for s in order[:first]) for order in orders]
    everything = [sum(s.spend for s in order[:first]) for order in orders]
    until = [_until_pass(order[:first]) for order in orders]
    for mean, expected in (
        (chosen_solved(shots, first), chosen),
        (any_solved(shots, first), any_right),
        (spend_of_all(shots, first), everything),
        (spend_until_pass(shots, first), until),
    ):
        assert mean == pytest.approx(math.fsum(expected) / len(orders), abs=1e-12)


def _until_pass(order: tuple[Shot, ...]) -> float:
    spent = 0.0
    for each in order:
        spent += each.spend
        if each.passes:
            break
    return spent


def test_one_shot_is_the_mean_shot_however_it_is_chosen() -> None:
    shots = [Shot(2, True, True, 1.0), Shot(0, False, False, 3.0), Shot(2, True, False, 2.0)]
    assert chosen_solved(shots, 1) == any_solved(shots, 1) == pytest.approx(mean_solved(shots))
    assert spend_of_all(shots, 1) == spend_until_pass(shots, 1) == 2.0


def test_choosing_among_all_shots_takes_one_of_the_best() -> None:
    shots = [Shot(2, True, True, 1.0), Shot(2, True, False, 1.0), Shot(-1, False, False, 1.0)]
    assert chosen_solved(shots, 3) == 0.5
    assert any_solved(shots, 3) == 1.0
