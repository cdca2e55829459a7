"""Current memory use of a process and all its descendants, from `/proc`.

The sum has the private pages of every process, in memory and swapped out, and the largest number of
shared pages (`memfd`, `/dev/shm`) mapped by one process. Shared pages that no process has mapped,
and files in memory, are not counted.
"""

import contextlib
import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

OWN = ("RssAnon:", "VmSwap:")
SHARED = "RssShmem:"
KIB = 1024
CHILDREN = "children"


def tree_bytes(root: int) -> int:
    """Return the bytes that a process and its descendants use; 0 if it has ended."""
    own = shared = 0
    for pid in _tree(root):
        with contextlib.suppress(OSError, ValueError):
            found = _counted(Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))
            own += sum(found.get(name, 0) for name in OWN)
            shared = max(shared, found.get(SHARED, 0))
    return own + shared


def _counted(status: str) -> dict[str, int]:
    lines = (line.split() for line in status.splitlines() if line.startswith((*OWN, SHARED)))
    return {words[0]: int(words[1]) * KIB for words in lines}


def _tree(root: int) -> list[int]:
    """Return the ids of a process and all its descendants."""
    below = (
        _listed
        if Path(f"/proc/{os.getpid()}/task/{os.getpid()}/{CHILDREN}").exists()
        else _searched()
    )
    found = [root]
    for pid in found:
        found += below(pid)
    return found


def _listed(pid: int) -> list[int]:
    """Return the children of a process, as listed for its threads."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += map(int, (thread / CHILDREN).read_text(encoding="ascii").split())
    return found


def _searched() -> Callable[[int], list[int]]:
    """Return a function like `_listed`, for kernels without lists of children."""
    below: defaultdict[int, list[int]] = defaultdict(list)
    for pid, parent in _parents():
        below[parent].append(pid)
    return below.__getitem__


def _parents() -> Iterator[tuple[int, int]]:
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            stat = (process / "stat").read_text(encoding="utf-8", errors="replace")
            yield int(process.name), int(stat.rpartition(")")[2].split()[1])
