"""Files in which problems have different numbers of samples: none is called pending."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agent_runs_made import RIGHT, WRONG
from program import Done, harness

from harness.errors import RunDirectoryError
from harness.features.viewer.open_run import OpenRun, RunPlace
from harness.run.store.directory import read_manifest
from harness.run.summary.loaded_run import bracket_of, measured_words, pending_of, read_run

Import = Callable[..., Done]

ROWS = {
    "trajectories": [
        {"problem_id": "echo", "sample": n, "code": code, "turn": 1}
        for n, code in enumerate((RIGHT, WRONG, RIGHT))
    ]
    + [{"problem_id": "double", "code": "def double(n): return 2 * n", "turn": 1}],
    "published": [
        {"problem_id": "echo", "code": RIGHT, "verdict": "accepted"},
        {"problem_id": "echo", "code": WRONG, "verdict": "wrong_answer"},
        {"problem_id": "echo", "code": RIGHT, "verdict": "accepted"},
        {"problem_id": "double", "code": "def double(n): return 2 * n", "verdict": "accepted"},
    ],
}


@pytest.fixture(params=list(ROWS))
def uneven_run(request: pytest.FixtureRequest, own: Path, take: Import) -> Path:
    """A run with three samples of one problem and one of the other."""
    done = take(ROWS[request.param])
    assert done.returncode == 0, done.stderr
    return own / "r"


def test_no_sample_is_pending_that_the_file_does_not_have(uneven_run: Path) -> None:
    manifest = read_manifest(uneven_run)
    assert manifest["spec"]["samples_per_problem"] == 3
    assert manifest["samples_by_problem"] == {"jsonl/double": 1}
    loaded = read_run(uneven_run)
    assert (loaded.planned, len(loaded.results), loaded.summary.pending) == (4, 4, {})
    assert pending_of(loaded) == {}
    bounds = bracket_of(loaded, selected=True)
    assert (bounds.pending, bounds.if_failed) == (0, bounds.if_solved)
    assert "2 problems x 1 to 3 samples" in measured_words(manifest, 2)
    assert json.loads((uneven_run / "summary.json").read_text())["pending"] == {}


@pytest.mark.thorough
def test_no_screen_calls_one_pending(uneven_run: Path) -> None:
    for command in (["ls", "."], ["show", "r"], ["report", "r", "-o", "r.html"]):
        done = harness(uneven_run.parent, *command, COLUMNS="120")
        assert done.returncode == 0, done.stderr
        assert "pending" not in done.stdout + done.stderr, command
    assert (
        harness(uneven_run.parent, "show", "r", "--only", "pending", "--json").stdout.count("#")
        == 0
    )
    written = harness(uneven_run.parent, "export", "r", "--to", "junit", "-o", "r.xml")
    assert written.returncode == 0, written.stderr
    assert 'tests="4" failures="1" errors="0"' in (uneven_run.parent / "r.xml").read_text()
    shown = OpenRun(RunPlace("k", uneven_run, "r", "", experiment=False))
    shown.refresh()
    assert (shown.planned, len(shown.items), shown.state.word) == (4, 4, "done")


def test_a_run_that_was_imported_before_is_still_read(uneven_run: Path) -> None:
    manifest = read_manifest(uneven_run)
    del manifest["samples_by_problem"]
    (uneven_run / "run.json").write_text(json.dumps(manifest))
    assert pending_of(read_run(uneven_run)) == {"jsonl/double": 2}


@pytest.mark.parametrize(
    "given", [[], {"jsonl/double": 0}, {"jsonl/double": 4}, {"x": 1}, {"jsonl/double": "1"}]
)
def test_numbers_that_cannot_be_are_refused_in_one_line(given: Any, uneven_run: Path) -> None:
    manifest = {**read_manifest(uneven_run), "samples_by_problem": given}
    (uneven_run / "run.json").write_text(json.dumps(manifest))
    with pytest.raises(RunDirectoryError, match="samples_by_problem is not a number from 1 to 3"):
        read_run(uneven_run)
