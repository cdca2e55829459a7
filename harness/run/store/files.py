"""Read files of a run directory: regular files only, bounded in size and in nesting.

A run directory may come from anybody. A pipe is never waited for, a huge file is never loaded, and
nested JSON never exhausts the stack: each raises an error that its reader reports for that run.
"""

import errno
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

MB = 1 << 20
LARGEST_JSON = 32 * MB
"""Bytes of a `run.json`: enough for about 290,000 problems."""
LARGEST_SUMMARY = 4 * MB
LONGEST_LINE = 64 * MB
"""Bytes of a line of results or of a transcript; a longer one is given as an empty line."""
DEEPEST = 64
"""Levels of objects and arrays inside one another."""


def open_file(path: Path) -> BinaryIO:
    """Open a regular file for reading. Raises OSError, also for a pipe or a device."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


def read_file(path: Path, most: int) -> bytes:
    """Read a file of at most so many bytes. Raises OSError."""
    with open_file(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"longer than {most // MB} MB", str(path))
    return content


def read_json(path: Path, most: int = LARGEST_JSON) -> Any:
    """Read a file as JSON. Raises OSError, or ValueError where it is no JSON or nested too deep."""
    try:
        value: Any = json.loads(read_file(path, most))
    except RecursionError:
        raise ValueError(f"nested more than {DEEPEST} levels deep") from None
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return value
    raise ValueError(f"nested more than {DEEPEST} levels deep")


def _inside(value: Any) -> list[Any]:
    """The objects and arrays that are members of an object or an array."""
    members: list[Any] = []
    if isinstance(value, dict):
        members = list(cast("dict[str, Any]", value).values())
    elif isinstance(value, list):
        members = cast("list[Any]", value)
    return [member for member in members if isinstance(member, dict | list)]


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file, each with its newline; an over-long one is given as an empty line."""
    while line := file.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = file.readline(LONGEST_LINE)
            line = line[-1:]  # empty where the file ends without a newline
        yield line
