"""Output validators in C++ and Python: their sources, the files beside them, and testlib.h."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from harness.errors import DataError
from harness.languages import PYTHON as PYTHON_3
from harness.languages.cpp import FOLDERS, LANGUAGE, compiler
from harness.languages.language import MissingCompilerError
from harness.problem import CheckerProgram
from harness.python_source import parse_or_none
from harness.sources.contests.package.constants import with_constants
from harness.sources.contests.package.package_folder import MOST_PROGRAM_BYTES, PackageFolder
from harness.sources.contests.package.package_programs import (
    CPP,
    LANGUAGES,
    PYTHON,
    PackageProgram,
    is_python_2,
)
from harness.sources.contests.package.package_settings import ValidatorLimits

TESTLIB = "testlib.h"
VARIABLE = "TESTLIB"
HEADERS = (".h", ".hpp", ".hh", ".hxx", ".h++", ".inc", ".ipp", ".tpp")
FIELD = "output_validators"
_MAINS = {"__main__", "main", "validate", "validator"}
_NOTES = {".md", ".txt", ".yaml"}
_INCLUDED = re.compile(rf'^[ \t]*#[ \t]*include[ \t]*[<"]{re.escape(TESTLIB)}[>"]', re.MULTILINE)


def compiled_validator(
    package: PackageFolder,
    program: PackageProgram,
    constants: Mapping[str, str],
    limits: ValidatorLimits,
) -> CheckerProgram:
    """Return an output validator in C++.

    Raises:
        DataError: a file of it cannot be read, testlib.h is missing, or there is no compiler.
    """
    source, files = cpp_sources(package, program, constants, str(program.path), FIELD)
    return CheckerProgram(
        protocol="kattis",
        source=source,
        files=files,
        cpu_s=limits.cpu_s,
        memory_bytes=limits.memory_bytes,
    )


def python_validator(
    main: Path, sources: Mapping[Path, str], limits: ValidatorLimits
) -> CheckerProgram:
    """Return an output validator in Python as a program of its own; see `python_sources`."""
    return CheckerProgram(
        protocol="kattis",
        source=sources[main],
        files=tuple((each.name, text) for each, text in sources.items() if each != main),
        language=PYTHON_3,
        cpu_s=limits.cpu_s,
        memory_bytes=limits.memory_bytes,
    )


def python_sources(
    package: PackageFolder, program: PackageProgram, constants: Mapping[str, str], field: str
) -> tuple[Path, dict[Path, str]]:
    """Return the file of a program in Python that is started, and the source of each file.

    Args:
        package: the package.
        program: the program.
        constants: the package's constants.
        field: what needs the program, for errors.

    Raises:
        DataError: it is in another language, or its files cannot be read or told apart.
    """
    where = str(program.path)
    python = program.sources() if program.language == PYTHON else []
    others = [each for each in program.files if each not in python and each.suffix not in _NOTES]
    if others or not python:
        what = f"{(others or program.files)[0].name} is neither Python nor C++"
        raise DataError(where, field, f"{what}, and no other language is run here")
    if len({each.parent for each in python}) > 1:
        raise DataError(where, field, "its files are in several folders")
    mains = [each for each in python if each.stem == "__main__"]
    mains = mains or [each for each in python if each.stem in _MAINS] or python
    if len(mains) > 1:
        names = ", ".join(each.name for each in mains)
        raise DataError(where, field, f"which file is started? {names[:100]}")
    sources = {each: package.program(each, constants) for each in python}
    for path, source in sources.items():
        if is_python_2(source) or parse_or_none(source) is None:
            raise DataError(str(path), None, "not Python 3")
    return mains[0], sources


def cpp_sources(
    package: PackageFolder,
    program: PackageProgram,
    constants: Mapping[str, str],
    where: str,
    field: str | None = None,
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the main source of a program in C++, and its further sources and headers by name.

    Args:
        package: the package.
        program: the program.
        constants: the package's constants.
        where: what needs the program, for errors.
        field: the same, within it.

    Raises:
        DataError: a file of it cannot be read, testlib.h is missing, or there is no compiler.
    """
    try:
        compiler()
    except MissingCompilerError as error:
        raise DataError(where, field, f"it is C++, and there is {error}") from None
    texts = {
        _name(each, program): with_constants(_text(package, each), constants)
        for each in program.files
        if LANGUAGES.get(each.suffix) == CPP or each.suffix in HEADERS
    }
    main = next((name for name in texts if name == LANGUAGE.source), None)
    main = main or next(name for name in texts if name.endswith(LANGUAGE.endings))
    source = texts.pop(main)
    files = tuple(texts.items())
    return source, files + testlib_beside((source, *texts.values()), texts, program.path)


def testlib_beside(
    sources: tuple[str, ...], names: Mapping[str, str], where: Path
) -> tuple[tuple[str, str], ...]:
    """Return testlib.h if sources include it and it is neither beside them nor the system's.

    It is looked for in the folder that the environment variable TESTLIB names.

    Raises:
        DataError: it is nowhere.
    """
    if TESTLIB in names or not any(map(_INCLUDED.search, sources)):
        return ()
    text = testlib_text()
    if text is not None:
        return ((TESTLIB, text),)
    if any((Path(folder) / TESTLIB).is_file() for folder in FOLDERS):
        return ()
    what = f"it needs {TESTLIB}: put it beside, or name its folder by {VARIABLE}"
    raise DataError(str(where), FIELD, what)


def testlib_text() -> str | None:
    """Return the text of the user's testlib.h; None without one."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        return None
    try:
        return (Path(folder).expanduser() / TESTLIB).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise DataError(folder, VARIABLE, f"{TESTLIB} cannot be read: {error.strerror}") from None


def _name(path: Path, program: PackageProgram) -> str:
    """Return the name of a program's file in the compiler's folder."""
    name = path.name if path == program.path else path.relative_to(program.path).as_posix()
    is_known = name.endswith((*LANGUAGE.endings, *HEADERS))
    return name if is_known else f"{name.rpartition('.')[0]}.cpp"


def _text(package: PackageFolder, path: Path) -> str:
    data = package.bytes(path, MOST_PROGRAM_BYTES)
    try:
        return data.decode()
    except UnicodeDecodeError:  # in comments and messages of old programs
        return data.decode("latin-1")
