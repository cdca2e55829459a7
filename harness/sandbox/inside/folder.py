"""Files of a test in the working directory: those a program finds, and those that are kept.

The input of such a test is a head in JSON after its size, then what the program reads on stdin,
then its files one after another. `harness.sandbox.test_folder` writes it, and reads what was kept.
"""

import json
import os
import stat
from collections.abc import Sequence
from typing import Any

from inside.connection import copy
from inside.messages import FOLDER_ENTRY, FOLDER_HEAD

MOST_KEPT = 256  # files
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def read_head(file: int, offset: int, length: int) -> tuple[dict[str, Any], int]:
    """Return the head of a test's input, and the offset of its stdin.

    Raises:
        ValueError: there is none.
    """
    (size,) = FOLDER_HEAD.unpack(os.pread(file, FOLDER_HEAD.size, offset))
    if FOLDER_HEAD.size + size > length:
        raise ValueError("a test's head is longer than its input")
    return json.loads(
        os.pread(file, size, offset + FOLDER_HEAD.size)
    ), offset + FOLDER_HEAD.size + size


def place_files(source: int, offset: int, files: Sequence[tuple[str, int]]) -> None:
    """Write files of given names and sizes into the working directory, from one file."""
    for name, size in files:
        if "/" in name:
            os.makedirs(os.path.dirname(name), 0o700, exist_ok=True)
        target = os.open(name, NEW, 0o600)
        try:
            copy(source, offset, size, target)
        finally:
            os.close(target)
        offset += size


def keep_folder(folder: str, target: int, most: int) -> None:
    """Append the plain files of a folder to a file, as far as they fit: entry, name, content."""
    try:
        place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # the program may have removed it
        return
    try:
        for name in sorted(os.listdir(place))[:MOST_KEPT]:
            most -= _keep(name, place, target, most)
    finally:
        os.close(place)


def _keep(name: str, place: int, target: int, most: int) -> int:
    label = os.fsencode(name)
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place)
    except OSError:
        return 0
    try:
        state = os.fstat(file)
        size = FOLDER_ENTRY.size + len(label) + state.st_size
        if not stat.S_ISREG(state.st_mode) or size >= most:
            return 0
        os.write(target, FOLDER_ENTRY.pack(len(label), state.st_size) + label)
        copy(file, 0, state.st_size, target)
        return size
    finally:
        os.close(file)
