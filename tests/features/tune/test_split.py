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


def test_a_problem_under_another_id_is_not_seen_twice() -> None:
    there = problems(40)
    again = [each.model_copy(update={"id": f"q/{each.id}"}) for each in there]
    split = split_problems([*there, *again], Sizes(train=10, selection=10, test=20), seed=0)
    hashes = {each.id: each.content_hash for each in (*there, *again)}
    used = [hashes[each] for part in (split.train, split.selection, split.test) for each in part]
    assert len(set(used)) == len(used) == 40


def test_a_statement_in_another_data_set_is_the_same_problem() -> None:
    text = "Given a list of numbers, print the sum of its even members, number"
    there = [problem(k).model_copy(update={"statement": f"{text} {k % 20}."}) for k in range(40)]
    there = [
        each.model_copy(update={"statement": f"{each.statement.upper()}\n"}) if k > 19 else each
        for k, each in enumerate(there)
    ]
    split = split_problems(there, Sizes(train=5, selection=5, test=10), seed=0)
    statements = {each.id: each.statement.lower().strip() for each in there}
    parts = [{statements[each] for each in part} for _, part in split]
    assert len(set().union(*parts)) == sum(map(len, parts)) == 20


def test_a_problem_is_as_old_as_its_oldest_copy() -> None:
    there = problems(24)
    later = [
        each.model_copy(update={"id": f"a/{each.id}", "release_date": date(2026, 1, 1)})
        for each in there
    ]
    with pytest.raises(NothingSelectedError, match="and 0 from it on"):
        split_problems([*there, *later], Sizes(), seed=0, test_from=date(2026, 1, 1))


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
