"""The Pareto front, against its definition."""

from hypothesis import given
from hypothesis import strategies as st

from harness.features.experiment.ranking import pareto_front

Point = tuple[float, float]
NUMBER = st.one_of(st.integers(0, 4).map(float), st.floats(0, 10))


def dominates(a: Point, b: Point) -> bool:
    return a[0] <= b[0] and a[1] >= b[1] and a != b


@given(st.lists(st.tuples(NUMBER, NUMBER), max_size=12))
def test_the_front_is_what_nothing_dominates(points: list[Point]) -> None:
    expected = [
        index
        for index, point in enumerate(points)
        if not any(dominates(other, point) for other in points)
    ]
    assert pareto_front(points) == expected


def test_of_equals_all_are_on_the_front() -> None:
    assert pareto_front([(1, 0.5), (2, 0.5), (1, 0.5), (3, 0.9)]) == [0, 2, 3]
