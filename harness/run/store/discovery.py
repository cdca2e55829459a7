"""Search for runs below a folder, and whether a process is working on a run."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.run.store.directory import MANIFEST, RESULTS

DEEPEST = 5
"""Depth of folders to search; runs contain no other runs."""
MOST_FOLDERS = 20_000
"""Number of folders to search, so that a wrong path ends soon."""
MOST_RUNS = 2_000


@dataclass(frozen=True, slots=True)
class FoundRuns:
    """The runs below a folder; `cut` says whether the search stopped at a limit."""

    paths: tuple[Path, ...]
    cut: bool


def find_runs(root: Path) -> FoundRuns:
    """Find the runs in and below a folder, or the folder itself; follows no links."""
    paths: list[Path] = []
    left = MOST_FOLDERS
    for folder in _folders(root):
        left -= 1
        if left < 0 or len(paths) == MOST_RUNS:
            return FoundRuns(tuple(paths), cut=True)
        if (folder / MANIFEST).is_file():
            paths.append(folder)
    return FoundRuns(tuple(paths), cut=False)


def is_under_way(run: Path) -> bool:
    """Whether a process is working on a run, and so holds the lock of its results.

    Reads the kernel's list of locks: trying the lock could block a run that is about to start.
    """
    try:
        inode = (run / RESULTS).stat().st_ino
        locks = Path("/proc/locks").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    held = (line.split() for line in locks.splitlines())
    return any(
        len(words) > 5 and words[1] == "FLOCK" and words[5].endswith(f":{inode}")  # noqa: PLR2004 - the inode is the sixth word
        for words in held
    )


def _folders(root: Path) -> Iterator[Path]:
    """Yield a folder and those below it, breadth first, but none inside a run."""
    level = [root]
    for _ in range(DEEPEST + 1):
        below: list[Path] = []
        for folder in level:
            yield folder
            if not (folder / MANIFEST).exists():
                below += _children(folder)
        level = below


def _children(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            found = [
                entry.path
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
            ]
    except OSError:  # not readable
        return []
    return [Path(path) for path in sorted(found)]
