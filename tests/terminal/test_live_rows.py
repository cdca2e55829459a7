"""What the live table shows of samples that are running: turns, tokens, public tests."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from harness.agent.events import PublicTests, Response, Resumed, SampleEnd, ToolResult
from harness.features.observers.observer_events import Watching
from harness.grading.verdict import Verdict
from harness.models.protocol import ModelStop, ModelTurn, ToolMessage, Usage
from harness.run.observer import tell_progress
from harness.sources.benchmarks import load
from harness.terminal.live.tally import Tally
from harness.terminal.run_progress import LiveTable, RunProgress

NAMED = {"id": "s/p", "title": "", "difficulty": "easy"}


def answer(turn: int, tokens: int | None) -> Response:
    usage = None if tokens is None else Usage(input_tokens=tokens, output_tokens=10)
    stop = ModelStop(reason="end_turn")
    return Response(turn=turn, response=ModelTurn(text="x", stop=stop, usage=usage))


def ran(turn: int, passed: int) -> ToolResult:
    return ToolResult(
        turn=turn,
        result=ToolMessage(call_id="c", name="run_tests", content="report"),
        seconds=0.1,
        tests=PublicTests(verdict=Verdict.WRONG_ANSWER, passed=passed, total=3),
    )


def ended() -> SampleEnd:
    return SampleEnd(stop_reason="turn_limit", chosen_by="latest", usage=Usage())


@pytest.fixture
def table() -> LiveTable:
    console = Console(file=io.StringIO(), width=100, height=30, force_terminal=True)
    problem = load("fixture").problems[0].model_copy(update=NAMED)
    return LiveTable(console, Tally(1), (), [problem], several=False, clock=lambda: 5.0)


def row(table: LiveTable) -> list[str]:
    lines = ("".join(part.text for part in line) for line in table.lines())
    (own,) = (line for line in lines if "│ p " in line)
    return [cell.strip() for cell in own.strip("│").split("│")]


def test_a_running_sample_shows_its_turns_tokens_and_public_tests(table: LiveTable) -> None:
    table.begun("s/p#0")
    assert row(table)[3:7] == ["running", "-", "0.0 s", "-"]
    table.progressed("s/p#0", answer(1, 100))
    assert row(table)[3:7] == ["running", "1", "0.0 s", "110"]
    table.progressed("s/p#0", ran(1, 2))
    assert row(table)[3:7] == ["running 2/3 tests", "1", "0.0 s", "110"]
    table.progressed("s/p#0", answer(2, 200))
    assert row(table)[3:7] == ["running 2/3 tests", "2", "0.0 s", "320"]
    table.progressed("s/p#0", answer(3, None))
    assert row(table)[3:7] == ["running 2/3 tests", "3", "0.0 s", "-"]
    table.progressed("s/p#0", ended())
    assert row(table)[3:7] == ["grading 2/3 tests", "3", "0.0 s", "-"]


def test_what_a_resumed_sample_used_before_is_not_told_as_nothing(table: LiveTable) -> None:
    table.begun("s/p#0")
    table.resumed("s/p#0", 4)
    assert row(table)[4] == "4"
    table.progressed("s/p#0", answer(5, 100))
    assert row(table)[3:7] == ["running", "5", "0.0 s", "-"]


def test_progress_reaches_the_table_through_other_observers() -> None:
    console = Console(file=io.StringIO(), width=100, height=30, force_terminal=True)
    with RunProgress(console, 1, []) as own:
        watching = Watching(own, (), Path("r"))
        watching.started("s/p#0")
        watching.progressed("s/p#0", answer(7, 100))
        watching.resumed("s/p#0", Resumed(turn=8, time="", kept=8))
        live = own._live
        assert isinstance(live, LiveTable)
        assert row(live)[4] == "8"


def test_an_observer_without_progress_is_left_alone() -> None:
    class Plain:
        """Has the methods of `Observer` alone."""

    tell_progress(Plain(), "s/p#0", answer(1, 1))
