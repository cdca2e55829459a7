"""The rows that docs/own-problems.md shows: each is read, and its reference passes its tests."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.verdict import Verdict
from harness.kinds.cpp.language import compiler
from harness.languages.language import MissingCompilerError
from harness.sandbox.worker import Worker
from harness.sources.jsonl import load

PAGE = Path(__file__).parents[2] / "docs" / "own-problems.md"
ROWS = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)]


def test_there_are_nine() -> None:
    assert len(ROWS) == 9


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_the_reference_of_a_documented_row_passes_and_a_wrong_solution_does_not(
    row: dict[str, Any], write_rows: Callable[..., Path], worker: Worker
) -> None:
    if isinstance(row.get("checker"), dict):
        try:
            compiler()
        except MissingCompilerError as missing:
            pytest.skip(str(missing))
    (problem,) = load(str(write_rows(row))).problems
    (code,) = problem.programs()
    grade = judge(worker, Options().task(problem, code, problem.tests.all()))
    assert grade.verdict is Verdict.ACCEPTED, grade
    assert len(grade.tests) == grade.public_total + grade.hidden_total == TESTS[row["id"]]
    for wrong in (WRONG[row["id"]], _all_wrong(code)):
        grade = judge(worker, Options().task(problem, wrong, problem.tests.all()))
        assert grade.verdict in {Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR}, grade


TESTS = {
    **dict.fromkeys(("far", "order", "tally"), 1),
    **dict.fromkeys(("sum", "swap", "first", "parts"), 2),
    **dict.fromkeys(("root", "area"), 3),
}
"""Number of tests of each row."""

WRONG = {
    "sum": "a, b = map(int, input().split())\nprint(a + b if a != b else a)",
    "parts": "print(0, input())",
    "far": "def far(points, names): return names[min(x * x + y * y for x, y in points)]",
    "swap": "def swap(pair): return [pair[1], pair[0]]",
    "root": "def root(n, degree=2):\n    return round(abs(n) ** (1 / degree), 3)",
    "order": "def order(items): return sorted(items)",
    "tally": "class Tally:\n    def __init__(self, n): self.n = n\n"
    "    def add(self, k):\n        return self.n + k",
    "area": "def area(r): return 3.14 * r * r",
    "first": "def first(items): return items[0] if items else None",
}
"""A solution of each row that one of its tests finds wrong."""


def _all_wrong(code: str) -> str:
    """Return the same with every value that it returns or prints another."""
    changed = re.sub(r"\breturn .*|raise .*|items\.sort\(\)", "return 'wrong'", code)
    return "print('wrong')" if code.startswith("print") else changed
