"""Files of a folder that the user named: read whole, hashed, and nothing outside of it."""

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from harness.errors import DataError
from harness.sources.files.content_hash import add_parts

MOST_DEPTH = 16
"""Most folders inside each other; a link back to a folder is not an endless tree."""
MOST_ENTRIES = 200_000
"""Most entries of the folders that are listed."""


class Folder:
    """Reads regular files of a folder.

    Attributes:
        root: the folder, as in messages.
        sha256: hash over the names and contents of the files read so far, in order.
        size: bytes of these files.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._real = os.path.realpath(root)
        self.sha256 = hashlib.sha256()
        self.size = 0
        self._entries = 0

    def holds(self, path: Path) -> bool:
        """Return whether a path, with its links followed, is inside of the folder."""
        return Path(os.path.realpath(path)).is_relative_to(self._real)

    def outside(self, path: Path) -> str:
        """Return what is wrong with a path that links out."""
        del path
        return f"links out of {self.root}, which is not followed"

    def read(self, path: Path, most: int) -> bytes | None:
        """Return the content of a regular file; None where there is none.

        Raises:
            DataError: it is something else, outside of the folder, or too large.
        """
        data = read_whole(path, most) if self._leads_inside(path) else None
        if data is not None:
            add_parts(self.sha256, os.fsencode(f"{path.parent.name}/{path.name}"), data)
            self.size += len(data)
        return data

    def text(self, path: Path, most: int) -> str | None:
        """Return the text of a regular file; None where there is none.

        Raises:
            DataError: as for `read`, or it is not UTF-8.
        """
        data = self.read(path, most)
        return None if data is None else decoded(path, data)

    def entries(self, folder: Path) -> list[Path]:
        """Return what a folder holds, sorted by name; nothing where there is no such folder.

        Hidden entries, which begin with a dot, are left out.

        Raises:
            DataError: it cannot be listed, is outside of the folder, or holds too much.
        """
        if not self._leads_inside(folder):
            return []
        try:
            names = sorted(path.name for path in folder.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        except (OSError, ValueError) as error:
            raise _unreadable(folder, error, "listed") from None
        self._entries += len(names)
        if self._entries > MOST_ENTRIES:
            raise DataError(str(folder), None, f"more than {MOST_ENTRIES:,} files, or a link back")
        files = [folder / name for name in names if not name.startswith(".")]
        for path in files:
            _check_name(path)
        return files

    def files(self, folder: Path, depth: int = 0) -> Iterator[Path]:
        """Yield everything below a folder that is not a folder, in order. Raises DataError."""
        if depth > MOST_DEPTH:
            raise DataError(str(folder), None, f"more than {MOST_DEPTH} folders deep")
        for path in self.entries(folder):
            if is_folder(path):
                yield from self.files(path, depth + 1)
            else:
                yield path

    def _leads_inside(self, path: Path) -> bool:
        """Return whether something is there. Raises DataError where it links out."""
        try:
            path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except (OSError, ValueError) as error:
            raise _unreadable(path, error, "read") from None
        if not self.holds(path):
            raise DataError(str(path), None, self.outside(path))
        return True


def is_folder(path: Path) -> bool:
    """Return whether a path is a folder. Raises DataError where that may not be known."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except PermissionError as error:
        raise _unreadable(path, error, "read") from None
    except OSError:  # a link to nothing, or to itself
        return False


def read_whole(path: Path, most: int) -> bytes | None:
    """Return the content of a regular file; None where there is none.

    Raises:
        DataError: it is something else, too large, or cannot be read.
    """
    try:
        # Opening a pipe would block, and reading a device might never end.
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise DataError(str(path), None, "not a regular file")
        with path.open("rb") as file:
            data = file.read(most + 1) if found.st_size <= most else b""
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error, "read") from None
    if max(found.st_size, len(data)) > most:
        raise DataError(str(path), None, f"longer than {most:,} bytes")
    return data


def decoded(path: Path, data: bytes) -> str:
    """Return the text of a file. Raises DataError where it is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise DataError(str(path), None, f"not UTF-8: byte {error.start}") from None


def _unreadable(path: Path, error: Exception, what: str) -> DataError:
    cause = getattr(error, "strerror", None) or str(error)
    return DataError(str(path), None, f"cannot be {what}: {cause}")


def _check_name(path: Path) -> None:
    try:
        path.name.encode()
    except UnicodeEncodeError:
        where = os.fsencode(path).decode("utf-8", "backslashreplace")
        raise DataError(where, None, "its name is not UTF-8") from None
