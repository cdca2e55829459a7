"""The standard header of C++ precompiled: most solutions begin with it, and it is most of the work.

GCC reads the precompiled form in place of `bits/stdc++.h` where that is the first thing a source
includes, and only if compiler and flags are the same; else it reads the header as ever. The program
that comes out is the same to the bit.
"""

import hashlib
import os
import re
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from harness.cache import cache_folder
from harness.sandbox.limits import MEBIBYTE

HEADER = "bits/stdc++.h"
SOURCE = f"#include <{HEADER}>\n"
LARGEST = 256 * MEBIBYTE
MOST_KEPT = 3
WORTH_IT = 3
"""Sources that begin with the header before it is precompiled, which takes as long as two do."""
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
        worth_it: number of sources that begin with the header before it is precompiled.
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
        """Count a source that begins with the header; return whether it is time to precompile."""
        self._left -= 1
        return self._left == 0

    def find(self, key: str) -> Path | None:
        """Return the folder to search for a header; None if it was not precompiled."""
        if key in self._known and _is_trusted(self._known[key]):
            return self._known[key]
        for place in self.folder.glob(f"{key}.*"):
            if _is_own(self.folder) and _is_trusted(place):
                digest = hashlib.sha256()
                with suppress(OSError), (place / f"{HEADER}.gch").open("rb") as file:
                    while data := file.read(MEBIBYTE):
                        digest.update(data)
                if place.name == f"{key}.{digest.hexdigest()}":
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
