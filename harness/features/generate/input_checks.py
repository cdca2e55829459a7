"""Check generated inputs by a package's input validators."""

from pathlib import Path

from harness.errors import DataError
from harness.features.generate.program_endings import exit_code, failure
from harness.features.generate.program_runs import run_program
from harness.grading.sandbox_retry import RetryingWorker
from harness.sandbox.execution import Ending
from harness.sandbox.limits import Limits
from harness.sources.contests.generators.generator_programs import ProgramSource, program_at
from harness.sources.contests.package.package_folder import MOST_YAML_BYTES, PackageFolder
from harness.sources.contests.package.package_programs import programs_in
from harness.sources.contests.package.package_settings import PackageSettings
from harness.sources.contests.package.test_data import GROUP_FILES

FOLDERS = ("input_validators", "input_format_validators")
RIGHT = 42
_FLAGS = "input_validator_"


class InputChecks:
    """Input validators in Python and C++; each must say yes.

    Attributes:
        left_out: one sentence for each validator that is not run: which, and why.

    Raises:
        DataError: the package cannot be read.
    """

    def __init__(
        self,
        bench: RetryingWorker,
        package: PackageFolder,
        settings: PackageSettings,
        *,
        with_flags: bool,
    ) -> None:
        self.left_out: list[str] = []
        self._bench = bench
        self._package = package
        limits = settings.validator_limits
        self._limits = Limits(limits.cpu_s, limits.memory_bytes)
        self._programs: list[ProgramSource] = []
        with_flags = with_flags or self._has_flags()
        for folder in FOLDERS:
            for program in programs_in(package, package.root / folder):
                self._add(program.path, settings, with_flags=with_flags)

    def check(self, data: bytes, where: str) -> None:
        """Check an input.

        Raises:
            DataError: a validator refuses it, crashes, or hits a limit.
            SandboxError: the sandbox failed.
        """
        for program in tuple(self._programs):
            who = f"the input validator {program.path.name}"
            execution = run_program(self._bench, program, (), self._limits, stdin=data)
            if execution.ending is Ending.CANNOT_COMPILE:
                self._programs.remove(program)
                self.left_out.append(f"{self._shown(program.path)} cannot be compiled")
            elif exit_code(execution, where, who, self._limits) != RIGHT:
                error = failure(execution, where, who)
                raise DataError(where, None, f"the input is wrong: {error.what}")

    def _add(self, path: Path, settings: PackageSettings, *, with_flags: bool) -> None:
        try:
            program = program_at(self._package, path, str(path), settings.constants)
        except DataError as error:
            self.left_out.append(error.what)
            return
        if with_flags:
            self.left_out.append(f"{self._shown(path)} takes arguments")
        else:
            self._programs.append(program)

    def _has_flags(self) -> bool:
        """Return whether a file of a group gives input validators arguments."""
        package = self._package
        files = [each for each in package.files(package.root / "data") if each.name in GROUP_FILES]
        return any(_FLAGS in package.string(each, MOST_YAML_BYTES) for each in files)

    def _shown(self, path: Path) -> str:
        return path.relative_to(self._package.root).as_posix()
