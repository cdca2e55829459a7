"""Files of a package that are compiled with every solution: `include/default` and `include/cpp`."""

from collections.abc import Mapping

from harness.errors import DataError
from harness.languages.cpp import LANGUAGE
from harness.sources.contests.package.package_folder import PackageFolder
from harness.sources.contests.package.package_programs import CPP, PYTHON
from harness.sources.contests.package.validator_program import HEADERS

FOLDER = "include"
DEFAULT = "default"
FOR_PYTHON = ("python", "python2", PYTHON, "python3numpy")
LONGEST_SHOWN = 20_000
"""Most characters of headers that a statement shows."""

Included = tuple[tuple[str, str], ...]


def included_files(package: PackageFolder, constants: Mapping[str, str]) -> Included:
    """Return names and texts of the files that are compiled with every solution in C++.

    Raises:
        DataError: one cannot be read or has the name of the solution's file, or there are files
            for solutions in Python or all languages, and none for C++.
    """
    root = package.root / FOLDER
    if not package.entries(root / CPP):
        for name in (DEFAULT, *FOR_PYTHON):
            if package.entries(root / name):
                what = "files that are added to every solution; that can be done in C++ alone"
                raise DataError(str(root / name), None, what)
        return ()
    texts: dict[str, str] = {}
    for name in (DEFAULT, CPP):
        for path in package.files(root / name):
            label = path.relative_to(root / name).as_posix()
            if label == LANGUAGE.source:
                raise DataError(str(path), None, "the solution's own file has this name here")
            texts[label] = package.program(path, constants)
    return tuple(sorted(texts.items()))


def statement_of_included(included: Included) -> str:
    """Return what a statement says of them: their names, and the texts of headers."""
    if not included:
        return ""
    names = ", ".join(f"`{name}`" for name, _ in included)
    parts = [f"Your solution is one C++ file. It is compiled with files that are there: {names}."]
    left = LONGEST_SHOWN
    for name, text in included:
        left -= len(text)
        if name.endswith(HEADERS) and left >= 0:
            parts.append(f"`{name}`:\n\n```cpp\n{text.strip()}\n```")
    return "\n\n" + "\n\n".join(parts)
