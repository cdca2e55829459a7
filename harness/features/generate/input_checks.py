"""Check generated inputs by a package's input validators."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from harness.errors import DataError
from harness.features.generate.program_endings import exit_code, failure
from harness.features.generate.program_runs import run_program
from harness.grading.sandbox_retry import RetryingWorker
from harness.sandbox.execution import Ending
from harness.sandbox.limits import Limits
from harness.sources.contests.generators.generator_programs import ProgramSource, program_at
from harness.sources.contests.package.package_folder import PackageFolder
from harness.sources.contests.package.package_programs import programs_in
from harness.sources.contests.package.package_settings import PackageSettings, flags
from harness.sources.contests.package.test_data import GROUP_FILES

FOLDERS = ("input_validators", "input_format_validators")
KEYS = ("input_validator_flags", "input_validator_args")
RIGHT = 42


class InputChecks:
    """Input validators in Python and C++; each must say yes.

    Args:
        bench: worker that runs them.
        package: the package.
        settings: its settings.
        groups: settings of the groups that will be written, by the path of their file below `data`.

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
        groups: Mapping[str, Mapping[str, Any]],
    ) -> None:
        self.left_out: list[str] = []
        self._bench = bench
        self._package = package
        limits = settings.validator_limits
        self._limits = Limits(limits.cpu_s, limits.memory_bytes)
        self._settings = settings
        self._groups = groups
        self._programs: list[ProgramSource] = []
        for folder in FOLDERS:
            for program in programs_in(package, package.root / folder):
                self._add(program.path)

    def check(self, data: bytes, folder: Sequence[str], where: str) -> None:
        """Check an input.

        Args:
            data: the input.
            folder: its group: `sample` or `secret`, then the groups within.
            where: the test, for errors.

        Raises:
            DataError: a validator refuses it, crashes, or hits a limit, or its arguments cannot be
                read.
            SandboxError: the sandbox failed.
        """
        for program in tuple(self._programs):
            who = f"the input validator {program.path.name}"
            arguments = self._arguments(folder, program.path)
            execution = run_program(self._bench, program, arguments, self._limits, stdin=data)
            if execution.ending is Ending.CANNOT_COMPILE:
                self._programs.remove(program)
                self.left_out.append(f"{self._shown(program.path)} cannot be compiled")
            elif exit_code(execution, where, who, self._limits) != RIGHT:
                error = failure(execution, where, who)
                raise DataError(where, None, f"the input is wrong: {error.what}")

    def _add(self, path: Path) -> None:
        try:
            program = program_at(self._package, path, str(path), self._settings.constants)
        except DataError as error:
            shown = self._shown(path)
            named = shown in error.what
            self.left_out.append(error.what if named else f"{shown}: {error.what}")
            return
        self._programs.append(program)

    def _arguments(self, folder: Sequence[str], validator: Path) -> tuple[str, ...]:
        """Return a validator's arguments for the tests of a group: those of the innermost file.

        They are the same for all validators, or a map by the validator's name. A group without
        them has those of the group around it: the legacy format says so, and BAPCtools does it for
        every version.
        """
        groups = ("/".join(folder[:depth]) for depth in range(len(folder), -1, -1))
        files = (file for group in groups for file in self._files_of(group))
        given = (
            (values[key], where, key) for values, where in files for key in KEYS if key in values
        )
        value, where, key = next(given, (None, "", ""))
        if isinstance(value, Mapping):
            by_name = cast("Mapping[str, object]", value)
            value = by_name.get(validator.name, by_name.get(validator.stem))
        return flags(value, where, key)

    def _files_of(self, group: str) -> Iterator[tuple[Mapping[str, Any], str]]:
        """Yield what a group's file says, and its path: one that will be written, or is there."""
        for name in GROUP_FILES:
            path = self._package.root / "data" / group / name
            staged = self._groups.get(f"{group}/{name}")
            if staged is not None:
                yield staged, str(path)
            elif os.path.lexists(path):
                yield self._package.group(path, self._settings.constants), str(path)

    def _shown(self, path: Path) -> str:
        return path.relative_to(self._package.root).as_posix()
