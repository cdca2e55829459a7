"""Results of a variant's run, and the samples of it that are not needed."""

from collections.abc import Collection
from pathlib import Path

from harness.run.engine.outcome import sum_up
from harness.run.plan.plan import Plan
from harness.run.store.directory import MANIFEST, RunDirectory, read_manifest
from harness.run.store.pending import NOT_NEEDED
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run, read_run
from harness.run.summary.summary import Stopped


def run_of(path: Path) -> Run | None:
    """Return the run of a variant; None if not started."""
    return read_run(path) if (path / MANIFEST).exists() else None


def results_of(path: Path) -> Collection[SampleResult]:
    """Return the graded samples of a variant with costs; none if not started."""
    run = run_of(path)
    return run.results if run else ()


def keep_as_not_needed(path: Path, plan: Plan, cause: str, *, ends: bool = True) -> None:
    """Record in a run that its pending samples are not needed, and why.

    Args:
        path: the run directory.
        plan: the run's plan.
        cause: why they are not needed.
        ends: whether that ended the run early.
    """
    if not (path / MANIFEST).exists():
        return
    directory = RunDirectory.resume(path)
    try:
        manifest = read_manifest(path)
        if len(directory.committed()) < len(plan.samples):
            directory.write_manifest({**manifest, NOT_NEEDED: cause})
            sum_up(directory, plan, Stopped(reason="decided", cause=cause) if ends else None)
    finally:
        directory.close()
