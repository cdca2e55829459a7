"""The rows that docs/problems.md shows: each is read, and its reference passes its tests."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.verdict import Verdict
from harness.sandbox.worker import Worker
from harness.sources.jsonl import load

PAGE = Path(__file__).parents[2] / "docs" / "problems.md"
ROWS = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)]


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.stop()


def test_there_are_ten() -> None:
    assert len(ROWS) == 10


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_the_reference_of_a_documented_row_passes(
    row: dict[str, Any], write_rows: Callable[..., Path], worker: Worker
) -> None:
    (problem,) = load(str(write_rows(row))).problems
    (code,) = problem.programs()
    task = Options().task(problem, code, problem.tests.all())
    grade = judge(worker, task)
    assert grade.verdict is Verdict.ACCEPTED, grade
    assert len(grade.tests) == grade.public_total + grade.hidden_total > 0
    wrong = judge(worker, Options().task(problem, _wrong(code), problem.tests.all()))
    assert wrong.verdict in {Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR}, wrong


def _wrong(code: str) -> str:
    """The same with every value that it returns or prints another."""
    changed = re.sub(r"\breturn .*|raise .*|items\.sort\(\)", "return 'wrong'", code)
    return "print('wrong')" if code.startswith("print") else changed
