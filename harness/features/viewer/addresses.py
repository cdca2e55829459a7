"""Map runs to addresses and back."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from harness.run.store.discovery import find_runs

EXPERIMENT = "experiment.json"


@dataclass(frozen=True, slots=True)
class Place:
    """A run's directory.

    Attributes:
        key: what stands for it in an address; it says nothing of where it is.
        name: its path below the folder that was looked into, or its own name.
        group: the experiment or the folder that it is in; empty for that folder itself.
        experiment: whether that is an experiment.
    """

    key: str
    path: Path
    name: str
    group: str
    experiment: bool


@dataclass(frozen=True, slots=True)
class ListedRuns:
    """The runs below a folder; `cut` says whether there may be more than were looked for."""

    places: tuple[Place, ...]
    cut: bool


def find_places(root: Path) -> ListedRuns:
    """The runs below a folder, as `harness.run.store.discovery` finds them."""
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
    """A short word for a name in an address: nothing of a name is ever a path to a file."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
