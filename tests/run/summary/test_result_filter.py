"""Filters after the fact: a run with the matching problems alone."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from harness.errors import NothingSelectedError, UsageError
from harness.run.store.results import SampleResult
from harness.run.summary.filtered_run import filtered, filtered_together
from harness.run.summary.filters import read_filters
from harness.run.summary.loaded_run import Run, read_run

MakeResult = Callable[..., SampleResult]


@pytest.fixture
def filtered_run(make_result: MakeResult, write_run: Callable[..., Path]) -> Run:
    results = [
        make_result("a", solved=True, difficulty="easy", tags=("math", "graph")),
        make_result("b", difficulty="hard", platform="other", release_date=date(2025, 3, 1)),
        make_result("c", difficulty="hard", tags=("math",), release_date=date(2025, 5, 9)),
        make_result("d", solved=True, difficulty=None, known_issues=("doubtful",)),
    ]
    problems = {each.problem_id: each.problem_hash for each in results} | {"e": "not asked yet"}
    return read_run(write_run("r", results, {"problems": problems}))


@pytest.mark.parametrize(
    ("filters", "kept"),
    [
        ({}, "abcd"),
        ({"filter_difficulty": ["hard"]}, "bc"),
        ({"filter_difficulty": "HARD"}, "bc"),
        ({"filter_difficulty": ["hard", "easy"]}, "abc"),
        ({"filter_platform": ["other"]}, "b"),
        ({"filter_tags": ["math"]}, "ac"),
        ({"filter_tags": ["math", "graph"]}, "a"),
        ({"min_release_date": "2025-03-01"}, "bc"),
        ({"min_release_date": date(2025, 3, 2)}, "c"),
        ({"max_release_date": "2025-03-01"}, "b"),
        ({"exclude_known_issues": True}, "abc"),
        ({"filter_difficulty": ["hard"], "filter_tags": ["math"]}, "c"),
        ({"filter_difficulty": [], "min_release_date": None}, "abcd"),
    ],
)
def test_the_matching_problems_stay(filtered_run: Run, filters: dict[str, Any], kept: str) -> None:
    filtered_run = filtered(filtered_run, read_filters(filters))
    assert "".join(each.problem_id for each in filtered_run.results) == kept
    assert filtered_run.summary.graded == len(kept)


def test_a_filtered_run_is_as_if_no_other_problem_had_been_asked(filtered_run: Run) -> None:
    kept = filtered(filtered_run, read_filters({"filter_difficulty": ["hard"]}))
    assert (kept.planned, kept.state.word, kept.summary.pending) == (2, "done", {})
    assert kept.filtered_by == "hard"
    assert (filtered_run.planned, filtered_run.filtered_by) == (5, "")


def test_runs_that_are_filtered_together_know_the_problems_of_all(
    filtered_run: Run, write_run: Callable[..., Path]
) -> None:
    part = read_run(
        write_run("part", filtered_run.results[:2], {"problems": filtered_run.manifest["problems"]})
    )
    assert filtered(part, read_filters({"filter_difficulty": "hard"})).planned == 1
    whole, other = filtered_together(
        [filtered_run, part], read_filters({"filter_difficulty": "hard"})
    )
    assert (whole.planned, whole.summary.pending) == (2, {})
    assert (other.planned, other.summary.pending) == (2, {"not_run": 1})
    assert other.filter_notes == whole.filter_notes


def test_what_cannot_be_told_is_left_out_and_said(filtered_run: Run) -> None:
    kept = filtered(filtered_run, read_filters({"min_release_date": "2025-01-01"}))
    undated, unknown = kept.filter_notes
    assert undated == "2 problems without a release date left out"
    assert unknown == "1 problem without a result left out: nothing says what they are"


@pytest.mark.parametrize(
    ("filters", "error", "message"),
    [
        ({"difficulty": "hard"}, UsageError, "'difficulty' is not a filter; known are"),
        ({"filter_difficulty": "hrad"}, UsageError, "did you mean 'hard'?"),
        ({"min_release_date": "soon"}, UsageError, "must be a day such as 2025-01-31"),
        (
            {"min_release_date": "2026-01-01"},
            NothingSelectedError,
            "4 loaded, none with released from",
        ),
        (
            {"min_release_date": "2026-01-02", "max_release_date": "2026-01-01"},
            UsageError,
            "the release dates end",
        ),
    ],
)
def test_bad_filters_are_named(
    filtered_run: Run, filters: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message.replace("?", r"\?")):
        filtered(filtered_run, read_filters(filters))
