"""Problems given as rows: loaded, evaluated, graded, and refused like those of a file."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import harness

pytestmark = pytest.mark.usefixtures("kept_sandbox")

ROWS: list[dict[str, Any]] = [
    {
        "id": "twice",
        "statement": "Print twice the number.",
        "tests": [{"input": "2\n", "output": "4\n"}, {"input": "3\n", "output": "6\n"}],
        "release_date": date(2025, 1, 2),
    },
    {
        "id": "mine/add",
        "statement": "Add.",
        "entry_point": "add",
        "tests": [{"input": "1\n2", "output": "3", "public": True}],
        "references": ["def add(a, b): return a + b"],
    },
]


def test_rows_are_the_problems_of_a_file_with_them(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text("".join(json.dumps(row, default=str) + "\n" for row in ROWS))
    given, read = harness.load_problems(ROWS), harness.load_problems(f"jsonl:{file}")
    assert [each.id for each in given] == ["jsonl/twice", "mine/add"]
    assert [each.content_hash for each in given] == [each.content_hash for each in read]
    assert [each.view() for each in given] == [each.view() for each in read]
    (dated,) = harness.load_problems(ROWS, min_release_date="2025-01-01")
    assert dated.id == "jsonl/twice"


@pytest.mark.thorough
def test_problems_given_as_rows_are_evaluated_and_graded() -> None:
    answers = {"jsonl/twice": "print(2 * int(input()))", "mine/add": "def add(a, b): return a - b"}
    done = harness.evaluate(lambda problem: answers[problem["id"]], benchmark=ROWS)
    assert {each.problem_id: each.solved for each in done.results} == {
        "jsonl/twice": True,
        "mine/add": False,
    }
    assert harness.grade([*harness.load_problems(ROWS)[:1], ROWS[1]], answers).pass_at_1 == 0.5


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "a"}, "the benchmark's row:1: field 'statement': missing"),
        ({**ROWS[0], "test": "x", "tset": 1}, "field 'tset': unknown key; did you mean"),
        ({**ROWS[1], "tests": [{"input": "[1", "output": "1"}]}, "line 1 of the input is not a J"),
        ({**ROWS[0], "statement": object()}, "the benchmark's row 1: it cannot be JSON"),
    ],
)
def test_a_row_of_another_form_is_refused(row: dict[str, Any], message: str) -> None:
    with pytest.raises(harness.DataError) as caught:
        harness.load_problems([row])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_rows_of_one_id_are_refused() -> None:
    with pytest.raises(harness.UsageError, match="jsonl/twice is there twice"):
        harness.load_problems([ROWS[0], ROWS[0]])
