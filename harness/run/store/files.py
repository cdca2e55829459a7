"""Reading of run directory files: regular files, limited in size and nesting.

Run directories are not trusted. Reading never blocks on a pipe, loads a huge file, or exhausts the
stack with nested JSON: each raises an error that the caller reports for that run.
"""

import errno
import json
import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

MB = 1 << 20
LARGEST_JSON = 32 * MB
"""Bytes of `run.json`: enough for about 290,000 problems."""
LARGEST_SUMMARY = 4 * MB
LONGEST_LINE = 64 * MB
"""Bytes of a line in results or transcripts; a longer one reads as an empty line."""
BUFFER = MB >> 3
"""Bytes read at once: a line of results is often longer than Python's own buffer of 8 KiB."""
DEEPEST = 64
"""Levels of nested objects and arrays."""


def reason_of(error: OSError) -> str:
    """Say why the system refused, with the user where it is for want of permission."""
    reason = error.strerror or str(error)
    if not isinstance(error, PermissionError):
        return reason
    try:
        user = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        user = str(os.geteuid())
    return f"{reason[:1].lower()}{reason[1:]} for user {user}"


def open_file(path: Path) -> BinaryIO:
    """Open a regular file for reading. Raises OSError, even for a pipe or a device."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return os.fdopen(descriptor, "rb", BUFFER)


def read_file(path: Path, most: int) -> bytes:
    """Read a file of at most `most` bytes. Raises OSError."""
    with open_file(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"longer than {most // MB} MB", str(path))
    return content


def read_json(path: Path, most: int = LARGEST_JSON) -> Any:
    """Read a JSON file. Raises OSError, or ValueError if malformed or too nested."""
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
    """Return the objects and arrays directly inside an object or array."""
    members: list[Any] = []
    if isinstance(value, dict):
        members = list(cast("dict[str, Any]", value).values())
    elif isinstance(value, list):
        members = cast("list[Any]", value)
    return [member for member in members if isinstance(member, dict | list)]


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file with newlines; an overlong one becomes an empty line."""
    while line := file.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = file.readline(LONGEST_LINE)
            line = line[-1:]  # empty if the file ends without a newline
        yield line
