"""Files of a package that are compiled with every solution: `include/default` and `include/cpp`."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from harness.errors import DataError
from harness.kinds.cpp.language import LANGUAGE
from harness.kinds.packages.reader.package_folder import PackageFolder
from harness.kinds.packages.reader.package_programs import (
    CPP,
    LANGUAGES,
    PYTHON,
    PackageProgram,
)
from harness.kinds.packages.reader.validator_program import HEADERS
from harness.text import fenced

FOLDER = "include"
DEFAULT = "default"
FOR_PYTHON = ("python", "python2", PYTHON, "python3numpy")
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}", re.ASCII)
"""Names of files. Source: the format's general requirements."""
MOST_FILES = 100
LONGEST_SHOWN = 20_000
"""Most characters of headers that a statement shows."""
MOST_NAMED = 20
"""Most files that a statement names."""

Included = tuple[tuple[str, str], ...]


def included_files(package: PackageFolder, constants: Mapping[str, str]) -> Included:
    """Return names and texts of the files that are compiled with every solution in C++.

    Raises:
        DataError: one cannot be read or its name is not allowed, or there are files for solutions
            in Python or all languages, and none for C++.
    """
    root = package.root / FOLDER
    if not package.entries(root / CPP):
        refuse_files_for_python(package)
        return ()
    texts: dict[str, str] = {}
    for name in (DEFAULT, CPP):
        for path in package.files(root / name):
            texts[_label(path, root / name)] = package.program(path, constants)
            if len(texts) > MOST_FILES:
                raise DataError(str(root), None, f"more than {MOST_FILES} files")
    for label in texts:
        for folder in map(str, PurePosixPath(label).parents):
            if folder in {*texts, LANGUAGE.source}:
                raise DataError(
                    str(root / CPP / folder), None, "a file and a folder have this name"
                )
    return tuple(sorted(texts.items()))


def refuse_files_for_python(package: PackageFolder) -> None:
    """Refuse files that are added to solutions in Python. Raises DataError."""
    for name in (DEFAULT, *FOR_PYTHON):
        if package.entries(folder := package.root / FOLDER / name):
            what = "files that are added to every solution; here only C++ solutions can have them"
            raise DataError(str(folder), None, what)


def without_included(program: PackageProgram, included: Included) -> PackageProgram:
    """Return a submission without its copies of included files, which these would replace."""
    names = {name for name, _ in included}
    files = [
        path
        for path in program.files
        if path == program.path or path.relative_to(program.path).as_posix() not in names
    ]
    return PackageProgram(program.path, tuple(files))


def statement_of_included(included: Included) -> str:
    """Return what a statement says of them: their names, and the texts of headers."""
    if not included:
        return ""
    names = [f"`{name}`" for name, _ in included[:MOST_NAMED]]
    names += [f"{len(included) - MOST_NAMED} more"] if len(included) > MOST_NAMED else []
    said = "Your solution is one C++ file. It is compiled together with these files: "
    return "\n\n".join(["", f"{said}{', '.join(names)}.", *_headers(included)])


def _headers(included: Included) -> Iterator[str]:
    left = LONGEST_SHOWN
    for name, text in included:
        if name.endswith(HEADERS) and len(text) <= left:
            left -= len(text)
            yield f"`{name}`:\n\n{fenced(text.strip(), 'cpp')}"


def _label(path: Path, folder: Path) -> str:
    """Return a file's name in the compiler's folder, with an ending that the compiler knows."""
    label = path.relative_to(folder).as_posix()
    if LANGUAGES.get(path.suffix) == CPP and not label.endswith(LANGUAGE.endings):
        label = f"{label.removesuffix(path.suffix)}.cpp"
    if not all(map(NAME.fullmatch, label.split("/"))):
        raise DataError(
            str(path), None, "rename it: the format allows letters, digits, _, . and - in names"
        )
    if label == LANGUAGE.source:
        raise DataError(str(path), None, "rename it: the solution is compiled under this name")
    return label
