"""The rate by the source's own rule stands beside ours wherever a checker judged."""

import json
from pathlib import Path

import pytest
from program import harness

ROW = {
    "question_title": "Wrong Answer",
    "question_content": "Print any integer from 0 to 9 that is not A + B.",
    "platform": "atcoder",
    "question_id": "abc343_a",
    "contest_id": "abc343",
    "contest_date": "2024-03-02T00:00:00",
    "starter_code": "",
    "difficulty": "easy",
    "public_test_cases": json.dumps([{"input": "2 5\n", "output": "2\n", "testtype": "stdin"}]),
    "private_test_cases": json.dumps([{"input": "0 0\n", "output": "9\n", "testtype": "stdin"}]),
    "metadata": "{}",
}
OTHER = "a, b = map(int, input().split())\nprint((a + b + 1) % 10)\n"
TOLD = "source's rule"


@pytest.mark.thorough
def test_the_source_rule_is_printed_by_run_and_grade_and_in_the_page(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
    (tmp_path / "mine.py").write_text(f"def solve(problem):\n    return {OTHER!r}\n")
    place = ["-b", "livecodebench:rows.jsonl"]
    ran = harness(tmp_path, "run", *place, "-m", "python:mine:solve", "--out", "r")
    assert ran.returncode == 0, ran.stderr
    answer = [line.split()[:3] for line in ran.stdout.splitlines()]
    assert ["solved", "100.0", "%"] in answer
    assert ["source's", "rule", "0.0"] in answer
    shown = harness(tmp_path, "show", "r", "--details")
    _assert_0_beside_1(shown.stdout)
    solution = {"problem_id": "abc343_a", "code": OTHER}
    (tmp_path / "solutions.jsonl").write_text(json.dumps(solution) + "\n")
    problems = ["--problems", "livecodebench:rows.jsonl"]
    graded = harness(tmp_path, "grade", *problems, "--solutions", "solutions.jsonl")
    assert graded.returncode == 0, graded.stderr
    _assert_0_beside_1(graded.stdout)
    done = harness(tmp_path, "report", "r", "-o", "page.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text()
    assert "source&#39;s rule" in page or TOLD in page


def _assert_0_beside_1(printed: str) -> None:
    """Assert that the solution is right for the checker, and wrong by the source's rule."""
    rows = [line.strip() for line in printed.splitlines()]
    (ours,) = [row for row in rows if row.startswith("pass@1")]
    theirs = [row.removeprefix(TOLD).split() for row in rows if row.startswith(TOLD)]
    assert "100" in ours
    assert {row[0] for row in theirs} == {"0.0"}
