"""Run directories: creating, opening, locking and resuming one, and searching for them."""

import errno
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from harness.agent.strategies.modes import remember_stored
from harness.errors import RunDirectoryError
from harness.run.settings.problem_settings import MOST_SAMPLES
from harness.run.store.files import read_json, reason_of
from harness.run.store.planned_samples import fault_of, planned_samples
from harness.run.store.results import ResultsFile, SampleResult, read_results, storage_error
from harness.run.store.transcript import SharedParts, TranscriptWriter, file_name
from harness.run.store.transcripts import FOLDER

MANIFEST, RESULTS, SUMMARY = "run.json", "results.jsonl", "summary.json"
OWN_MODE = "mode"
"""Key of the manifest with what a user's own mode declares."""
EXPERIMENT = "experiment.json"
"""File of a directory that holds the runs of an experiment."""
BATCHES = "batches.jsonl"
"""Batches of one run, with samples of all problems together."""

DEEPEST = 5
"""Depth of folders to search; runs contain no other runs."""

MOST_FOLDERS = 20_000
"""Number of folders to search, so that a wrong path ends soon."""

MOST_RUNS = 2_000


class RunDirectory:
    """A run on disk, opened for writing by this process only.

    Use `create` or `resume`.
    """

    def __init__(self, path: Path, manifest: Mapping[str, Any]) -> None:
        self.path = path
        self._shared = SharedParts(manifest.get("transcripts"))
        self.results = ResultsFile(path / RESULTS)

    @classmethod
    def create(cls, path: Path, manifest: Mapping[str, Any]) -> "RunDirectory":
        """Create a new run directory.

        Raises:
            RunDirectoryError: it already exists, or cannot be created.
        """
        _check_size(path, manifest)
        there = True
        try:
            there = path.exists()
            _refuse_taken(path)
            (path / FOLDER).mkdir(parents=True)
            try:
                write_json(path / MANIFEST, manifest)
            except OSError:
                (path / FOLDER).rmdir()
                raise
        except OSError as error:
            if not there:
                with suppress(OSError):  # it was not made, or somebody has put a file there
                    path.rmdir()
            raise _unusable(path, error) from error
        return cls(path, manifest)

    @classmethod
    def resume(cls, path: Path) -> "RunDirectory":
        """Open an existing run directory to continue the run.

        Raises:
            RunDirectoryError: it is not a run, or another process is using it.
        """
        manifest = read_manifest(path)
        try:
            (path / FOLDER).mkdir(exist_ok=True)
        except OSError as error:
            raise _unusable(path, error) from error
        return cls(path, manifest)

    def committed(self) -> list[SampleResult]:
        """Return the graded samples."""
        return list(read_results(self.path / RESULTS))

    def transcript(self, problem_id: str, index: int) -> TranscriptWriter:
        """Open the transcript of a sample, continuing that of an unfinished attempt."""
        path = self.path / FOLDER / file_name(problem_id, index)
        return TranscriptWriter(path, self._shared)

    def new_transcript(self, problem_id: str, index: int) -> TranscriptWriter:
        """Open a new transcript, replacing any existing one."""
        path = self.path / FOLDER / file_name(problem_id, index)
        path.unlink(missing_ok=True)
        return TranscriptWriter(path, self._shared)

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Update the manifest of a run that has grown."""
        try:
            write_json(self.path / MANIFEST, manifest)
        except OSError as error:
            raise storage_error(self.path / MANIFEST, error) from error

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Write the summary, which can be derived again from the results."""
        try:
            write_json(self.path / SUMMARY, summary)
        except OSError as error:
            raise storage_error(self.path / SUMMARY, error) from error

    def close(self) -> None:
        """Release the lock."""
        self.results.close()


def has_run(path: Path) -> bool:
    """Whether a run is at a path. Raises RunDirectoryError if that cannot be seen."""
    try:
        return (path / MANIFEST).exists()
    except OSError as error:
        raise _unusable(path, error) from error


def check_new(path: Path) -> None:
    """Check that a new run can be made at a path, before anything is announced.

    Raises:
        RunDirectoryError: something else is there, or nothing can be written there.
    """
    try:
        _refuse_taken(path)
    except OSError as error:
        raise _unusable(path, error) from error
    check_writable(path)


def check_begun(path: Path) -> None:
    """Check that a run that has begun can go on. Raises RunDirectoryError."""
    check_writable(path)
    if (path / RESULTS).exists():
        check_writable(path / RESULTS)


def check_writable(path: Path, what: str = "a run") -> None:
    """Check that a path, or the nearest folder above it that exists, can be written to.

    Raises:
        RunDirectoryError: it cannot, or what is above is no folder.
    """
    try:
        _check_writable(path.absolute())
    except OSError as error:
        raise _unusable(path, error, what) from error


def _check_writable(path: Path) -> None:
    there = path
    while True:
        try:
            mode = there.stat().st_mode
            break
        except FileNotFoundError:
            there = there.parent
    if there != path and not stat.S_ISDIR(mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(there))
    wanted = os.W_OK | os.X_OK if stat.S_ISDIR(mode) else os.W_OK
    if not os.access(there, wanted, effective_ids=os.access in os.supports_effective_ids):
        read_only = os.statvfs(there).f_flag & os.ST_RDONLY
        number = errno.EROFS if read_only else errno.EACCES
        raise OSError(number, os.strerror(number), str(there))


def _refuse_taken(path: Path) -> None:
    """Raise RunDirectoryError if a path has something that is no empty folder."""
    if (path / MANIFEST).exists():
        raise RunDirectoryError(
            f"{path} is a run already; continue it with --resume, or choose another --out"
        )
    if (path / FOLDER).is_dir():
        raise RunDirectoryError(
            f"{path} has {FOLDER} and no {MANIFEST}: another process or call may be "
            "starting a run there; wait for it, or choose another --out"
        )
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise RunDirectoryError(
            f"{path} exists and is not an empty directory; choose another --out"
        )


def refuse_experiment(path: Path) -> None:
    """Raise RunDirectoryError if a directory is that of an experiment."""
    if (path / EXPERIMENT).is_file() and not (path / MANIFEST).is_file():
        raise RunDirectoryError(
            f"{path} is an experiment, which holds runs; see them with: harness experiment show "
            f"{path}"
        )


def experiment_of(run: Path) -> Path | None:
    """Return the experiment that a run is a variant of; None if it is of none."""
    folder = run.absolute().parent
    return run.parent if (folder / EXPERIMENT).is_file() else None


def read_manifest(path: Path) -> dict[str, Any]:
    """Read `run.json` of a run.

    Raises:
        RunDirectoryError: it does not exist or cannot be read.
    """
    try:
        manifest: Any = read_json(path / MANIFEST)
    except (FileNotFoundError, NotADirectoryError) as error:
        if path.is_file() and path.parent.joinpath(MANIFEST).is_file():
            raise RunDirectoryError(
                f"{path} is a file of a run; give its directory, {path.parent}"
            ) from error
        if not os.path.lexists(path):
            raise RunDirectoryError(f"{path}: no such run") from error
        refuse_experiment(path)
        inside = min(path.glob(f"*/{MANIFEST}"), default=None)
        hint = f"; it holds runs, such as {inside.parent}" if inside else ""
        raise RunDirectoryError(f"{path} is not a run: it has no {MANIFEST}{hint}") from error
    except OSError as error:
        raise RunDirectoryError(f"{path / MANIFEST} cannot be read: {reason_of(error)}") from error
    except ValueError as error:
        raise RunDirectoryError(f"{path / MANIFEST} cannot be read: {error}") from error
    try:
        whole = "samples_per_problem" in manifest["spec"] and manifest["prompt"]["hash"]
        whole = whole and isinstance(manifest["problems"], dict)
    except (KeyError, TypeError):
        whole = False
    if not whole:
        raise RunDirectoryError(f"{path / MANIFEST} is not the manifest of a run")
    _check_size(path, manifest)
    remember_stored(manifest["spec"].get("mode"), manifest.get(OWN_MODE))
    return manifest


def _check_size(path: Path, manifest: Mapping[str, Any]) -> None:
    """Refuse a run with too many samples. Raises RunDirectoryError."""
    if fault := fault_of(manifest):
        raise RunDirectoryError(f"{path / MANIFEST}: {fault}")
    samples = manifest["spec"]["samples_per_problem"]
    if planned_samples(manifest) > MOST_SAMPLES:
        raise RunDirectoryError(
            f"{path / MANIFEST}: {planned_samples(manifest):,} samples ({samples:,} a problem) are "
            f"too many; a run has at most {MOST_SAMPLES:,}"
        )


def default_path(mode: str, model: str) -> Path:
    """Return an unused path under `runs/`, named by time, model and mode.

    Raises:
        RunDirectoryError: that folder cannot be read.
    """
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    word = "".join(letter if letter.isalnum() or letter in "-." else "-" for letter in model)[:40]
    first = Path("runs") / f"{stamp}-{word.strip('-')}-{mode}"
    names = (first, *(first.with_name(f"{first.name}-{number}") for number in range(2, 1_000)))
    try:
        return next(path for path in names if not path.exists())
    except OSError as error:
        raise _unusable(first, error) from error


def _unusable(path: Path, error: OSError, what: str = "a run") -> RunDirectoryError:
    return RunDirectoryError(
        f"{path}: {what} cannot be kept there ({reason_of(error)}); choose another --out"
    )


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a file atomically. Raises OSError."""
    draft = path.with_name(f".{path.name}.draft")
    try:
        with draft.open("w", encoding="utf-8") as file:
            json.dump(value, file, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


class FoundRuns(NamedTuple):
    """The runs below a folder; `cut` says whether the search stopped at a limit."""

    paths: tuple[Path, ...]
    cut: bool


def find_runs(root: Path) -> FoundRuns:
    """Find the runs in and below a folder, or the folder itself; follows no links.

    Folders that cannot be looked into are among them.
    """
    paths: list[Path] = []
    left = MOST_FOLDERS
    for folder in _folders(root):
        left -= 1
        if left < 0 or len(paths) == MOST_RUNS:
            return FoundRuns(tuple(paths), cut=True)
        if _may_be_run(folder):
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
        len(reason) > 5 and reason[1] == "FLOCK" and reason[5].endswith(f":{inode}")  # noqa: PLR2004 - the inode is the sixth word
        for reason in held
    )


def _folders(root: Path) -> Iterator[Path]:
    """Yield a folder and those below it, breadth first, but none inside a run."""
    level = [root]
    for _ in range(DEEPEST + 1):
        below: list[Path] = []
        for folder in level:
            yield folder
            if not _may_be_run(folder):
                below += _children(folder)
        level = below


def _may_be_run(folder: Path) -> bool:
    """Whether a folder is a run, or cannot be looked into."""
    try:
        return stat.S_ISREG((folder / MANIFEST).stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _children(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            files = [
                entry.path
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
            ]
    except OSError:  # not readable
        return []
    return [Path(path) for path in sorted(files)]
