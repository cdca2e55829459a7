"""Output validators and graders in Python: which file is started, and the sources of all."""

from collections.abc import Mapping
from pathlib import Path

from harness.errors import DataError
from harness.judged_by import CheckerProgram
from harness.kinds.packages.reader.package_folder import PackageFolder
from harness.kinds.packages.reader.package_programs import PYTHON, PackageProgram, is_python_2
from harness.kinds.packages.reader.package_settings import ValidatorLimits
from harness.languages import PYTHON as PYTHON_3
from harness.python_source import parse_or_none

_MAINS = {"__main__", "main", "validate", "validator"}
_NOTES = {".md", ".txt", ".yaml"}


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
