"""Make the tests of one package: each input by its generator, each answer by a solution."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import DataError
from harness.features.generate.input_checks import InputChecks
from harness.features.generate.program_endings import exit_code, failure
from harness.features.generate.program_runs import run_program
from harness.features.generate.staged_tests import DATA, StagedTests
from harness.grading.sandbox_retry import RetryingWorker
from harness.sandbox.limits import Limits
from harness.sandbox.test_folder import unpack_kept
from harness.sources.contests.generators.generator_command import (
    FILE_NAME,
    Command,
    read_command,
)
from harness.sources.contests.generators.generator_programs import (
    ProgramSource,
    first_accepted,
    named_program,
    path_inside,
    solution_at,
)
from harness.sources.contests.generators.generators_file import (
    GeneratorsFile,
    TestRule,
    generators_path,
    read_generators,
)
from harness.sources.contests.icpc import INTERACTIVE, MULTI_PASS, SETTINGS, time_limit
from harness.sources.contests.package.package_folder import MOST_BYTES, PackageFolder
from harness.sources.contests.package.package_settings import PackageSettings, read_settings
from harness.sources.files.folder import Folder
from harness.yaml_text import yaml_of

GENERATOR_LIMITS = Limits(cpu_s=60.0, output_bytes=MOST_BYTES)
PATIENCE = 10
"""Multiple of the package's time limit that its solution may need for an answer."""
USUAL_S, MOST_S = 10.0, 600.0
_NO_ANSWER = frozenset({INTERACTIVE, MULTI_PASS})


@dataclass(frozen=True, slots=True)
class Generated:
    """Tests of a package.

    Attributes:
        package: name of its folder.
        tests: number of tests that its file lists.
        written: number of files that are new.
        size: bytes of the tests' files that were made.
        unchecked: one sentence for each input validator that was not run: which, and why.
    """

    package: str
    tests: int
    written: int
    size: int
    unchecked: Sequence[str]


def generate_package(
    bench: RetryingWorker, package: PackageFolder, progress: Callable[[int, int], None]
) -> Generated:
    """Make the tests of a package, and write those that it lacks.

    Args:
        bench: worker that runs its programs.
        package: the package.
        progress: called with the number of tests made, and that of all.

    Raises:
        DataError: a test cannot be made, or the package holds another one in its place.
        StorageError: the package cannot be written to.
        SandboxError: the sandbox failed.
    """
    root = package.root
    place = root / SETTINGS
    settings = read_settings(package.mapping(place), str(place))
    file = read_generators(package, settings.constants)
    if not file.rules:
        raise DataError(str(generators_path(root)), "data", "it lists no test")
    checks = InputChecks(bench, package, settings, file.groups)
    maker = _Maker(bench, package, settings, file)
    with StagedTests(package) as staged:
        for name, values in file.groups.items():
            _stage_group(package, staged, name, values)
        for number, rule in enumerate(file.rules):
            progress(number, len(file.rules))
            given, answer = maker.input(rule)
            _check_text(given, maker.where(rule), ".in")
            checks.check(given, rule.folder, maker.where(rule))
            answer = maker.answer(rule, given, answer)
            _check_text(answer, maker.where(rule), ".ans")
            staged.add(f"{rule.path}.in", given)
            staged.add(f"{rule.path}.ans", answer)
        staged.move()
        done = len(file.rules), staged.moved, staged.size
    return Generated(root.absolute().name, *done, unchecked=checks.left_out)


class _Maker:
    """Makes inputs and answers of a package's tests."""

    def __init__(
        self,
        bench: RetryingWorker,
        package: PackageFolder,
        settings: PackageSettings,
        file: GeneratorsFile,
    ) -> None:
        self._bench = bench
        self._package = package
        self._data = Folder(package.root)  # its bytes do not count as those of programs
        self._settings = settings
        self._file = file
        self._programs: dict[str, ProgramSource] = {}
        limits = settings.limits
        seconds = limits.cpu_s or time_limit(package) or USUAL_S
        memory = limits.memory_bytes or Limits().memory_bytes
        self._limits = Limits(min(PATIENCE * max(seconds, 1.0), MOST_S), memory, MOST_BYTES)

    def where(self, rule: TestRule) -> str:
        """Return the place of a test, for errors."""
        return f"{generators_path(self._package.root)}, {rule.path}"

    def input(self, rule: TestRule) -> tuple[bytes, bytes | None]:
        """Return a test's input, and its answer if that comes with it."""
        if rule.input is not None:
            return rule.input.encode(), None
        if rule.copied is not None:
            return self._copied(rule, rule.copied)
        if rule.command is not None:
            return self._generated(rule, rule.command)
        given = self._there(rule, ".in")
        if given is None:
            what = f"it has no generator, and there is no {DATA}/{rule.path}.in; add the file"
            raise DataError(self.where(rule), None, what)
        return given, None

    def answer(self, rule: TestRule, given: bytes, answer: bytes | None) -> bytes:
        """Return a test's answer.

        That of a test that is there stays, for several may be right.
        """
        if rule.answer is not None:
            return rule.answer.encode()
        if answer is not None:
            return answer
        known = self._there(rule, ".ans")
        if known is not None and self._there(rule, ".in") == given:
            return known
        if _NO_ANSWER & self._settings.kinds:
            return b""
        return self._solved(rule, given)

    def _there(self, rule: TestRule, ending: str) -> bytes | None:
        return self._data.read(self._data.root / DATA / f"{rule.path}{ending}", MOST_BYTES)

    def _copied(self, rule: TestRule, path: Path) -> tuple[bytes, bytes | None]:
        given, answer = (
            self._data.read(path.with_name(path.name + ending), MOST_BYTES)
            for ending in (".in", ".ans")
        )
        if given is None:
            name = path.relative_to(self._package.root).as_posix()
            raise DataError(self.where(rule), None, f"there is no {name}.in to copy")
        return given, answer

    def _generated(self, rule: TestRule, command: Command) -> tuple[bytes, bytes | None]:
        where, who = self.where(rule), f"the generator {command.program}"
        source = self._generator(command.program, where)
        limits = GENERATOR_LIMITS
        more = 0
        while True:
            arguments = command.arguments_with(more)
            execution = run_program(self._bench, source, arguments, limits, kept=".")
            if not exit_code(execution, where, who, limits):
                break
            more += 1
            if more >= rule.retries:
                raise failure(execution, where, who)
        try:
            files = unpack_kept(execution.result or execution.partial)
        except ValueError as error:
            raise DataError(where, None, f"{who} left files that cannot be read: {error}") from None
        given = files.get(f"{FILE_NAME}.in", execution.stdout)
        if not given:
            raise DataError(where, None, f"{who} prints nothing")
        return given, files.get(f"{FILE_NAME}.ans")

    def _generator(self, name: str, where: str) -> ProgramSource:
        if name not in self._programs:
            constants = self._settings.constants
            self._programs[name] = named_program(
                self._package, name, self._file.programs, where, constants
            )
        return self._programs[name]

    def _solved(self, rule: TestRule, given: bytes) -> bytes:
        where = self.where(rule)
        if rule.solution is None:
            raise DataError(where, None, "it has no answer: give it `ans` or a solution")
        source, arguments = self._solution(rule.solution, where)
        who = f"the solution {source.path.relative_to(self._package.root).as_posix()}"
        execution = run_program(self._bench, source, arguments, self._limits, stdin=given)
        if exit_code(execution, where, who, self._limits):
            raise failure(execution, where, who)
        if not execution.stdout.strip():  # every silent solution would be right
            raise DataError(where, None, f"{who} prints nothing; if that is right, give it `ans`")
        return execution.stdout

    def _solution(self, text: str, where: str) -> tuple[ProgramSource, tuple[str, ...]]:
        root, arguments = self._package.root, ()
        path = None if text else first_accepted(self._package)
        if text:
            command = read_command(text, where, constants=self._settings.constants)
            path = path_inside(command.program.lstrip("/"), root, where)
            arguments = command.arguments
        if path is None:
            what = "no accepted submission in Python 3 or C++ gives its answer: name a `solution`"
            raise DataError(where, None, what)
        name = f"/{path}"
        if name not in self._programs:
            constants = self._settings.constants
            self._programs[name] = solution_at(self._package, path, where, constants)
        return self._programs[name], arguments


def _stage_group(
    package: PackageFolder, staged: StagedTests, name: str, values: Mapping[str, Any]
) -> None:
    """Stage the settings of a group, unless a file that says the same is there."""
    path = package.root / DATA / name
    if not os.path.lexists(path) or package.mapping(path) != values:
        staged.add(name, yaml_of(dict(values)).encode())


def _check_text(data: bytes, where: str, ending: str) -> None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise DataError(where, None, f"its {ending} is not UTF-8: byte {error.start}") from None
