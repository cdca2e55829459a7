"""Files that are looked for in the working folder and in those above it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def candidates(*names: str) -> Iterator[Path]:
    """Yield the files of some names, as paths from the working folder, the nearest folder first.

    The last folder is the first that holds `.git`, the user's home, or the root. A file above the
    working folder counts only if it belongs to the user, to root, or to the owner of the working
    folder: anybody can put one into a folder such as `/tmp`.
    """
    with suppress(OSError):  # the working folder was deleted, or one above it cannot be read
        here = Path.cwd()
        trusted = {here.stat().st_uid, os.getuid(), 0}
        home = Path(os.path.expanduser("~")).resolve()  # noqa: PTH111 - does not fail without one
        for height, folder in enumerate((here, *here.parents)):
            for name in names:
                path = Path("../" * height + name)
                if path.is_file() and (not height or path.stat().st_uid in trusted):
                    yield path
            if folder == home or (folder / ".git").exists():
                return
