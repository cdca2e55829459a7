"""What the judge, the prompts and the readers of solutions know of a language."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler of this machine.

    Attributes:
        path: its real path.
        version: first line of what it says of itself.
        folders: folders it needs to read, besides the system's libraries.
        command: function from flags to the command, which reads `source` and writes `binary`.
    """

    path: str
    version: str
    folders: tuple[str, ...]
    command: Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Language:
    """A language that solutions can be written in.

    Attributes:
        name: its name in settings, data and results.
        title: its name in prose.
        endings: endings of its files.
        fences: names after a Markdown fence, in lower case.
        flags: default flags of the compiler; empty where there is none.
        source: name of a solution's file.
        example: a short program, for examples of calls.
        compiler: finds the compiler; None for a language without one. Raises MissingCompilerError.
    """

    name: str
    title: str
    endings: tuple[str, ...]
    fences: tuple[str, ...]
    flags: str = ""
    source: str = ""
    example: str = ""
    compiler: Callable[[], Compiler] | None = None


class MissingCompilerError(Exception):
    """A language cannot be compiled here; the message says what to install."""
