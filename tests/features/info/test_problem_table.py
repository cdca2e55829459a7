"""The table of `harness problems`: whole cells on every terminal; only a title may be cut."""

import json
from collections.abc import Callable
from pathlib import Path

from for_each import for_each
from program import harness
from schemas import valid

from harness.features.info.problems import COLUMNS, _table

ROW = (
    "livecodebench/1899_A",
    "A. Game with Integers",
    "codeforces",
    "easy",
    "2023-10-17",
    "program",
)


@for_each("width", [72, 80, 100, 140])
def test_the_problem_table_cuts_no_cell_but_the_title(
    width: int, shown: Callable[..., str]
) -> None:
    rows = [(*ROW, "1", "")]
    assert len(rows[0]) == len(COLUMNS)
    lines = shown(_table(rows, width), width).splitlines()
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert all(each in text for each in (ROW[0], "codeforces", "easy"))
    assert ("2023-10-17" in text) == ("released" in text)
    assert (ROW[1] in text) == (width >= 140)


def test_a_problem_is_shown_with_its_starter_code_in_every_language(tmp_path: Path) -> None:
    row = {
        "id": "total",
        "statement": "Add.",
        "entry_point": "total",
        "starters": {
            "cpp": "class Solution {\npublic:\n    int total(vector<int>& a) {\n    }\n};"
        },
        "tests": [{"input": "[1]", "output": "1", "public": True}],
    }
    (tmp_path / "own.jsonl").write_text(json.dumps(row))
    done = harness(tmp_path, "problems", "-b", "jsonl:own.jsonl", "total")
    assert "Starter code in C++:\nclass Solution {" in done.stdout, done.stderr


def test_json_shows_a_problem_without_its_hidden_tests_and_references(tmp_path: Path) -> None:
    row = {
        "id": "echo",
        "statement": "Print the input.",
        "tests": [
            {"input": "1\n", "output": "1\n", "public": True},
            {"input": "HIDDENINPUT\n", "output": "HIDDENOUTPUT\n", "public": False},
        ],
        "references": ["print(input())  # REFERENCE"],
    }
    (tmp_path / "own.jsonl").write_text(json.dumps(row))
    done = harness(tmp_path, "problems", "-b", "jsonl:own.jsonl", "echo", "--json")
    assert done.returncode == 0, done.stderr
    (problem,) = valid("problems", done.stdout)["problems"]
    assert problem["tests"] == [{"input": "1\n", "output": "1\n"}]
    assert (problem["public_tests"], problem["hidden_tests"]) == (1, 1)
    assert problem["statement"] == "Print the input."
    assert not [word for word in ("HIDDEN", "REFERENCE") if word in done.stdout]
    listed = valid("problems", harness(tmp_path, "problems", "jsonl:own.jsonl", "--json").stdout)
    assert (listed["of"], "statement" in listed["problems"][0]) == (1, False)
