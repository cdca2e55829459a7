"""The consoles that commands print on."""

from collections.abc import Iterable
from contextlib import suppress
from io import TextIOWrapper
from itertools import chain
from typing import Any, cast

from rich.console import Console

WIDTH_OF_A_FILE = 160


class _Console(Console):
    """A console that raises on a broken pipe, which `main` handles."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class _ErrorConsole(_Console):
    """A console for messages that ignores errors: they must not stop the run."""

    def print(self, *objects: Any, **options: Any) -> None:
        with suppress(OSError):
            super().print(*objects, **options)


def console(*, error: bool = False) -> Console:
    """Return a console that prints texts literally: no markup, no highlighting.

    If the output is not a terminal, its width is fixed.
    """
    kind = _ErrorConsole if error else _Console
    made = kind(stderr=error, markup=False, highlight=False, emoji=False)
    if not made.is_terminal:
        made.width = WIDTH_OF_A_FILE
    return made


def write_json(out: Console, parts: Iterable[str]) -> None:
    """Write one line to a console's file and flush it, see `write_data`."""
    write_data(out, chain(parts, "\n"))


def write_data(out: Console, parts: Iterable[str]) -> None:
    """Write a text for other programs to a console's file, and flush it.

    It is UTF-8, whatever the terminal's encoding; lone surrogates are escaped.

    Raises:
        BrokenPipeError: the reader has exited. It has no errno: click would handle one with an
            errno as a failure.
    """
    file: Any = out.file
    if isinstance(file, TextIOWrapper):
        cast("Any", file).reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        for part in parts:
            file.write(part)
        file.flush()
    except BrokenPipeError:
        raise BrokenPipeError from None
