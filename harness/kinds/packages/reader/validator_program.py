"""Output validators in C++: their sources, and the files beside them."""

from collections.abc import Mapping
from pathlib import Path

from harness.judged_by import CheckerProgram
from harness.kinds.cpp.compilers import require_compiler
from harness.kinds.cpp.language import LANGUAGE
from harness.kinds.cpp.testlib import testlib_beside
from harness.kinds.packages.reader.constants import with_constants
from harness.kinds.packages.reader.package_folder import MOST_PROGRAM_BYTES, PackageFolder
from harness.kinds.packages.reader.package_programs import (
    CPP,
    LANGUAGES,
    PackageProgram,
)
from harness.kinds.packages.reader.package_settings import ValidatorLimits

HEADERS = (".h", ".hpp", ".hh", ".hxx", ".h++", ".inc", ".ipp", ".tpp")
FIELD = "output_validators"


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
    require_compiler(LANGUAGE.name, where, field)
    texts = {
        _name(each, program): with_constants(_text(package, each), constants)
        for each in program.files
        if LANGUAGES.get(each.suffix) == CPP or each.suffix in HEADERS
    }
    main = next((name for name in texts if name == LANGUAGE.source), None)
    main = main or next(name for name in texts if name.endswith(LANGUAGE.endings))
    source = texts.pop(main)
    files = tuple(texts.items())
    return source, files + testlib_beside(
        (source, *texts.values()), texts, str(program.path), FIELD
    )


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
