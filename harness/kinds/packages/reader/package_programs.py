"""Programs of a package: validators and submissions, each a file or a folder of files."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from harness.kinds.packages.reader.package_folder import PackageFolder
from harness.sources.files.folder import is_folder

PYTHON, CPP = "python3", "cpp"
LANGUAGES = {
    ".py": PYTHON,
    ".py3": PYTHON,
    ".py2": "python2",
    ".c": "c",
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".c++", ".C"), CPP),
    ".java": "java",
    ".kt": "kotlin",
    ".cs": "csharp",
    ".go": "go",
    ".rs": "rust",
    ".hs": "haskell",
    ".js": "javascript",
    ".rb": "ruby",
    ".php": "php",
    ".scala": "scala",
    ".pas": "pascal",
    ".sh": "bash",
}
"""Language of a program by the endings of its files. Source: the format's table of languages."""
SCRIPTS = {"build", "run"}
GRAMMARS = {".ctd", ".viva"}
"""Endings of validators that are descriptions of an input."""
_PYTHON_2 = re.compile(r"#!.*python2")


class PackageProgram(NamedTuple):
    """A program.

    Attributes:
        path: its file or folder.
        files: its files in order; one, if it is a file.
    """

    path: Path
    files: tuple[Path, ...]

    @property
    def language(self) -> str | None:
        """Code of its language; None if its files are of several, of none, or of a script."""
        languages = {LANGUAGES[path.suffix] for path in self.files if path.suffix in LANGUAGES}
        scripts = SCRIPTS & {path.name for path in self.files}
        return languages.pop() if len(languages) == 1 and not scripts else None

    def sources(self) -> list[Path]:
        """Return the files in its language."""
        return [path for path in self.files if LANGUAGES.get(path.suffix) == self.language]


def programs_in(package: PackageFolder, folder: Path) -> Iterator[PackageProgram]:
    """Yield the programs of a folder, by name: each file, and each folder. Raises DataError."""
    for path in package.entries(folder):
        if not is_folder(path):
            yield PackageProgram(path, (path,))
        elif program := _program_of(package, path):
            yield program


def _program_of(package: PackageFolder, folder: Path) -> PackageProgram | None:
    """Return the program of a folder, or of the one folder that is all it holds.

    None without files. Raises DataError.
    """
    inner = list(package.entries(folder))
    if len(inner) == 1 and is_folder(inner[0]):
        return _program_of(package, inner[0])
    files = tuple(package.files(folder))
    return PackageProgram(folder, files) if files else None


def output_validators(package: PackageFolder) -> list[PackageProgram]:
    """Return the programs that judge outputs. Raises DataError.

    `output_validators` of the older format holds programs, `output_validator` of the newer is one.
    """
    newer = _program_of(package, package.root / "output_validator")
    programs = [] if newer is None else [newer]
    programs += programs_in(package, package.root / "output_validators")
    return [each for each in programs if not _is_note(each)] or programs


def _is_note(program: PackageProgram) -> bool:
    """Return whether a program is none: a file that names no language and cannot be executed."""
    path = program.path
    known = path.suffix in {*LANGUAGES, *GRAMMARS} or path.name in SCRIPTS
    return program.files == (path,) and not known and not os.access(path, os.X_OK)


def is_python_2(source: str) -> bool:
    """Return whether the first line asks for Python 2."""
    return _PYTHON_2.match(source) is not None
