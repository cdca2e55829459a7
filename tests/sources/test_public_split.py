"""Public tests are told from hidden ones where a source does not say."""

import pytest
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st

from harness.problem import TestCase
from harness.sources.public_split import FIRST, split


def made(count: int, *, public: bool) -> list[TestCase]:
    return [TestCase(input=str(number), output="", public=public) for number in range(count)]


@given(st.lists(st.booleans()), st.booleans())
def test_every_test_is_on_one_side_in_the_data_s_order(shown: list[bool], public: bool) -> None:
    tests = made(len(shown), public=public)
    parted = split(tests, shown)
    for side, marked in ((parted.public, True), (parted.hidden, False)):
        assert all(test.public is marked for test in side)
        assert [int(test.input) for test in side] == sorted(int(test.input) for test in side)
    assert {t.input for t in parted.public} | {t.input for t in parted.hidden} == {
        t.input for t in tests
    }
    assert len(parted.public) + len(parted.hidden) == len(tests)
    assert bool(parted.public) is bool(tests)


@given(st.lists(st.booleans()).filter(any))
def test_tests_shown_by_the_statement_are_public(shown: list[bool]) -> None:
    parted = split(made(len(shown), public=False), shown)
    assert parted.rule == "statement"
    assert [int(test.input) for test in parted.public] == [
        number for number, is_shown in enumerate(shown) if is_shown
    ]


@given(st.integers(0, 40))
def test_where_it_shows_none_the_first_few_are_and_half_stay_hidden(count: int) -> None:
    parted = split(made(count, public=False), [False] * count)
    assert parted.rule == "first"
    assert [int(test.input) for test in parted.public] == list(range(len(parted.public)))
    assert len(parted.public) <= FIRST
    if count > 1:
        assert len(parted.hidden) >= len(parted.public)


@for_each(("count", "public"), [(0, 0), (1, 1), (2, 1), (3, 1), (4, 2), (5, 2), (6, 3), (100, 3)])
def test_how_many_are_public(count: int, public: int) -> None:
    assert len(split(made(count, public=False), [False] * count).public) == public


def test_a_test_without_a_word_on_being_shown_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="zip"):
        split(made(2, public=False), [True])
