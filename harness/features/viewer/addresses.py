"""Map runs to URLs and back; delete runs, after confirmation and only inside the served folder."""

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.run.store.directory import MANIFEST, find_runs, is_under_way

EXPERIMENT = "experiment.json"


@dataclass(frozen=True, slots=True)
class Place:
    """A run's directory.

    Attributes:
        key: id of the run in URLs, which does not show its path.
        name: path below the served folder, or the run's own name if it is that folder.
        group: path of the experiment or folder that contains it; empty for the served folder.
        experiment: whether that is an experiment.
    """

    key: str
    path: Path
    name: str
    group: str
    experiment: bool


@dataclass(frozen=True, slots=True)
class ListedRuns:
    """The runs below a folder; `cut` is true if the search ended before it saw all."""

    places: tuple[Place, ...]
    cut: bool


def find_places(root: Path) -> ListedRuns:
    """Find the runs below a folder, with `harness.run.store.directory`."""
    found = find_runs(root)
    return ListedRuns(tuple(_place(root, path) for path in found.paths), found.cut)


def _place(root: Path, path: Path) -> Place:
    own = path == root
    parent = path.parent
    return Place(
        key=key_of(str(path.resolve())),
        path=path,
        name=path.resolve().name if own else path.relative_to(root).as_posix(),
        group="" if own or parent == root else parent.relative_to(root).as_posix(),
        experiment=not own and (parent / EXPERIMENT).is_file(),
    )


def key_of(name: str) -> str:
    """Return a short hash of a name, for URLs: no part of a URL is ever a path."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


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
