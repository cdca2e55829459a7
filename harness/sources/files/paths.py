"""Paths and globs of data files, opened only if regular."""

import io
import stat
from glob import glob, has_magic
from pathlib import Path

from harness.errors import UsageError


def expand(where: str) -> list[Path]:
    """Return the sorted files that a path or a glob (`**` for any depth) names.

    A file whose own name has glob characters takes precedence over the glob's matches.

    Raises:
        UsageError: nothing is there.
    """
    path = Path(where).expanduser()
    try:
        if path.exists() or not has_magic(where):
            return [path]
        files = sorted(
            file
            for match in glob(str(path), recursive=True)  # noqa: PTH207 - takes absolute patterns
            if (file := Path(match)).is_file()
        )
    except (OSError, ValueError) as error:  # a name too long, or with a null character
        raise UsageError(f"{where!r} cannot be a path: {error}") from None
    if not files:
        raise UsageError(f"no file matches {where!r}")
    return files


def open_regular(path: Path) -> io.FileIO:
    """Open a file for reading.

    Raises:
        UsageError: the path cannot be opened as a regular file.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise UsageError(f"{path} is a directory; name its files, as '{path}/*.jsonl'")
        if not stat.S_ISREG(mode):
            # A pipe could not be read a second time, and opening one may block forever.
            raise UsageError(f"{path} is not a regular file")
        return io.FileIO(path)
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        cause = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{path} cannot be opened: {cause}") from None
