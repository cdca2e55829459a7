"""Processes that a process has started, read where they may end at any moment."""

import contextlib
import time
from pathlib import Path

PATIENCE_S = 60.0


def children(process: int | str = "self", zombies: bool = False) -> set[int]:
    """The processes that any thread of a process has started and that have not ended.

    With `zombies` also those that have ended and that nobody has reaped.
    """
    child_ids: set[int] = set()
    with contextlib.suppress(OSError):  # the process, or one of its threads, has ended
        for task in Path(f"/proc/{process}/task").iterdir():
            with contextlib.suppress(OSError):
                child_ids |= {int(child) for child in (task / "children").read_text().split()}
    return {child for child in child_ids if zombies or is_alive(child)}


def descendants(process: int | str = "self") -> set[int]:
    """The processes below a process."""
    pids = children(process)
    return pids.union(*map(descendants, pids))


def is_alive(process: int) -> bool:
    """Whether a process runs: one that waits to be reaped has ended."""
    return state(process) not in "ZX"


def state(process: int) -> str:
    """The letter that the kernel gives a process; X where there is none."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def fork_server(process: int) -> int:
    """The fork server that a worker has started: in namespaces, the process only waits for it."""
    while not _is_fork_server(process):
        (process,) = children(process)
    return process


def _is_fork_server(process: int) -> bool:
    program, *arguments = Path(f"/proc/{process}/cmdline").read_text().split("\0")
    return "bwrap" not in program and any(word.endswith("fork_server.py") for word in arguments)


def resting(process: int) -> int:
    """The fork server of a worker, once nothing is left of what it ran.

    A worker lets go of a program's processes without waiting for their end.
    """
    server = fork_server(process)
    end = time.monotonic() + PATIENCE_S
    while left := children(server, zombies=True):
        assert time.monotonic() < end, left
        time.sleep(0.005)
    return server


def wait_for_end(before: set[int]) -> None:
    """Wait until this process has no other children than those of before."""
    end = time.monotonic() + PATIENCE_S
    while left := children() - before:
        assert time.monotonic() < end, left
        time.sleep(0.005)
