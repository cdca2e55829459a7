"""Lines of a run that has no terminal: what it waits for."""

import io
import threading
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from rich.console import Console

from harness.agent import events
from harness.agent.events import PublicTests, Response, Retried
from harness.grading.verdict import Verdict
from harness.models.protocol import ModelTurn, Usage
from harness.run.settings.spec import RunSpec
from harness.terminal.live.waiting_lines import WaitingLines
from harness.terminal.run_progress import RunProgress, run_progress


@dataclass
class Clock:
    now: float = 0.0
    lines: list[str] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def waiting(self, most_requests: int | None = None) -> WaitingLines:
        return WaitingLines(self.lines.append, 30.0, most_requests, self)


def retried(cause: str, *, loading: bool | None = None) -> Retried:
    return Retried(turn=1, attempt=1, cause=cause, wait_s=1.0, loading=loading)


ANSWER = Response(turn=1, response=ModelTurn(text="hi"))
RAN_TESTS = events.Tested(
    turn=1, tests=PublicTests(verdict=Verdict.ACCEPTED, passed=1, total=1), report="", seconds=1.0
)
ENDED = events.SampleEnd(stop_reason="turn_limit", chosen_by="latest", usage=Usage())


def test_the_line_says_what_the_samples_wait_for() -> None:
    clock = Clock()
    waiting = clock.waiting()
    assert waiting.line() == "0:00:00  no sample is running"
    for name in "abcd":
        waiting.begun(name)
    clock.now = 70.0
    waiting.progressed("b", ANSWER)
    waiting.retried("c", retried("HTTP 429: slow\ndown"))
    clock.now = 80.0
    waiting.retried("c", retried("HTTP 503: Loading model", loading=True))
    waiting.left("d")
    assert waiting.line() == (
        "0:01:20  1 sample waits for the model's answer (0:01:20); 1 sample waits for tools and "
        "tests (0:00:10); 1 sample waits for a retry (0:00:10: HTTP 503: Loading model)"
    )
    waiting.progressed("b", RAN_TESTS)
    assert "2 samples wait for the model's answer (up to 0:01:20)" in waiting.line()
    clock.now = 90.0
    waiting.progressed("b", ENDED)
    clock.now = 95.0
    assert "1 sample waits for the model's answer (0:01:35)" in waiting.line()
    assert "1 sample waits for the judge (0:00:05)" in waiting.line()


def test_samples_beyond_the_requests_in_flight_do_not_wait_for_the_model() -> None:
    clock = Clock()
    waiting = clock.waiting(most_requests=2)
    for name in "abc":
        waiting.begun(name)
        clock.now += 1
    assert waiting.line() == (
        "0:00:03  2 samples wait for the model's answer (up to 0:00:03); 1 sample waits for a free "
        "request (0:00:01)"
    )
    waiting.left("a")
    assert waiting.line().endswith("  2 samples wait for the model's answer (up to 0:00:02)")


def test_a_line_is_due_once_nothing_else_was_printed_for_long() -> None:
    clock = Clock()
    waiting = clock.waiting()
    waiting.begun("a")
    assert waiting.check() == 30.0
    clock.now = 20.0
    waiting.spoke()
    clock.now = 30.0
    assert waiting.check() == 20.0
    assert clock.lines == []
    clock.now = 50.0
    assert waiting.check() == 30.0
    clock.now = 80.0
    assert waiting.check() == 30.0
    assert [line.split()[0] for line in clock.lines] == ["0:00:50", "0:01:20"]


class Printed(io.StringIO):
    """Output that says when it holds a text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text
        self.seen = threading.Event()

    def write(self, text: str, /) -> int:
        length = super().write(text)
        if self._text in self.getvalue():
            self.seen.set()
        return length


def test_a_run_without_a_terminal_says_what_it_waits_for() -> None:
    file = Printed("waits for the model's answer")
    console = Console(file=file, width=200, markup=False, highlight=False)
    with RunProgress(console, 4, [], silence_s=0.01) as progress:
        progress.started("a#0")
        assert file.seen.wait(60)
    assert "[0/4] 0:00:00  1 sample waits for the model's answer (0:00:00)\n" in file.getvalue()
    before = file.getvalue()
    assert threading.enumerate() == [
        each for each in threading.enumerate() if each.name != "waiting lines"
    ]
    assert file.getvalue() == before


def test_a_live_table_needs_no_such_lines() -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=100, height=30, color_system=None)
    with RunProgress(console, 4, [], silence_s=0.0) as progress:
        progress.started("a#0")
    assert "waits for" not in file.getvalue()


def test_a_loading_server_is_no_line_a_retry() -> None:
    file = io.StringIO()
    with RunProgress(Console(file=file, width=200), 1, []) as progress:
        progress.started("a#0")
        progress.retried("a#0", retried("HTTP 503: Loading model", loading=True))
        assert file.getvalue() == ""
        progress.retried("a#0", retried("HTTP 500"))
    assert "a#0  retry 1 in 1.0 s: HTTP 500" in file.getvalue()


def test_a_run_knows_how_many_requests_may_be_in_flight() -> None:
    plan: Any = SimpleNamespace(
        price=None,
        model_name="m",
        prompt=SimpleNamespace(name="default"),
        spec=RunSpec(concurrency=1),
        samples=range(3),
        problems=(),
    )
    directory: Any = SimpleNamespace(committed=lambda: ())
    progress = run_progress(Console(file=io.StringIO()))(plan, directory)
    progress.started("a#0")
    progress.started("b#0")
    assert "1 sample waits for a free request" in progress._waiting.line()
