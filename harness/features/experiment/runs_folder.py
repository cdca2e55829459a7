"""A directory that holds several runs: its own file and its lock.

An experiment is one, and so is a tuning (`harness.features.tune`).
"""

import fcntl
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from harness.errors import RunDirectoryError
from harness.frozen import Frozen
from harness.run.store.directory import MANIFEST, write_json
from harness.run.store.files import read_file
from harness.run.store.results import storage_error

MOST_BYTES = 64 << 20
Contents = TypeVar("Contents", bound=Frozen)


def read_contents(file: Path, kind: type[Contents], what: str) -> Contents:
    """Read the file of a directory that holds `what`, such as "an experiment".

    Raises:
        RunDirectoryError: the file is missing or invalid.
    """
    try:
        return kind.model_validate_json(read_file(file, MOST_BYTES))
    except FileNotFoundError as error:
        raise RunDirectoryError(f"{file.parent} is not {what}: it has no {file.name}") from error
    except OSError as error:
        raise RunDirectoryError(f"{file} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise RunDirectoryError(
            f"{file} is not {what}'s, or another version's{where and f' ({where})'}"
        ) from error


def write_contents(file: Path, contents: Mapping[str, Any]) -> None:
    """Write the file, and make its directory if it is not there. Raises StorageError."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_json(file, contents)
    except OSError as error:
        raise storage_error(file, error) from error


def refuse_used(file: Path, what: str, *leftovers: str) -> None:
    """Refuse to begin where something else is; a crash leaves the file's draft and leftovers.

    Raises:
        RunDirectoryError: the directory is a run, or has other files.
    """
    path, known = file.parent, {f".{file.name}.draft", *leftovers}
    if (path / MANIFEST).exists():
        raise RunDirectoryError(f"{path} is a run, not {what}; choose another --out")
    if path.exists() and (not path.is_dir() or {each.name for each in path.iterdir()} - known):
        raise RunDirectoryError(f"{path} exists and is not {what}; choose another --out")


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
