"""The standard header of C++, precompiled: compiling it takes most of a solution's compilation.

Where `bits/stdc++.h` is the first thing that a source includes, GCC reads the precompiled form in
its place. It does so for the same compiler and flags only; else it reads the header itself. The
compiled program is the same to the bit.
"""

import fcntl
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.cache import cache_folder
from harness.sandbox.limits import MEBIBYTE

HEADER = "bits/stdc++.h"
SOURCE = f"#include <{HEADER}>\n"
LARGEST = 256 * MEBIBYTE
MOST_KEPT = 3
WORTH_IT = 3
"""Number of the source for which the header is precompiled; that takes as long as two or three."""
WRITABLE = stat.S_IWGRP | stat.S_IWOTH
_FIRST = re.compile(
    r"(?:\s++|//[^\n]*+\n|(?>/\*.*?\*/))*+"
    r"(?:#[ \t]*if[ \t]+__has_include\(<bits/stdc\+\+\.h>\)\s*)?"
    r"#[ \t]*include[ \t]*<bits/stdc\+\+\.h>",
    re.DOTALL,
)


def begins_with_header(code: str) -> bool:
    """Return whether the header is the first thing that a source includes."""
    return _FIRST.match(code) is not None


def command_for_header(command: list[str]) -> list[str]:
    """Return the compiler's command that precompiles a header in place of compiling a source."""
    at = command.index("c++", command.index("-x"))
    return [*command[:at], "c++-header", *command[at + 1 :]]


class Headers:
    """A folder of precompiled headers, which belongs to this user.

    The compiler's sandbox reads it. Nobody else may write to it; what others can change is not
    used. A header's place has the hash of its content in its name.

    Args:
        folder: the folder; it is made when first needed.
        worth_it: number of the source that begins with the header for which it is precompiled; 0
            for none.
    """

    def __init__(self, folder: Path | None = None, worth_it: int = WORTH_IT) -> None:
        self.folder = folder or cache_folder() / "headers"
        self._left = worth_it
        self._known: dict[str, Path] = {}

    def make(self) -> str | None:
        """Return the folder's path once it is there; None if it cannot be had."""
        with suppress(OSError):
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            self.folder.mkdir(mode=0o755, exist_ok=True)
            if _is_own(self.folder):
                return str(self.folder)
        return None

    def is_worth_it(self) -> bool:
        """Count a source that begins with the header; return whether to precompile it now."""
        self._left -= 1
        return self._left == 0

    @contextmanager
    def alone(self) -> Generator[bool]:
        """Say whether nobody else precompiles for this user, until the block ends."""
        self.make()
        try:
            lock = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            yield False
            return
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_alone = True
        except BlockingIOError:
            is_alone = False
        try:
            yield is_alone
        finally:
            os.close(lock)

    def find(self, key: str) -> Path | None:
        """Return the folder to search for a header; None if it was not precompiled."""
        if key in self._known and _is_trusted(self._known[key]):
            return self._known[key]
        for place in self.folder.glob(f"{key}.*"):
            if _is_own(self.folder) and _is_trusted(place):
                digest = ""
                with suppress(OSError), (place / f"{HEADER}.gch").open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                if place.name == f"{key}.{digest}":
                    self._known[key] = place
                    with suppress(OSError):
                        os.utime(place)
                    return place
        return None

    def keep(self, key: str, data: bytes) -> None:
        """Keep a precompiled header, if that is possible."""
        if self.make() is None:
            return
        name = f"{key}.{hashlib.sha256(data).hexdigest()}"
        unfinished = self.folder / f".{os.getpid()}.{os.urandom(4).hex()}"
        with suppress(OSError):
            for folder in (unfinished, unfinished / "bits"):
                folder.mkdir()
                folder.chmod(0o755)
            path = unfinished / f"{HEADER}.gch"
            path.write_bytes(data)
            path.chmod(0o644)
            unfinished.rename(self.folder / name)
            self._make_room()
        shutil.rmtree(unfinished, ignore_errors=True)

    def _make_room(self) -> None:
        """Remove all but the newest; what a killed process left unfinished is among the old."""
        places = sorted(self.folder.iterdir(), key=lambda each: each.stat().st_mtime, reverse=True)
        for place in places[MOST_KEPT:]:
            shutil.rmtree(place, ignore_errors=True)


def _is_trusted(place: Path) -> bool:
    return all(map(_is_own, (place, place / "bits", place / f"{HEADER}.gch")))


def _is_own(path: Path) -> bool:
    try:
        state = path.lstat()
    except OSError:
        return False
    return state.st_uid == os.geteuid() and not state.st_mode & WRITABLE
