"""Processes that a process has started, read where they may end at any moment."""

import contextlib
from pathlib import Path


def children(process: int | str = "self", zombies: bool = False) -> set[int]:
    """The processes that any thread of a process has started and that have not ended.

    With `zombies` also those that have ended and that nobody has reaped.
    """
    found: set[int] = set()
    with contextlib.suppress(OSError):  # the process, or one of its threads, has ended
        for task in Path(f"/proc/{process}/task").iterdir():
            with contextlib.suppress(OSError):
                found |= {int(child) for child in (task / "children").read_text().split()}
    return {child for child in found if zombies or is_alive(child)}


def descendants(process: int | str = "self") -> set[int]:
    """The processes below a process."""
    found = children(process)
    return found.union(*map(descendants, found))


def is_alive(process: int) -> bool:
    """Whether a process runs: one that waits to be reaped has ended."""
    return state(process) not in "ZX"


def state(process: int) -> str:
    """The letter that the kernel gives a process; X where there is none."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"
