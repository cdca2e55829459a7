"""An experiment on a terminal: the variant at work, and the last screen."""

import re

import pytest
from json_lines import json_lines
from terminal import Session, on_terminal

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
    """An experiment of two variants and six problems on a terminal of 80 x 24."""
    folder = tmp_path_factory.mktemp("live")
    (folder / "own.py").write_text(MODEL)
    tests = [{"input": str(n), "output": str(n), "public": n == 1} for n in (1, 2)]
    rows = [{"id": f"p{n}", "statement": f"Echo {n}.", "tests": tests} for n in range(6)]
    (folder / "p.jsonl").write_text(json_lines(rows))
    asked = ("experiment", "-m", "python:own:slow", "--price", "100,100", "-b", "jsonl:p.jsonl")
    more = ("--concurrency", "2", "--max-cost", "5", "--shots", "2", "--out", "e")
    return on_terminal(folder, *asked, *more, columns=80, lines=24)


def test_the_variant_at_work_is_named(shown: Session) -> None:
    assert shown.code == 0, shown.end
    for name, samples in (("single_shot", 12), ("agentic", 6)):
        tables = [
            screen
            for _, screen in shown.frames
            if f"│ variant {name}   python:own:slow" in screen and f"/{samples}  0:00:" in screen
        ]
        assert tables, name
        assert all(screen.count("│ variant ") == 1 for screen in tables)


def test_a_table_is_gone_when_its_part_has_ended(shown: Session) -> None:
    assert "variant 2 of 2: agentic" in shown.end
    assert "│" not in shown.end
    assert "━" not in shown.end


def test_no_line_is_folded(shown: Session) -> None:
    notices = re.findall(r"sandbox level .*", shown.raw)  # of a weaker sandbox, above the panel
    assert shown.wrapped == sum((len(notice.rstrip()) - 1) // 80 for notice in notices)


def test_the_last_screen_is_the_answer_of_compare(shown: Session) -> None:
    lines = shown.end.rstrip().splitlines()
    assert len(lines) <= 24
    answer = " ".join(shown.end.split())
    assert "agentic against single shot: python:own:slow, jsonl p.jsonl, 6 problems" in answer
    assert "(+100.0 points, " in answer
    assert "changed: 6 gained" in answer
    assert "spent: single_shot $0.1200, agentic $0.0600" in answer
    assert lines[-1] == "experiment directory: e"
