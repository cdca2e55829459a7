"""The rows of a run's table: numbers, names, figures."""

from collections.abc import Callable

import pytest

from harness.figures import clock
from harness.run.store.results import SampleResult
from harness.terminal.sample_table import (
    Numbers,
    label,
    pending_rows,
    result_row,
    sample_table,
)

MakeResult = Callable[..., SampleResult]


def test_samples_are_numbered_as_a_run_takes_them() -> None:
    numbers = Numbers(["a", "b", "c"])
    places = [numbers.of(problem, index) for index in range(2) for problem in "abc"]
    assert places == [1, 2, 3, 4, 5, 6]
    assert numbers.of("gone", 1) == 0


@pytest.mark.parametrize(
    ("problem", "title", "index", "shown"),
    [
        ("leetcode/two-sum", "Two Sum", None, "two-sum"),
        ("livecodebench/3674", "Count Arrays", None, "3674  Count Arrays"),
        ("livecodebench/3674", "", 2, "3674#2"),
        ("own", "", None, "own"),
        ("x/y", "a\nb\x1b[2J", None, r"y  a\nb\x1b[2J"),
    ],
)
def test_a_problem_is_named_by_its_id_and_what_the_title_adds(
    problem: str, title: str, index: int | None, shown: str
) -> None:
    assert label(problem, title, index) == shown


def test_a_title_of_any_length_is_cut() -> None:
    assert len(label("x/y", "long " * 1_000_000)) == 120


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.04, "0.0 s"), (59.9, "59.9 s"), (245, "4:05"), (3_723, "1:02:03")]
)
def test_time_is_told_in_the_unit_it_needs(seconds: float, shown: str) -> None:
    assert clock(seconds) == shown


def test_what_nobody_knows_is_called_unknown(make_result: MakeResult) -> None:
    result = make_result("a/b", usage=None, cost=None, model_calls=0, seconds=0.0, difficulty=None)
    texts = [cell.text for cell in result_row(result, 7, several=True).cells()]
    assert texts == ["7", "b#0", "", "wrong answer", *["unknown"] * 4]


def test_pending_are_all_that_have_no_result(make_result: MakeResult) -> None:
    done = [make_result("a"), make_result("b", index=1)]
    rows = pending_rows({"a": 2, "b": 2}, done)
    assert [(row.number, row.sample) for row in rows] == [(2, "b#0"), (3, "a#1")]


def test_a_column_that_nobody_knows_anything_of_is_left_out(
    make_result: MakeResult, shown: Callable[..., str]
) -> None:
    unpriced = [result_row(make_result(name, cost=None), 1, several=False) for name in "ab"]
    head = next(line for line in shown(sample_table(unpriced), 120).splitlines() if "#" in line)
    assert "tokens" in head
    assert "cost" not in head
    mixed = [*unpriced, result_row(make_result("c", cost=0.5), 3, several=False)]
    text = shown(sample_table(mixed), 120)
    assert text.count("unknown") == 2
    assert "$0.5000" in text
    (waiting,) = pending_rows({"a": 1}, [])
    assert "cost" in shown(sample_table([waiting]), 120), "it may be known later"
