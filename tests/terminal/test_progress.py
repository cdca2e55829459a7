"""How a run goes on: a line a sample in a file, a live table on a terminal."""

import io
import re
from collections.abc import Callable

from for_each import for_each
from rich.console import Console

from harness.agent.events import Resumed, Retried
from harness.grading.verdict import Verdict
from harness.problem import Problem, TestSuite
from harness.run.observer import Failure
from harness.run.store.results import SampleResult
from harness.terminal.run_progress import LiveTable, RunProgress

MakeResult = Callable[..., SampleResult]


def console(*, terminal: bool, width: int = 200) -> Console:
    return Console(
        file=io.StringIO(),
        force_terminal=terminal,
        width=width,
        height=30,
        color_system=None,
        markup=False,
        highlight=False,
        emoji=False,
    )


def problem(name: str) -> Problem:
    return Problem(
        id=f"made/{name}",
        source="made",
        title=f"The {name}",
        statement="",
        platform="made",
        difficulty="hard",
        difficulty_word="hard",
        tests=TestSuite(()),
        content_hash="",
    )


def written(console: Console) -> str:
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def live_through(console: Console, make_result: MakeResult, word: str = "HTTP 500") -> str:
    """Three samples: one solved, one retried and then failed, one not solved."""
    with RunProgress(console, 4, [make_result("before", solved=True)]) as progress:
        progress.started("a#0")
        progress.finished(make_result("a", solved=True))
        progress.started("b#0")
        progress.retried("b#0", Retried(turn=1, attempt=1, cause=word, wait_s=2.5))
        progress.failed(Failure("b#0", Verdict.MODEL_ERROR, word))
        progress.started("c#0")
        progress.finished(make_result("c", usage=None, cost=None))
    return written(console)


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def test_a_file_gets_a_line_for_each_sample_and_retry(make_result: MakeResult) -> None:
    assert live_through(console(terminal=False), make_result).splitlines() == [
        "[2/4] a#0  accepted  tests 2/2  calls 1  1.0 s",
        "b#0  retry 1 in 2.5 s: HTTP 500",
        "[3/4] b#0  model error, pending: HTTP 500",
        "[4/4] c#0  wrong answer  tests 1/2  calls 1  1.0 s",
    ]


def test_a_terminal_gets_the_scores_and_a_bar(make_result: MakeResult) -> None:
    last = plain(live_through(console(terminal=True), make_result)).split("╭")
    scores, bar = last[-2], last[-1]
    assert "pass@1 66.7 % (20.8 to 93.9)   solved 2 of 3   running 0   pending 1" in scores
    assert "tokens 2,200   cost unknown   retries 1, the last: HTTP 500" in scores
    assert "4/4" in bar


def test_the_rows_are_the_samples_under_way_and_the_newest_graded(
    make_result: MakeResult,
) -> None:
    screen = console(terminal=True)
    problems = [problem(name) for name in "abcde"]
    done = [make_result("made/a", solved=True, title="The a")]
    progress = RunProgress(screen, 5, done, problems=problems, heading=("a model", "agentic"))
    with progress:
        for name in "bcd":
            progress.started(f"made/{name}#0")
        progress.retried("made/c#0", Retried(turn=3, attempt=1, cause="no", wait_s=1))
        progress.finished(make_result("made/b", title="The b", model_calls=7))
        progress.failed(Failure("made/d#0", Verdict.MODEL_ERROR, "gone"))
        progress.started("made/e#0")
        progress.put_off("made/e#0")
        assert isinstance(progress._live, LiveTable)
        rows = "\n".join("".join(part.text for part in line) for line in progress._live.lines())
    cells = [[cell.strip() for cell in row.split("│")] for row in rows.splitlines()]
    shown = [row[1:6] for row in cells if len(row) > 6]
    assert shown == [
        ["1", "a  The a", "easy", "accepted", "1"],
        ["2", "b  The b", "easy", "wrong answer", "7"],
        ["3", "c  The c", "hard", "retrying", "3"],
        ["4", "d  The d", "hard", "pending", "-"],
    ]
    assert "a model   agentic   pass@1 50.0 %" in rows


def test_the_live_table_shows_as_many_samples_as_fit(make_result: MakeResult) -> None:
    screen = console(terminal=True)
    problems = [problem(str(number)) for number in range(100)]
    progress = RunProgress(screen, 100, [], problems=problems)
    for number in range(90):
        progress.started(f"made/{number}#0")
        if number < 50:
            progress.finished(make_result(f"made/{number}"))
    assert isinstance(progress._live, LiveTable)
    lines = ["".join(part.text for part in line) for line in progress._live.lines()]
    assert len(lines) == 26  # of 30; the others are for what is said meanwhile
    shown = [line for line in lines if " running " in line or " wrong answer " in line]
    graded = [line for line in shown if " wrong answer " in line]
    assert len(graded) == len(shown) // 3
    assert re.search(r"│ +50 │", graded[-1])
    assert {len(line) for line in lines} == {199}


def test_what_is_said_meanwhile_stands_above_the_table(make_result: MakeResult) -> None:
    screen = console(terminal=True)
    with RunProgress(screen, 2, []) as progress:
        progress.started("a#0")
        progress.resumed("a#0", Resumed(kept=2, turn=1, cause="the prompt has changed"))
        progress.resumed("a#0", Resumed(kept=2, turn=1))
        progress.finished(make_result("a"))
    lines = plain(written(screen)).splitlines()
    notices = [line for line in lines if "begins again" in line]
    assert notices == ["a#0 begins again after turn 1: the prompt has changed"]


@for_each("word", ["[red]x[/nope]", "[/]", "\x1b]0;title\x07", "a\nb\r[4/4] c"])
@for_each("terminal", [True, False])
def test_a_providers_words_are_only_words(
    make_result: MakeResult, word: str, terminal: bool
) -> None:
    text = live_through(console(terminal=terminal), make_result, word)
    assert "\x07" not in text
    assert "\x1b]" not in text
    if not terminal:
        assert len(text.splitlines()) == 4
    if "[" in word[:1]:
        assert word in text


def test_a_title_full_of_escapes_is_only_a_title(make_result: MakeResult) -> None:
    screen = console(terminal=True)
    hostile = "\x1b[2J\x1b]0;pwned\x07\r\n[red]x\u202e"
    with RunProgress(screen, 3, [make_result("made/x", title=hostile)]) as progress:
        progress.started("made/y#0")
    text = written(screen)
    assert "\x1b[2J" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    assert r"\x1b[2J\x1b]0;pwned\x07" in text


def test_a_failure_without_a_message_is_shown(make_result: MakeResult) -> None:
    assert "b#0  model error, pending: \n" in live_through(console(terminal=False), make_result, "")
