"""Deletion of runs, after confirmation and only inside the served folder."""

import shutil
from pathlib import Path

from harness.errors import UsageError
from harness.features.viewer.addresses import Place
from harness.run.store.directory import MANIFEST
from harness.run.store.discovery import is_under_way


def refusal(root: Path, place: Place) -> str:
    """Say why a run cannot be deleted; empty if it can."""
    path, folder = place.path, root.resolve()
    if path.resolve() == folder:
        return "It is the folder that is served: delete it yourself."
    if path.is_symlink() or not path.resolve().is_relative_to(folder):
        return "It is a link, or lies outside the folder that is served."
    if is_under_way(path):
        return "A process is at work on it: stop that first."
    if not (path / MANIFEST).is_file():
        return "It is no run, or no longer one."
    return ""


def delete_run(root: Path, place: Place) -> None:
    """Delete a run's directory with all its files; links are removed, never followed.

    Raises:
        UsageError: the run may not be deleted, or the disk refuses.
    """
    why = refusal(root, place)
    if why:
        raise UsageError(f"{place.name}: {why}")
    try:
        shutil.rmtree(place.path)
    except OSError as error:
        raise UsageError(f"{place.name} is not deleted: {error.strerror}") from error


def size_of(path: Path) -> int:
    """Return the bytes of a run's files; unreadable files are not counted."""
    total = 0
    for each in path.rglob("*"):
        try:
            total += 0 if each.is_symlink() else each.stat().st_size
        except OSError:
            continue
    return total
