"""The grader of a package: the program that gives groups of tests their verdict and points."""

from harness.errors import DataError
from harness.judged_by import CheckerProgram
from harness.kinds.packages.reader.package_folder import PackageFolder
from harness.kinds.packages.reader.package_programs import CPP, programs_in
from harness.kinds.packages.reader.package_settings import PackageSettings
from harness.kinds.packages.reader.python_program import python_sources, python_validator
from harness.kinds.packages.reader.validator_program import compiled_validator

FOLDER = "graders"


def read_grader(package: PackageFolder, settings: PackageSettings) -> CheckerProgram:
    """Return the package's own grader.

    Raises:
        DataError: there is none or several, or it cannot be run here.
    """
    folder = package.root / FOLDER
    programs = list(programs_in(package, folder))
    if len(programs) != 1:
        what = f"must hold one program, and holds {len(programs)}"
        raise DataError(str(folder), None, what)
    (program,), limits = programs, settings.validator_limits
    if program.language == CPP:
        read = compiled_validator(package, program, settings.constants, limits)
    else:
        read = python_validator(
            *python_sources(package, program, settings.constants, FOLDER), limits
        )
    return read.model_copy(update={"protocol": "grader"})
