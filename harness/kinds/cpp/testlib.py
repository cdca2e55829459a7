"""testlib.h: where programs that include it find it. The user provides it."""

import os
import re
from collections.abc import Collection
from pathlib import Path

from harness.errors import DataError
from harness.kinds.cpp.language import FOLDERS

TESTLIB = "testlib.h"
VARIABLE = "TESTLIB"
_INCLUDED = re.compile(
    rf'^[ \t]*#[ \t]*include[ \t]*[<"](?:\./)?{re.escape(TESTLIB)}[>"]', re.MULTILINE
)


def testlib_beside(
    sources: tuple[str, ...], names: Collection[str], where: str, field: str
) -> tuple[tuple[str, str], ...]:
    """Return testlib.h if sources include it and it is neither beside them nor the system's.

    It is looked for in the folder that the environment variable TESTLIB names.

    Args:
        sources: sources of a program.
        names: names of its files.
        where: what needs the program, for errors.
        field: the same, within it.

    Raises:
        DataError: it is nowhere.
    """
    if TESTLIB in names or not any(map(_INCLUDED.search, sources)):
        return ()
    text = _text()
    if text is not None:
        return ((TESTLIB, text),)
    if any((Path(folder) / TESTLIB).is_file() for folder in FOLDERS):
        return ()
    what = f"it needs {TESTLIB}: put it among its files, or its folder into the variable {VARIABLE}"
    raise DataError(where, field, what)


def _text() -> str | None:
    """Return the text of the user's testlib.h; None without one. Raises DataError."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        return None
    try:
        return (Path(folder).expanduser() / TESTLIB).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise DataError(folder, VARIABLE, f"{TESTLIB} cannot be read: {error.strerror}") from None
