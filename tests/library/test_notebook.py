"""What a notebook gets: runs read back, data frames, a chart, short reprs."""

import inspect
import math
import pydoc
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.run.settings.keys import RunKeys
from harness.run.store.results import SampleResult

pytestmark = pytest.mark.usefixtures("kept_sandbox")

MakeResult = Callable[..., SampleResult]
WriteRun = Callable[..., Path]
Pair = tuple[Path, Path]


@pytest.fixture
def pair(make_result: MakeResult, write_run: WriteRun) -> Pair:
    """A single shot that solves 4 of 12 problems, and an agent that solves 10 of them."""
    levels: Any = ("easy", "hard")
    made = [
        [
            make_result(
                f"p/{n}", solved=n < solved, difficulty=levels[n % 2], release_date=date(2025, 1, 1)
            )
            for n in range(12)
        ]
        for solved in (4, 10)
    ]
    return (
        write_run("shot", made[0], mode="single_shot"),
        write_run("agent", made[1], mode="agentic"),
    )


def test_a_run_is_read_back(pair: Pair) -> None:
    run = harness.load_run(pair[1])
    assert repr(run) == "<LoadedRun agent: pass@1 0.8333, 12 of 12 samples graded>"
    assert (run.path, run.spec["mode"], run.state.word) == (pair[1], "agentic", "done")
    assert run.pass_at_1 == pytest.approx(10 / 12)
    frame = run.to_pandas()
    assert len(frame) == 12
    assert frame["solved"].sum() == 10
    assert set(frame["difficulty"]) == {"easy", "hard"}
    assert frame["input_tokens"].sum() == 12_000
    assert frame["cost"].sum() == pytest.approx(6.0)
    assert "solved" in run._repr_html_()
    assert "single shot" not in run._repr_html_()


def test_loaded_and_compared_runs_are_filtered(pair: Pair) -> None:
    easy = harness.load_run(pair[1], filter_difficulty="easy")
    assert len(easy.results) == 6
    assert repr(easy).endswith("6 of 6 samples graded, only easy>")
    compared = harness.compare(*pair, filter_difficulty=["easy"], min_release_date="2024-12-31")
    assert compared.versus[0].paired.problems == 6
    with pytest.raises(harness.UsageError, match="'difficulty' is not a filter"):
        harness.load_run(pair[1], difficulty="easy")  # pyright: ignore[reportCallIssue]


def test_a_comparison_is_a_row_a_run_and_takes_loaded_runs(pair: Pair) -> None:
    compared = harness.compare(harness.load_run(pair[0]), harness.load_run(pair[1]))
    assert repr(compared) == (
        "<RunComparison: agentic against single shot: made-model, fixture, 12 problems>"
    )
    frame = compared.to_pandas()
    assert list(frame["name"]) == ["single shot", "agentic"]
    assert list(frame["solved"]) == pytest.approx([4 / 12, 10 / 12])
    assert frame["difference"].isna().tolist() == [True, False]
    assert frame["difference"][1] == pytest.approx(0.5)
    assert frame["difference_low"][1] < 0.5 < frame["difference_high"][1]
    changed = compared.problems()
    assert list(changed["outcome"]) == ["gained"] * 6
    assert "The agent solves 50.0 points more than single shot" in " ".join(
        compared._repr_html_().split()
    )


def test_equal_spend_is_a_frame_and_a_chart(pair: Pair) -> None:
    compared = harness.compare(*pair)
    frame = compared.spend()
    assert set(frame["name"]) == {"single shot", "agentic"}
    assert set(frame["unit"]) == {"dollars"}
    main = frame[frame["compared"]]
    assert main.groupby("name")["solved"].max().to_dict() == pytest.approx(
        {"agentic": 10 / 12, "single shot": 4 / 12}
    )
    chart: dict[str, Any] = compared.spend_chart().to_dict()
    marks = [layer["mark"]["type"] for layer in chart["layer"]]
    assert marks == ["area", "line", "line"]
    drawn = [row["name"] for row in chart["layer"][0]["data"]["values"]]
    assert set(drawn) == {"single shot", "agentic"}


def test_a_frame_without_rows_has_its_columns(pair: Pair, write_run: WriteRun) -> None:
    empty = harness.load_run(write_run("empty", [])).to_pandas()
    assert math.isnan(harness.load_run(pair[0].parent / "empty").pass_at_1)
    assert (len(empty), list(empty)) == (0, list(harness.load_run(pair[0]).to_pandas()))
    other, same = harness.compare(*pair), harness.compare(pair[0], pair[0])
    assert len(other.problems()) > len(same.problems()) == 0
    assert list(same.problems()) == list(other.problems())


def test_grades_are_a_frame() -> None:
    grades = harness.grade("fixture", {"quorum-signals": ["print(0)", "print(1)"]})
    frame = grades.to_pandas()
    assert list(frame["index"]) == [0, 1]
    assert list(frame["verdict"]) == [str(each.verdict) for each in grades]
    assert {"problem_id", "tests_passed", "tests_total"} <= set(frame)


def test_an_evaluation_is_a_frame() -> None:
    done = harness.evaluate(model="replay:bundled", benchmark="fixture", limit=2)
    frame = done.to_pandas()
    assert list(frame["problem_id"]) == [result.problem_id for result in done.results]
    assert "solved" in done._repr_html_()


@pytest.mark.thorough
def test_pandas_is_imported_when_a_frame_is_asked_for(pair: Pair) -> None:
    code = (
        "import sys, harness\n"
        f"run = harness.load_run({str(pair[1])!r})\n"
        "repr(run), run._repr_html_()\n"
        "print('pandas' in sys.modules)\n"
        "run.to_pandas()\n"
        "print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_a_problem_prints_in_a_few_lines() -> None:
    problem = harness.load_problems("fixture", limit=1)[0]
    lines = str(problem).splitlines()
    assert 3 <= len(lines) <= 4
    assert lines[0] == f"{problem.id}  {problem.title}"
    assert problem.tests.public[0].input not in str(problem)
    assert repr(problem) == f"<Problem {problem.id}>"
    hostile = problem.model_copy(update={"title": "a\x1b[2Jb\nc", "statement": "\x07x"})
    assert "\x1b" not in str(hostile)
    assert "\x07" not in str(hostile)
    assert len(str(hostile).splitlines()) <= 4


@pytest.mark.parametrize("function", [harness.evaluate, harness.aevaluate])
def test_help_lists_the_keywords(function: Callable[..., Any]) -> None:
    shown = pydoc.plain(pydoc.render_doc(function))
    named = inspect.signature(function).parameters
    assert named.keys() >= RunKeys.__annotations__.keys()
    for key in ("samples_per_problem", "max_turns", "temperature"):
        assert f"{key}: " in shown
        assert named[key].kind is inspect.Parameter.KEYWORD_ONLY
