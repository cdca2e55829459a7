"""`harness run` on a terminal: a live table of the newest samples, under the scores so far."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from program import harness
from terminal import Session, on_terminal

MODEL = """
import asyncio, random
from harness.models.protocol import ModelStop, ModelTurn, Usage

class Slow:
    name = "slow"
    def for_sample(self, problem, index):
        return self
    async def generate(self, messages, tools, settings, on_retry=None):
        await asyncio.sleep(random.uniform(0.3, 0.9))
        return ModelTurn(text="```python\\nprint(1)\\n```", stop=ModelStop(reason="end_turn"),
                         usage=Usage(input_tokens=500, output_tokens=40))
    async def close(self):
        pass

slow = Slow()
"""


@pytest.fixture(scope="module")
def slow_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("live")
    (made / "own.py").write_text(MODEL)
    return made


@pytest.fixture(scope="module")
def shown(slow_model: Path) -> Callable[..., Session]:
    """A run of 20 samples on a terminal, each form of it once."""
    done: dict[tuple[object, ...], Session] = {}

    def show(columns: int, lines: int, **more: str) -> Session:
        key = (columns, lines, *more.items())
        if key not in done:
            out = f"r{len(done)}"
            asked = ("run", "-n", "20", "-m", "python:own:slow", "--price", "1,2", "--out", out)
            done[key] = on_terminal(slow_model, *asked, columns=columns, lines=lines, **more)
            assert done[key].code == 0, done[key].end
        return done[key]

    return show


def _tables(session: Session) -> list[str]:
    return [text for _, text in session.frames if "┃" in text and "running" in text]


def _head(table: str) -> str:
    return next(line for line in table.splitlines() if line.startswith("┃"))


def test_the_table_has_scores_rows_and_a_bar(shown: Callable[..., Session]) -> None:
    tables = _tables(shown(100, 30))
    last = tables[-1]
    assert "python:own:slow   single_shot   prompt default   pass@1" in last
    for score in (r"solved \d+ of \d+ ", r" running \d+ ", r" tokens [\d,]+ ", r" cost \$0\.0\d+ "):
        assert re.search(score, last), score
    names = ["#", "problem", "diff", "status", "turns", "time", "tokens", "cost"]
    assert [name for name in re.split(r"[┃\s]+", _head(last)) if name] == names
    running = r"│ +\d+ │ \S.* │ (easy|medium|hard) +│ running +│ +- │ +\d\.\d s │"
    assert any(re.search(running, table) for table in tables)
    graded = r"│ (wrong answer|runtime error|accepted) +│ +1 │ +\d+\.\d s │ +540 │ \$0\.00058 │"
    assert re.search(graded, last)
    bar = r"━+─* +\d+/20  0:00:\d\d  ETA 0:00:\d\d"
    assert any(re.search(bar, table) for table in tables)


@pytest.mark.thorough
def test_rows_stand_in_the_order_of_the_run(shown: Callable[..., Session]) -> None:
    for table in _tables(shown(100, 30)):
        numbers = [int(number) for number in re.findall(r"^│ +(\d+) │", table, re.MULTILINE)]
        assert numbers == sorted(numbers)


@pytest.mark.thorough
def test_the_live_table_is_drawn_at_most_four_times_a_second(shown: Callable[..., Session]) -> None:
    frames = [frame for _, frame in shown(100, 30).frames]
    clocks = [match for frame in frames if (match := re.search(r"/20  0:(\d\d):(\d\d)", frame))]
    minutes, seconds = map(int, clocks[-1].groups())  # by its own clock; ours may read it late
    assert len(frames) <= 4 * (60 * minutes + seconds + 1) + 3


def test_frames_are_drawn_over_one_another_and_erase_nothing_first(
    shown: Callable[..., Session],
) -> None:
    session = shown(100, 30)
    assert len(_tables(session)) > 2
    assert "\x1b[2K" not in session.raw
    assert session.raw.count("╭") <= 2 * len(session.frames)
    for _, frame in session.frames:
        assert frame.count("╭") <= 2, frame  # and nothing is left of the one before


@pytest.mark.thorough
def test_the_end_of_a_live_table_keeps_scores_and_bar(
    shown: Callable[..., Session],
) -> None:
    session = shown(100, 60)
    assert "20/20" in session.end
    assert "┏" not in session.end
    assert "saved in r" in session.end
    assert session.raw.endswith("\n")
    assert session.raw.rindex("\x1b[?25h") > session.raw.rindex("\x1b[?25l")  # the cursor is back


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("columns", "gone"), [(60, ["diff", "tokens"]), (30, ["turns", "time", "cost"]), (160, [])]
)
def test_a_narrow_window_leaves_out_columns_of_the_live_table(
    shown: Callable[..., Session], columns: int, gone: list[str]
) -> None:
    session = shown(columns, 24)
    tables = _tables(session)
    assert tables
    for table in tables:
        head = _head(table)
        assert all(name not in head for name in gone)
        assert "status" in head
        assert "#" in head
        box = [line for line in table.splitlines() if line and line[0] in "┏┃┡│└╭╰"]
        assert {len(line) for line in box} == {columns - 1}


@pytest.mark.thorough
@pytest.mark.parametrize(("columns", "lines"), [(80, 8), (20, 30)])
def test_a_small_window_has_scores_and_bar_alone(
    shown: Callable[..., Session], columns: int, lines: int
) -> None:
    session = shown(columns, lines)
    assert all("┏" not in frame for _, frame in session.frames)
    assert any(re.search(r"\d+/20  0:00:\d\d", frame) for _, frame in session.frames)
    assert all(len(line) < columns for line in session.frames[-2][1].splitlines()[-3:])


@pytest.mark.thorough
def test_the_live_table_without_colour_has_no_colour_codes(shown: Callable[..., Session]) -> None:
    session = shown(100, 30, NO_COLOR="1")
    assert _tables(session)
    assert not re.search(r"\x1b\[[0-9;]*(3[0-9]|9[0-7]|38;5)[0-9;]*m", session.raw)


@pytest.mark.thorough
def test_a_dumb_terminal_and_a_file_get_lines(slow_model: Path) -> None:
    asked = ("run", "-m", "python:own:slow", "-n", "2")
    dumb = on_terminal(slow_model, *asked, "--out", "dumb", TERM="dumb")
    assert "[2/2] " in dumb.raw
    assert "\x1b[" not in dumb.raw
    file = harness(slow_model, *asked, "--out", "file")
    assert [line[:5] for line in file.stderr.splitlines() if line.startswith("[")] == [
        "[1/2]",
        "[2/2]",
    ]
    assert "\x1b" not in file.stderr + file.stdout


@pytest.mark.thorough
def test_the_words_on_an_interrupt_stand_above_the_table(slow_model: Path) -> None:
    session = on_terminal(
        slow_model,
        *("run", "-n", "20", "-m", "python:own:slow", "-k", "3", "--out", "interrupted"),
        interrupt=lambda screen: bool(re.search(r" ([1-9]|1\d)/60 ", screen)),
    )
    assert session.code == 130
    frames = [
        frame
        for frame in _tables(session)
        if "interrupted: waiting for requests in flight" in frame
    ]
    assert frames
    assert all(frame.count("╭") == 2 for frame in frames)
    assert "go on with: harness run --resume interrupted" in session.end


@pytest.mark.thorough
def test_the_live_table_fits_a_resized_window(slow_model: Path) -> None:
    session = on_terminal(
        slow_model,
        *("run", "-n", "20", "-m", "python:own:slow", "-k", "2", "--out", "resized"),
        columns=110,
        lines=34,
        resize=(lambda screen: bool(re.search(r" ([1-9]|1\d)/40 ", screen)), 64, 22),
    )
    assert session.code == 0
    assert "\x1b[2J" in session.raw
    after = [frame for _, frame in session.frames if frame.count("\n") == 21]
    tables = [frame for frame in after if "running" in frame and "┃" in frame]
    assert tables
    for table in tables[1:]:
        assert max(map(len, table.splitlines())) <= 63
        assert table.count("┏") == 1
        assert table.count("╭") == 2
