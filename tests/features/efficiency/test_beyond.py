"""Beyond, by its definition's corners."""

from random import Random

import pytest
from for_each import for_each
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.features.efficiency.beyond import beyond
from harness.features.efficiency.mean_share import MeasuredShare, known_rate, mean_rate
from harness.stats.rates import rate, wilson

SECONDS = st.floats(1e-6, 1e3)
FEW = settings(max_examples=30)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(1.0, 1.0), (0.5, 1.0), (3.0, 0.0), (9.0, 0.0), (2.0, 0.5), (1.5, 0.75), (None, 0.0)],
)
def test_beyond_goes_from_the_slowest_reference_to_the_fastest(
    seconds: float | None, expected: float
) -> None:
    assert beyond(seconds, [1.0, 3.0, 2.5]) == pytest.approx(expected)


@for_each("references", [[], [1.0], [2.0, 2.0], [float("inf"), 1.0]])
def test_beyond_is_unknown_if_references_do_not_differ(references: list[float]) -> None:
    assert beyond(1.0, references) is None
    assert beyond(None, references) is None


@FEW
@given(SECONDS, st.lists(SECONDS, min_size=2), st.floats(0.1, 10))
def test_beyond_does_not_depend_on_the_unit_of_time(
    seconds: float, references: list[float], unit: float
) -> None:
    there, here = (
        beyond(seconds, references),
        beyond(seconds * unit, [r * unit for r in references]),
    )
    if there is not None and here is not None and max(references) / min(references) > 1.01:
        assert here == pytest.approx(there, abs=1e-6)


@FEW
@given(SECONDS, SECONDS, st.lists(SECONDS, min_size=2, unique=True))
def test_beyond_of_a_faster_solution_is_not_lower(
    one: float, other: float, references: list[float]
) -> None:
    slower, faster = beyond(max(one, other), references), beyond(min(one, other), references)
    if slower is not None and faster is not None:
        assert 0 <= slower <= faster <= 1


def test_problems_count_alike_however_many_samples_they_have() -> None:
    rate = known_rate([MeasuredShare("a", 1.0), MeasuredShare("a", 0.0), MeasuredShare("b", 1.0)])
    assert rate is not None
    assert (rate.value, rate.problems) == (0.75, 2)
    assert known_rate([]) is None


SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@FEW
@given(SHARES)
def test_a_mean_lies_in_its_interval_and_is_no_wider_known_than_one_of_right_and_wrong(
    values: list[float],
) -> None:
    rate = mean_rate(values)
    assert rate is not None
    assert rate.problems == len(values)
    assert 0 <= rate.low <= rate.value + 1e-9
    assert rate.value - 1e-9 <= rate.high <= 1
    low, high = wilson(min(1.0, rate.value), len(values))
    assert low - 1e-9 <= rate.low
    assert rate.high <= high + 1e-9


@FEW
@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=200))
def test_mean_rate_of_zeros_and_ones_is_about_a_rate(values: list[float]) -> None:
    interval, plain = mean_rate(values), rate(values)
    assert interval is not None
    assert plain is not None
    assert (interval.low, interval.high) == pytest.approx((plain.low, plain.high), abs=0.01)


@FEW
@given(SHARES, st.floats(0, 0.2), st.floats(1, 3))
def test_doubt_of_measurements_widens_the_mean_rate(
    values: list[float], doubt: float, more: float
) -> None:
    interval, rough = (
        mean_rate(values, [each] * len(values)) for each in (doubt, min(0.5, doubt * more))
    )
    assert interval is not None
    assert rough is not None
    assert rough.low <= interval.low + 1e-9
    assert interval.high <= rough.high + 1e-9


def test_mean_rate_holds_the_true_mean_as_often_as_it_says() -> None:
    random = Random(1)
    true, held, width, wide = 5 / 6.5, 0, 0.0, 0.0
    for _ in range(400):
        values = [random.betavariate(5, 1.5) for _ in range(20)]
        interval, plain = mean_rate(values), wilson(sum(values) / 20, 20)
        assert interval is not None
        held += interval.low <= true <= interval.high
        width += interval.high - interval.low
        wide += plain[1] - plain[0]
    assert 0.92 <= held / 400 <= 0.98
    assert width < wide / 2
