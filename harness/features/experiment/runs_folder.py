"""The lock of a directory that holds several runs: one process works on it."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import RunDirectoryError


@contextmanager
def locked(path: Path, what: str) -> Generator[None]:
    """Lock a directory against other processes; it is made if it is not there.

    Args:
        path: the directory.
        what: what it holds, such as "experiment".

    Raises:
        RunDirectoryError: another process holds the lock, or the directory cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        folder = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    except OSError as error:
        raise RunDirectoryError(
            f"{path}: no {what} can be kept there ({error.strerror}); give another --out"
        ) from error
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise RunDirectoryError(
            f"{path}: another process is at work on this {what}; wait for it to end"
        ) from error
    else:
        yield
    finally:
        os.close(folder)
