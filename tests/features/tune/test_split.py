"""Problems are split at random by seed, and by date if asked."""

from datetime import date

import pytest

from harness.errors import NothingSelectedError, UsageError
from harness.features.tune.split import Sizes, split_problems
from harness.problem import Problem, TestCase, TestSuite


def problems(number: int, *, dated: bool = True) -> list[Problem]:
    return [problem(k, dated=dated) for k in range(number)]


def problem(number: int, *, tested: bool = True, dated: bool = True) -> Problem:
    test = TestCase(input="1", output="1", public=True)
    return Problem(
        id=f"p/{number}",
        source="p",
        title=f"P {number}",
        statement="Echo.",
        platform="p",
        difficulty=None,
        difficulty_word="",
        release_date=date(2025, 1 + number % 12, 1) if dated else None,
        tests=TestSuite((test,) if tested else ()),
        content_hash=str(number),
    )


def test_parts_have_no_problem_in_common() -> None:
    split = split_problems(problems(200), Sizes(), seed=0)
    parts = [set(split.train), set(split.selection), set(split.test)]
    assert [len(part) for part in parts] == [30, 30, 60]
    assert len(set().union(*parts)) == 120


def test_a_seed_gives_the_same_parts_in_any_order_of_the_data() -> None:
    there = problems(50)
    assert split_problems(there, Sizes(), 3) == split_problems(there[::-1], Sizes(), 3)
    assert split_problems(there, Sizes(), 3) != split_problems(there, Sizes(), 4)


def test_few_problems_are_halved_for_the_test() -> None:
    split = split_problems(problems(21), Sizes(), seed=0)
    assert (len(split.train), len(split.selection), len(split.test)) == (6, 5, 10)


def test_given_sizes_are_kept_or_refused() -> None:
    split = split_problems(problems(30), Sizes(train=4, selection=6, test=20), seed=0)
    assert (len(split.train), len(split.selection), len(split.test)) == (4, 6, 20)
    with pytest.raises(UsageError, match=r"30 train \+ 30 selection \+ 50 test .* 30 selected"):
        split_problems(problems(30), Sizes(test=50), seed=0)


def test_problems_without_tests_are_left_out() -> None:
    there = [problem(k, tested=k % 2 == 0) for k in range(40)]
    split = split_problems(there, Sizes(), seed=0)
    used = {*split.train, *split.selection, *split.test}
    assert used == {each.id for each in there[::2]}


def test_too_few_problems_are_refused() -> None:
    with pytest.raises(NothingSelectedError, match="at least 8 problems with tests, and 7"):
        split_problems(problems(7), Sizes(), seed=0)


def test_a_date_separates_the_test_part() -> None:
    there = problems(48)
    first = date(2025, 10, 1)
    split = split_problems(there, Sizes(), seed=0, test_from=first)
    released = {each.id: each.release_date for each in there}
    assert all(released[each] >= first for each in split.test)
    assert all(released[each] < first for each in split.train + split.selection)
    assert (len(split.train), len(split.selection), len(split.test)) == (18, 18, 12)


def test_a_date_that_leaves_nothing_is_refused() -> None:
    with pytest.raises(NothingSelectedError, match="48 problems before that day and 0 from it on"):
        split_problems(problems(48), Sizes(), seed=0, test_from=date(2026, 1, 1))
    with pytest.raises(NothingSelectedError, match="0 problems before"):
        split_problems(problems(48, dated=False), Sizes(), seed=0, test_from=date(2025, 5, 1))
