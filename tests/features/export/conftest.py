"""Runs to export: real ones of the bundled problems, and small ones with hostile words."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from results_made import made_result

from harness.run.settings.spec import RunSpec
from harness.run.store.directory import RunDirectory
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run, read_run

MakeRun = Callable[..., Run]


@pytest.fixture(scope="session")
def recorded_run(written_runs: Callable[..., Path]) -> Path:
    """A folder with a run of the agent loop, `agentic`."""
    return written_runs("agentic")


@pytest.fixture
def agentic(recorded_run: Path) -> Run:
    """A run of the agent loop."""
    return read_run(recorded_run / "agentic")


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """A run on disk of these results, without transcripts."""

    def make(results: Iterable[SampleResult], *, more: int = 0, **spec: Any) -> Run:
        done = list(results)
        problems = {result.problem_id: result.problem_hash for result in done}
        problems |= {f"made/more-{number}": "" for number in range(more)}
        manifest = {
            "prompt": {"name": "default", "hash": "h"},
            "spec": RunSpec(model="made-model", **spec).model_dump(mode="json"),
            "problems": problems,
            "created": "2026-01-01T00:00:00+00:00",
        }
        directory = RunDirectory.create(tmp_path / "made", manifest)
        for result in done:
            directory.results.append(result)
        directory.close()
        return read_run(directory.path)

    return make


@pytest.fixture
def make_result() -> Callable[..., SampleResult]:
    """A sample of a problem with one public and one hidden test."""

    return made_result
