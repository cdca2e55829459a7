"""Output validators in C++: their sources, the files beside them, and testlib.h."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from harness.errors import DataError
from harness.languages.cpp import FOLDERS, LANGUAGE, compiler
from harness.languages.language import MissingCompilerError
from harness.problem import CheckerProgram
from harness.sources.contests.package.constants import with_constants
from harness.sources.contests.package.package_folder import MOST_PROGRAM_BYTES, PackageFolder
from harness.sources.contests.package.package_programs import (
    CPP,
    LANGUAGES,
    PackageProgram,
)
from harness.sources.contests.package.package_settings import ValidatorLimits

TESTLIB = "testlib.h"
VARIABLE = "TESTLIB"
HEADERS = (".h", ".hpp", ".hh", ".hxx", ".h++", ".inc", ".ipp", ".tpp")
FIELD = "output_validators"
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
