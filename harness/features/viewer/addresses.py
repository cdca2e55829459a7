"""Map runs to URLs and back."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from harness.run.store.discovery import find_runs

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
    """Find the runs below a folder, with `harness.run.store.discovery`."""
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
