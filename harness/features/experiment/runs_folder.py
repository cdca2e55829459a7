"""A directory that holds several runs: its own file, its lock, and runs in parts on one budget.

An experiment is one, and so is a tuning (`harness.features.tune`).
"""

import fcntl
import os
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from harness.errors import RunDirectoryError
from harness.frozen import Frozen
from harness.run.engine.earlier_spending import budget_of
from harness.run.engine.lifecycle import PreparedRun
from harness.run.engine.outcome import Outcome
from harness.run.plan.budget import Budget, Total
from harness.run.session.sync import run
from harness.run.store.directory import MANIFEST, write_json
from harness.run.store.files import read_file
from harness.run.store.results import storage_error
from harness.run.store.transcripts import FOLDER

MOST_BYTES = 64 << 20
Contents = TypeVar("Contents", bound=Frozen)
CarryOut = Callable[[PreparedRun, Path, Budget], Outcome]
"""Carries out part of a run, as `RunController.carry_out` does."""


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


def carry_out_part(
    prepared: PreparedRun, path: Path, elsewhere: Total, carry_out: CarryOut
) -> Outcome:
    """Carry out samples of a run, which is stored without the budget of all runs.

    Args:
        prepared: the run, with the samples to do now.
        path: its directory.
        elsewhere: what the other runs have spent.
        carry_out: does it.
    """
    budget = budget_of(prepared.plan, path, elsewhere)
    if path.is_dir() and not (path / MANIFEST).exists():  # a crash before the run had started
        (path / f".{MANIFEST}.draft").unlink(missing_ok=True)
        if (path / FOLDER).is_dir() and not any((path / FOLDER).iterdir()):
            (path / FOLDER).rmdir()
    spec = prepared.plan.spec.model_copy(update={"max_cost": None, "max_tokens_total": None})
    prepared = replace(prepared, plan=replace(prepared.plan, spec=spec))
    return carry_out(prepared, path, budget)


def close_models(prepared: Iterable[PreparedRun]) -> None:
    """Close the models of runs that are prepared and not started."""

    async def close() -> None:
        for each in prepared:
            await each.plan.model.close()

    run(close)
