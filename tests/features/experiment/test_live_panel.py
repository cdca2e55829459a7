"""The live panel of an experiment: both variants while they run, and the last screen."""

import io
import re
from pathlib import Path

import pytest
from json_lines import json_lines
from results_made import made_result
from rich.console import Console
from terminal import Session, on_terminal

from harness.features.experiment.decision import Decision
from harness.features.experiment.live_panel import ExperimentPanel, VariantProgress
from harness.features.experiment.stopping_goal import PAIR
from harness.terminal.live.tally import Tally

MODEL = """
import asyncio
from harness.models.protocol import ModelStop, ModelTurn, ToolCall, Usage

RIGHT, WRONG = "print(input())", "print(0)"

class Slow:
    name = "slow"
    def for_sample(self, problem, index):
        return self
    async def generate(self, messages, tools, settings, on_retry=None):
        await asyncio.sleep(0.2)
        usage = Usage(input_tokens=90, output_tokens=10)
        if tools:
            calls = (ToolCall(id="w", name="write_solution", arguments='{"code": "%s"}' % RIGHT),
                     ToolCall(id="t", name="run_tests", arguments="{}"))
            return ModelTurn(text="", tool_calls=calls, usage=usage,
                             stop=ModelStop(reason="tool_use"))
        return ModelTurn(text="```python\\n%s\\n```" % WRONG, usage=usage,
                         stop=ModelStop(reason="end_turn"))
    async def close(self):
        pass

slow = Slow()
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """An experiment of two variants and twelve problems on a terminal of 80 x 24."""
    folder = tmp_path_factory.mktemp("live")
    (folder / "own.py").write_text(MODEL)
    tests = [{"input": str(n), "output": str(n), "public": n == 1} for n in (1, 2)]
    rows = [{"id": f"p{n}", "statement": f"Echo {n}.", "tests": tests} for n in range(12)]
    (folder / "p.jsonl").write_text(json_lines(rows))
    asked = ("experiment", "-m", "python:own:slow", "--price", "100,100", "-b", "jsonl:p.jsonl")
    more = ("--concurrency", "2", "--max-cost", "5", "--shots", "2", "--out", "e")
    return on_terminal(folder, *asked, *more, columns=80, lines=24)


def arms_of(screen: str) -> dict[str, str]:
    matches = re.findall(r"^│   (agentic|single_shot) +(.*?) *│$", screen, re.MULTILINE)
    return dict(matches)


@pytest.mark.thorough
def test_both_variants_stand_side_by_side_while_they_run(shown: Session) -> None:
    assert shown.code == 0, shown.end
    both = [arms_of(screen) for _, screen in shown.frames if len(arms_of(screen)) == 2]
    first = both[0]
    assert first["single_shot"].startswith("0/24")
    assert first["agentic"].startswith("0/12")
    # between two shots nothing runs, and a frame may show just that
    shape = r"\d+/24 +0 % +━*─+ +\$0\.\d+ +\d running"
    assert any(re.match(shape, each["single_shot"]) for each in both)
    late = next(each for each in reversed(both) if "running" in each["agentic"])
    assert re.match(r"24/24 +0 % +━+ +\$0\.2400 +2 shots each", late["single_shot"])
    assert re.match(r"\d+/12 +100 % +━+─* +\$0\.\d+ +\d running", late["agentic"])


@pytest.mark.thorough
def test_a_finished_variant_keeps_its_figures_when_the_experiment_is_resumed(
    tmp_path: Path,
) -> None:
    tests = [{"input": str(n), "output": str(n), "public": n == 1} for n in (1, 2)]
    (tmp_path / "own.py").write_text(MODEL)
    rows = [{"id": f"p{n}", "statement": f"Echo {n}.", "tests": tests} for n in range(2)]
    (tmp_path / "p.jsonl").write_text(json_lines(rows))
    asked = ("experiment", "-m", "python:own:slow", "--price", "100,100", "-b", "jsonl:p.jsonl")
    begun = on_terminal(tmp_path, *asked, "--max-cost", "5", "--shots", "1", "--out", "e")
    assert begun.code == 0, begun.end
    lines = (tmp_path / "e" / "single_shot" / "results.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "e" / "single_shot" / "results.jsonl").write_text(lines[0])
    resumed = on_terminal(tmp_path, "experiment", "--resume", "e", columns=80, lines=24)
    assert resumed.code == 0, resumed.end
    first = next(arms for _, screen in resumed.frames if len(arms := arms_of(screen)) == PAIR)
    assert first["agentic"].startswith("2/2  100 %")
    assert first["single_shot"].startswith("1/2    0 %")


def test_the_live_panel_shows_the_difference_and_the_time_left(shown: Session) -> None:
    head = r"experiment   2 variants x 12 problems, budget \$5\.00 +0:00:\d\d elapsed"
    assert any(re.search(head, screen) for _, screen in shown.frames)
    so_far = r"so far: agentic \+100 points on \d+ problems +about 0:00:\d\d left"
    assert any(re.search(so_far, screen) for _, screen in shown.frames)


def test_no_line_is_folded(shown: Session) -> None:
    notices = re.findall(r"sandbox level .*", shown.raw)  # of a weaker sandbox, above the panel
    assert shown.wrapped == sum((len(notice.rstrip()) - 1) // 80 for notice in notices)


def test_the_last_screen_is_the_answer_of_compare(shown: Session) -> None:
    lines = shown.end.rstrip().splitlines()
    assert len(lines) <= 24
    answer = " ".join(shown.end.split())
    assert "agentic against single shot: python:own:slow, jsonl p.jsonl, 12 problems" in answer
    assert "(+100.0 points, " in answer
    assert "changed: 12 gained" in answer
    assert "spent: single_shot $0.2400, agentic $0.1200" in answer
    assert lines[-1] == "experiment directory: e"


def panel(arms: list[VariantProgress], width: int = 80, height: int = 24) -> ExperimentPanel:
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=True)
    return ExperimentPanel(console, "experiment", arms, "b", clock=lambda: 0.0)


def texts(drawn: ExperimentPanel) -> list[str]:
    return ["".join(part.text for part in line) for line in drawn.lines()]


def tally(total: int, solved: int, graded: int) -> Tally:
    made = Tally(total)
    for at in range(graded):
        made.count(made_result(f"p{at}", solved=at < solved))
    return made


def test_what_the_pairs_say_is_told_where_it_may_stop_early() -> None:
    drawn = panel(
        [VariantProgress("a", 10, 1, tally(10, 3, 4)), VariantProgress("b", 10, 1, tally(10, 1, 4))]
    )
    assert any("so far: a +50 points on 4 problems" in line for line in texts(drawn))
    drawn.decision = Decision(
        reason="incomplete",
        variant="a",
        baseline="b",
        pairs=4,
        problems=4,
        planned=10,
        difference=0.14,
        low=-0.1,
        high=0.4,
        e_value=3.14,
        level=0.05,
    )
    assert any("so far: a +14 points (e-value 3.1; stops at 20)" in line for line in texts(drawn))


@pytest.mark.parametrize(("width", "height"), [(80, 24), (60, 20), (40, 12), (28, 5), (8, 2)])
def test_the_live_panel_fits_any_window(width: int, height: int) -> None:
    arms = [
        VariantProgress(f"variant-with-a-long-name-{n}", 1000, 4, tally(1000, 2, 4))
        for n in range(12)
    ]
    lines = texts(panel(arms, width, height))
    assert lines
    assert len(lines) <= height
    assert max(map(len, lines)) < width


def test_as_many_variants_are_shown_as_fit() -> None:
    lines = texts(panel([VariantProgress(f"variant-{n}", 10, 1) for n in range(40)]))
    assert sum("variant-" in line for line in lines) == 8
    assert any("and 32 more variants" in line for line in lines)


def test_long_names_keep_both_ends() -> None:
    lines = texts(
        panel(
            [VariantProgress("b", 1, 1), VariantProgress("single_shot+reasoning_effort-high", 1, 1)]
        )
    )
    assert any(re.search(r"single_shot\+\S*…\S*effort-high", line) for line in lines), lines


def test_samples_that_were_put_off_are_left() -> None:
    lines = texts(panel([VariantProgress("b", 4, 1, tally(4, 1, 1)), VariantProgress("a", 4, 1)]))
    assert any(re.search(r"b +1/4 .* 3 left", line) for line in lines), lines


def test_shots_that_follow_the_spend_are_at_most_so_many_for_a_problem() -> None:
    drawn = panel([VariantProgress("b", 8, 3, tally(8, 8, 8)), VariantProgress("a", 4, 1)])
    assert any(" 3 shots each" in line for line in texts(drawn))
    drawn.expect("b", 8)
    assert any(" up to 3 shots each" in line for line in texts(drawn))


def test_names_are_made_safe() -> None:
    lines = texts(
        panel(
            [
                VariantProgress("a", 1, 1),
                VariantProgress("b", 1, 1),
                VariantProgress("c\x1b[2J", 1, 1),
            ]
        )
    )
    assert not any("\x1b" in line for line in lines)
