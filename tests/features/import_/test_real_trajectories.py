"""Agent runs that others published, against the verdicts of their own logs."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from json_lines import json_lines
from program import harness, results

pytestmark = pytest.mark.thorough

RUNS = "agentic_runs/gpt-5-mini_lcb_v6.runs1-2.jsonl.gz"


@pytest.fixture
def rows(test_data: Path) -> list[dict[str, Any]]:
    """Two runs over the same 100 problems of LiveCodeBench."""
    text = gzip.decompress((test_data / RUNS).read_bytes())
    return [json.loads(line) for line in text.splitlines()]


def with_verdicts(rows: list[dict[str, Any]], *, public: bool) -> list[dict[str, Any]]:
    """The rows with the verdict of their own log: on all tests, or on the public ones alone."""
    labelled_rows: list[dict[str, Any]] = []
    for row in rows:
        kinds = {"public"} if public else {"public", "private"}
        tests = [test["passed"] for test in row["tests"] if test["kind"] in kinds]
        known = {"passed": all(tests)} if tests else {}
        known = {"passed": False} if not row["revisions"] else known
        labelled_rows.append({**row, **known})
    return labelled_rows


def taken(folder: Path, rows: list[dict[str, Any]], problems: str) -> tuple[Any, str]:
    (folder / "theirs.jsonl").write_text(json_lines(rows))
    given = ("--problems", problems, "--out", "r", "--json", "--all-tests")
    done = harness(folder, "import", "theirs.jsonl", *given)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def test_published_verdicts_on_all_tests_agree(
    test_data: Path, tmp_path: Path, rows: list[dict[str, Any]]
) -> None:
    problems = test_data / "lcb_codegen_full184" / "test_*"
    summary, report = taken(
        tmp_path, with_verdicts(rows, public=False), f"livecodebench:{problems}"
    )
    assert "42 of 42 published verdicts agree" in report
    assert "158 of 200 trajectories skipped: 79 problems are not in --problems" in report
    assert summary["pass_at_1"]["value"] == pytest.approx(38 / 42)
    sample_results = {r["sample"]: r for r in results(tmp_path / "r")}
    theirs: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        theirs.setdefault(f"livecodebench/{row['question_id']}", []).append(row)
    compared = 0
    for result in sample_results.values():
        row = theirs[result["problem_id"]][result["index"]]
        if not row["tests"]:
            continue
        passed = [test["verdict"] == "accepted" for test in result["tests"]]
        assert passed == [test["passed"] for test in row["tests"]], result["sample"]
        compared += len(passed)
    assert compared > 500
    assert summary["curve"]["by_turn"][0] == {"turn": 1, "solved": pytest.approx(38 / 42)}


def test_the_public_tests_of_all(
    test_data: Path, tmp_path: Path, rows: list[dict[str, Any]]
) -> None:
    problems = test_data / "lcb_codegen_public1055" / "test_public_only.jsonl.gz"
    summary, report = taken(tmp_path, with_verdicts(rows, public=True), f"livecodebench:{problems}")
    assert "200 samples with 239 revisions" in report
    assert "192 of 192 published verdicts agree" in report
    by_turn = {point["turn"]: point["solved"] for point in summary["curve"]["by_turn"]}
    assert (by_turn[1], by_turn[2]) == pytest.approx((0.835, 0.87))
    assert summary["curve"]["lost"] == 1
