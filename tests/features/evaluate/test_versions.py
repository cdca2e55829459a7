"""A run that goes on under other versions says so and keeps them; its tools stay what they were."""

import json
from pathlib import Path
from typing import Any

import pytest
from program import harness

import harness as package
from harness.run.store.versions import (
    version_change,
    versions_after,
    versions_of,
    versions_together,
)

COMMAND = ("run", "--agentic-mode", "-n", "2", "--out", "r")


def manifest(folder: Path) -> Any:
    return json.loads((folder / "r" / "run.json").read_text())


def change(folder: Path, **keys: Any) -> None:
    (folder / "r" / "run.json").write_text(json.dumps({**manifest(folder), **keys}))


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """A run of which one sample is pending."""
    assert harness(tmp_path, *COMMAND).returncode == 0
    results = tmp_path / "r" / "results.jsonl"
    results.write_bytes(results.read_bytes()[:-100])
    return tmp_path


@pytest.mark.thorough
def test_a_run_that_goes_on_under_another_version_keeps_both(begun: Path) -> None:
    (first,) = manifest(begun)["versions"]
    assert first["harness"] == package.__version__
    older = {**first, "harness": "0.0.1", "python": "3.11.0"}
    change(begun, harness="0.0.1", versions=[older])
    done = harness(begun, *COMMAND)
    assert done.returncode == 0, done.stderr
    message = f"the run was made under harness 0.0.1, now {package.__version__}; Python 3.11.0, now"
    assert message in done.stderr
    assert [each["harness"] for each in manifest(begun)["versions"]] == [
        "0.0.1",
        package.__version__,
    ]
    done = harness(begun, *COMMAND)  # nothing is left: no version was at work
    assert "was made under" not in done.stderr
    assert len(manifest(begun)["versions"]) == 2


@pytest.mark.thorough
def test_a_run_that_is_older_than_the_list_of_versions_gets_one(begun: Path) -> None:
    stored = {key: value for key, value in manifest(begun).items() if key != "versions"}
    stored |= {"harness": "0.0.1", "git_revision": None}
    (begun / "r" / "run.json").write_text(json.dumps(stored))
    assert "under harness 0.0.1, now" in harness(begun, *COMMAND).stderr
    assert len(manifest(begun)["versions"]) == 2


@pytest.mark.thorough
def test_tools_that_have_changed_make_another_run(begun: Path) -> None:
    tools = manifest(begun)["tools"]
    assert tools["name"] == "read_problem, write_solution, run_tests"
    change(begun, tools={**tools, "hash": "0" * 64})
    done = harness(begun, *COMMAND)
    assert done.returncode == 2
    assert "what the model is told of its tools has changed since this run began" in done.stderr


def test_a_single_shot_has_no_tools(tmp_path: Path) -> None:
    assert harness(tmp_path, "run", "-n", "1", "--out", "r").returncode == 0
    assert "tools" not in manifest(tmp_path)


def test_each_version_is_kept_once() -> None:
    now = versions_after({})
    assert versions_after({"versions": now}) == now
    assert version_change({"versions": now}) == ""
    assert versions_of({"harness": "1", "machine": "none"})[0]["harness"] == "1"
    together = versions_together([{"versions": now}, {"versions": now}, {"harness": "1"}])
    assert [each["harness"] for each in together][-1] == "1"
    assert len(together) == 1 + len({tuple(each.items()) for each in now})
