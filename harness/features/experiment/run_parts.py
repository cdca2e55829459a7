"""Runs that are carried out in parts, on a budget that several runs share."""

from dataclasses import replace
from pathlib import Path

from harness.run.engine.lifecycle import PreparedRun
from harness.run.store.directory import MANIFEST
from harness.run.store.transcripts import FOLDER


def without_budget(prepared: PreparedRun) -> PreparedRun:
    """Remove the budget, which belongs to all runs together, from a run to be stored."""
    spec = prepared.plan.spec.model_copy(update={"max_cost": None, "max_tokens_total": None})
    return replace(prepared, plan=replace(prepared.plan, spec=spec))


def clear_unbegun(path: Path) -> None:
    """Remove leftovers of a crash before the run had started."""
    if path.is_dir() and not (path / MANIFEST).exists():
        (path / f".{MANIFEST}.draft").unlink(missing_ok=True)
        if (path / FOLDER).is_dir() and not any((path / FOLDER).iterdir()):
            (path / FOLDER).rmdir()
