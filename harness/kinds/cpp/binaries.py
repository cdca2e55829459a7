"""Compiled programs kept on disk, for this user alone.

A file holds the hash of its content before the content. Files and their folder must belong to the
user, and nobody else may read or write them; what does not is not used.
"""

import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path

from harness.cache import cache_folder

MOST_BYTES = 512 << 20
"""Bytes kept; above it the files used longest ago are removed."""
LARGEST = 64 << 20
HASH_BYTES = 32
PRIVATE = stat.S_IRWXG | stat.S_IRWXO


class Binaries:
    """A folder of compiled programs by key.

    Args:
        folder: the folder; it is made when first needed.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or cache_folder() / "binaries"

    def find(self, key: str) -> bytes | None:
        """Return a program; None if it is not there, or not to be trusted."""
        if not _is_own(self.folder, os.O_DIRECTORY):
            return None
        try:
            file = os.open(self.folder / key, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        with os.fdopen(file, "rb") as stream:
            if not _is_private(os.fstat(file)):
                return None
            data = stream.read(LARGEST + HASH_BYTES + 1)
        digest, program = data[:HASH_BYTES], data[HASH_BYTES:]
        if len(program) > LARGEST or hashlib.sha256(program).digest() != digest:
            return None
        with suppress(OSError):
            os.utime(self.folder / key)
        return program

    def keep(self, key: str, program: bytes) -> None:
        """Keep a program, if that is possible."""
        with suppress(OSError):
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                self.folder.mkdir(mode=0o700)
            if not _is_own(self.folder, os.O_DIRECTORY):
                return
            unfinished = self.folder / f".{key}.{os.getpid()}.{os.urandom(4).hex()}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(unfinished, flags, 0o600), "wb") as stream:
                stream.write(hashlib.sha256(program).digest() + program)
            unfinished.replace(self.folder / key)
            self._make_room()

    def _make_room(self) -> None:
        with os.scandir(self.folder) as entries:
            states = [(entry.stat(follow_symlinks=False), entry.path) for entry in entries]
        size = sum(state.st_size for state, _ in states)
        for state, path in sorted(states, key=lambda each: each[0].st_mtime):
            if size <= MOST_BYTES:
                break
            with suppress(OSError):
                Path(path).unlink()
            size -= state.st_size


def _is_own(path: Path, flags: int) -> bool:
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | flags)
    except OSError:
        return False
    try:
        return _is_private(os.fstat(file))
    finally:
        os.close(file)


def _is_private(state: os.stat_result) -> bool:
    return state.st_uid == os.geteuid() and not state.st_mode & PRIVATE
