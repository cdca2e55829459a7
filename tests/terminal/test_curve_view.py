"""The table of what iterating brought: at any width, with or without block characters."""

import io
from collections.abc import Callable

import pytest
from for_each import for_each
from rich.console import Console

from harness.agent.attempt import LoopFacts
from harness.models.protocol import Usage
from harness.run.store.results import SampleResult
from harness.run.summary.iteration import Curve, Point, TestRunPoint, TurnPoint
from harness.run.summary.summary import Summary, summarize
from harness.stats.rates import rate
from harness.terminal.summary_table import CurveView, bar, summary_view
from harness.tools.revision import Revision

MakeResult = Callable[..., SampleResult]
Shown = Callable[..., str]


def step(turn: int, passed: int | None = None, *, solved: bool | None = False) -> Revision:
    return Revision(
        turn=turn, tokens=900 * turn, cost=0.01, seconds=1, public_passed=passed, solved=solved
    )


@pytest.fixture
def iterated(make_result: MakeResult) -> list[SampleResult]:
    """One solved at once, one by its second revision, one never."""
    changes = {"model_calls": 3, "tool_calls": 4, "usage": Usage(input_tokens=4_000)}
    return [
        make_result("a", solved=True, steps=(step(1, 1, solved=True),), **changes),
        make_result("b", solved=True, steps=(step(1, 0), step(2, 1, solved=True)), **changes),
        make_result("c", steps=(step(1, 0), step(3, 1)), **changes),
    ]


def view(results: list[SampleResult]) -> Summary:
    return summarize(results, len(results))


def words(text: str) -> str:
    return " ".join(text.split())


def test_each_share_stands_where_it_rises(iterated: list[SampleResult], shown: Shown) -> None:
    text = words(shown(summary_view(view(iterated)), 60))
    assert "first attempt 33.3 % 6.1 to 79.2 3" in text
    assert "so far passed public solved" in text
    assert "test run 1 33.3 % 33.3 % test run 2 100.0 % 66.7 %" in text
    assert "turn 1 33.3 % turn 2 66.7 % turn 3 66.7 %" in text
    assert "1,000 tokens 33.3 % 2,000 tokens 66.7 % 5,000 tokens 66.7 %" in text
    assert "$0.01 66.7 % $0.5 66.7 %" in text
    assert "solved per dollar 1.33 solved per 1,000 tokens 0.167" in text
    assert "tool calls 12 tool calls well-formed 100.0 %" in text
    assert "iterating gained" in text


def test_what_the_later_requests_brought_is_told(make_result: MakeResult, shown: Shown) -> None:
    one = LoopFacts(later=3, new_programs=2, repeats=1, restarts=1, named_tools=1)
    other = LoopFacts(later=2, new_programs=0, silent=2, renewed=1, without_reasoning=1)
    results = [make_result("a", loop=one), make_result("b", loop=other)]
    text = words(shown(summary_view(view(results)), 300))
    assert (
        "requests after the first 5 later requests: 2 with a new program, 1 repeat, "
        "1 new beginning, 2 messages without a program, 1 conversation refused and begun anew, "
        "1 without refused reasoning, "
        "1 program with a tool's name" in text
    )
    calm = [make_result("a")]
    calm_text = words(shown(summary_view(view(calm)), 300))
    assert "requests after" not in calm_text
    assert "iterating" not in calm_text


def test_the_overfit_gap_stands_with_its_interval(
    iterated: list[SampleResult], shown: Shown
) -> None:
    text = words(shown(summary_view(view(iterated)), 160))
    assert "fail a hidden test 1 of 3 that pass the public tests, 33.3 % (" in text


def test_a_single_answer_has_no_iteration_table(make_result: MakeResult, shown: Shown) -> None:
    summary = view([make_result("a", solved=True, steps=(step(1, solved=True),))])
    assert summary.curve is not None
    text = shown(summary_view(summary))
    assert "so far" not in text
    assert "first attempt" not in text


def test_older_runs_say_that_nobody_knows(make_result: MakeResult, shown: Shown) -> None:
    text = words(shown(summary_view(view([make_result("a", solved=True, model_calls=3)]))))
    assert "first attempt unknown; the results are of a version that did not keep it" in text
    assert "so far" not in text


def test_what_is_in_no_share_is_told(
    iterated: list[SampleResult], make_result: MakeResult, shown: Shown
) -> None:
    results = [
        *iterated,
        make_result("d", solved=True),
        make_result("e", solved=True, steps=(step(1, solved=None), step(2, solved=True))),
        make_result("f", steps=(step(1, solved=True), step(2, 0))),
    ]
    text = words(shown(summary_view(view(results)), 160))
    assert "first attempt unknown for 1 sample of a version that did not keep it" in text
    assert "first attempt unknown for 1 sample; not in its rate" in text
    assert "solved so far perhaps more: 1 sample with a revision of unknown grade before" in text
    assert "never run 1 solved sample whose solution was not" in text
    assert "lost 1 sample had a solution that passes all tests, and ended with another" in text
    assert "None" not in text


def of(**changes: object) -> Curve:
    plain = Curve(
        problems=10,
        samples=10,
        without_steps=0,
        first_write=rate([0.0, 1.0]),
        first_write_unknown=0,
        by_test_run=(),
        solved_unrun=0,
        by_turn=(TurnPoint(turn=1, solved=0.0),),
        by_tokens=None,
        by_dollars=None,
        lost=0,
    )
    return plain.model_copy(update=changes)


def test_a_share_that_never_rises_is_one_row(shown: Shown) -> None:
    points = tuple(TestRunPoint(test_run=run, passed_public=0.0, solved=0.0) for run in range(1, 9))
    text = words(shown(CurveView(of(by_test_run=points)), 60))
    assert "test run 8 0.0 % 0.0 %" in text
    assert "test run 1" not in text
    assert "turn 1 0.0 %" in text


def test_some_of_many_turns_are_shown_and_the_last(shown: Shown) -> None:
    turns = tuple(TurnPoint(turn=turn, solved=turn / 40) for turn in range(1, 41))
    rows = shown(CurveView(of(by_turn=turns)), 60).splitlines()
    turn_rows = [line for line in rows if "turn" in line]
    assert 3 <= len(turn_rows) <= 6
    assert words(turn_rows[-1]) == "turn 40 100.0 %"


def test_small_amounts_have_no_exponent(shown: Shown) -> None:
    points = (Point(within=1e-05, solved=0.5), Point(within=2_000, solved=1.0))
    text = words(shown(CurveView(of(by_dollars=points)), 60))
    assert "$0.00001 50.0 % $2,000 100.0 %" in text


@pytest.mark.parametrize("width", [30, 40, 69, 70, 200])
def test_the_iteration_table_fits_and_has_bars_where_there_is_room(
    iterated: list[SampleResult], shown: Shown, width: int
) -> None:
    curve = view(iterated).curve
    assert curve is not None
    text = shown(CurveView(curve), width)
    assert all(len(line) <= width for line in text.splitlines())
    assert "…" not in text
    assert ("█" in text) == (width >= 70)


def test_a_terminal_without_block_characters_gets_others(iterated: list[SampleResult]) -> None:
    curve = view(iterated).curve
    assert curve is not None
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    Console(file=file, width=100).print(CurveView(curve))
    file.seek(0)
    assert "66.7 % | #############" in words(file.read())


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_the_iteration_table_has_bars_without_colours(
    iterated: list[SampleResult], environ: dict[str, str]
) -> None:
    file = io.StringIO()
    Console(file=file, width=100, force_terminal=True, _environ=environ).print(
        summary_view(view(iterated))
    )
    assert "\x1b[3" not in file.getvalue()
    assert "█" in file.getvalue()


@for_each(
    ("share", "blocks", "plain"),
    [
        (0, "", ""),
        (0.5, "█" * 10, "#" * 10),
        (0.53, "█" * 10 + "▋", "#" * 11),
        (0.999, "█" * 20, "#" * 20),
        (1, "█" * 20, "#" * 20),
    ],
)
def test_bars_are_as_long_as_their_share(share: float, blocks: str, plain: str) -> None:
    assert bar(share) == blocks
    assert bar(share, ascii_only=True) == plain
