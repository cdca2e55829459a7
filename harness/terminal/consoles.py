"""The consoles that commands print on."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

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
    """Write one line to a console's file and flush it.

    Raises:
        BrokenPipeError: the reader has exited. It has no errno: click would handle one with an
            errno as a failure.
    """
    try:
        for part in parts:
            out.file.write(part)
        out.file.write("\n")
        out.file.flush()
    except BrokenPipeError:
        raise BrokenPipeError from None
