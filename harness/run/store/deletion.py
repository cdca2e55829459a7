"""Deletion of a run: why it is refused, what it frees, and the deletion itself."""

import fcntl
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import UsageError
from harness.run.store.directory import MANIFEST, RESULTS, is_under_way

AT_WORK = "A process is at work on it: stop that first."


def refusal(run: Path) -> str:
    """Say why a run cannot be deleted; empty if it can."""
    if run.is_symlink():
        return "It is a link."
    if is_under_way(run):
        return AT_WORK
    if not (run / MANIFEST).is_file():
        return "It is not a run, or no longer one."
    return ""


def delete_run(run: Path, name: str) -> None:
    """Delete a run's directory with all its files; links are removed, never followed.

    Args:
        run: its directory.
        name: how the user knows it.

    Raises:
        UsageError: the run may not be deleted, or the disk refuses.
    """
    if why := refusal(run):
        raise UsageError(f"{name}: {why}")
    with _locked(run, name):
        try:
            shutil.rmtree(run.resolve())
        except OSError as error:
            raise UsageError(f"{name} is not deleted: {error.strerror}") from error


@contextmanager
def _locked(run: Path, name: str) -> Generator[None]:
    """Hold the lock of a run's results, if it has any. Raises UsageError."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        file = os.open(run / RESULTS, flags)
    except OSError:  # not there, or no file that a run works on
        yield
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        raise UsageError(f"{name}: {AT_WORK}") from None
    try:
        yield
    finally:
        os.close(file)


def size_of(run: Path) -> int:
    """Return the bytes of a run's files; unreadable files are not counted."""
    total = 0
    for each in run.rglob("*"):
        try:
            total += 0 if each.is_symlink() else each.stat().st_size
        except OSError:
            continue
    return total
