"""Write the tests of a package, all or none, beside those that are there.

They are staged in a hidden folder of the package's `data`, where no reader looks, and moved at the
end: settings of groups, answers, then inputs. An answer without an input is an error of every
reader, so that an interrupt in between leaves no package that seems whole. What a killed process
staged is removed by the next one.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

from harness.closing import Closing
from harness.errors import DataError, StorageError
from harness.sources.contests.package.package_folder import (
    MOST_BYTES,
    MOST_PACKAGE_BYTES,
    PackageFolder,
)
from harness.sources.files.folder import Folder

DATA = "data"
_PREFIX = ".generated-"


class StagedTests(Closing):
    """Files of new tests; a context manager that removes what was not moved.

    Attributes:
        size: bytes of all files.
        moved: number of files that were moved to their places.

    Raises:
        StorageError: the package cannot be written to.
        DataError: its `data` is not a folder, or leads out of the package.
    """

    def __init__(self, package: PackageFolder) -> None:
        self._folder = Folder(package.root)
        self._data = package.root / DATA
        self._files: list[str] = []
        self.size = self.moved = 0
        try:
            if not self._folder.holds(self._data):
                raise DataError(str(self._data), None, "links out of the package")
            self._data.mkdir(exist_ok=True)
            for left in self._data.glob(f"{_PREFIX}*"):
                _remove_unless_used(left)
            self._stage = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=self._data))
            self._lock = _locked(self._stage)
        except OSError as error:
            raise _unwritable(self._data, error) from None

    def add(self, name: str, data: bytes) -> None:
        """Stage a file.

        Args:
            name: its path below `data`.
            data: its content.

        Raises:
            DataError: all files together are too large.
            StorageError: it cannot be written.
        """
        self.size += len(data)
        if self.size > MOST_PACKAGE_BYTES:
            what = f"the tests have more than {MOST_PACKAGE_BYTES:,} bytes"
            raise DataError(str(self._data / name), None, what)
        path = self._stage / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except OSError as error:
            raise _unwritable(self._data / name, error) from None
        self._files.append(name)

    def move(self) -> None:
        """Move the files to their places; those that are there already stay.

        Raises:
            DataError: a place holds something else.
            StorageError: a file cannot be moved; those that were are taken back.
        """
        new = [name for name in self._files if not self._is_there(name)]
        new.sort(key=lambda name: (name.endswith(".in"), name.endswith(".ans")))
        done: list[Path] = []
        try:
            for name in new:
                place = self._data / name
                place.parent.mkdir(parents=True, exist_ok=True)
                (self._stage / name).rename(place)
                done.append(place)
        except BaseException as error:
            for place in reversed(done):
                place.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise _unwritable(self._data, error) from None
            raise
        self.moved = len(new)

    def _is_there(self, name: str) -> bool:
        """Return whether a file of this content is there. Raises DataError for another content."""
        place = self._data / name
        known = self._folder.read(place, MOST_BYTES)
        if known is None and not self._folder.holds(place):
            raise DataError(str(place), None, "links out of the package")
        if known is None:
            return False
        if known != (self._stage / name).read_bytes():
            what = "there is another file than the one generated; move it away to have the new one"
            raise DataError(str(place), None, what)
        return True

    def close(self) -> None:
        """Remove what was not moved."""
        shutil.rmtree(self._stage, ignore_errors=True)
        os.close(self._lock)


def _locked(folder: Path) -> int:
    """Return the descriptor of a folder that this process has locked.

    Raises:
        OSError: another process has locked it, or it is not a folder.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _remove_unless_used(stage: Path) -> None:
    """Remove what a process that was killed has staged."""
    with contextlib.suppress(OSError):  # its process lives, or it is not a folder
        lock = _locked(stage)
        try:
            shutil.rmtree(stage, ignore_errors=True)
        finally:
            os.close(lock)


def _unwritable(path: Path, error: OSError) -> StorageError:
    return StorageError(f"{path} cannot be written: {error.strerror}")
