"""Make the tests of packages by their generators, one package after another."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.errors import DataError, HarnessError, UsageError
from harness.features.generate.generation import Generated, generate_package
from harness.grading.sandbox_retry import RetryingWorker
from harness.sandbox.execution import SandboxError
from harness.sandbox.worker import Worker
from harness.sources.benchmarks import parse_spec
from harness.sources.contests.generators.generators_file import generators_path
from harness.sources.contests.icpc import packages_in
from harness.sources.contests.package.package_folder import PackageFolder
from harness.sources.files.download import Watch

SOURCE = "icpc"


@dataclass(frozen=True, slots=True)
class Refused:
    """A package whose tests cannot be made.

    Attributes:
        package: name of its folder.
        error: the reason.
    """

    package: str
    error: DataError


def packages_with_generators(spec: str) -> list[PackageFolder]:
    """Return the packages that have generators.

    Args:
        spec: `icpc:FOLDER`.

    Raises:
        UsageError: it names another source, or there is no such package.
    """
    name, where = parse_spec(spec)
    if name != SOURCE or where is None:
        raise UsageError(
            f"--generate makes tests of contest packages: give icpc:FOLDER, not {spec}"
        )
    packages = [each for each in packages_in(where) if generators_path(each.root).is_file()]
    if not packages:
        file = generators_path(Path())
        raise UsageError(f"no package of {where} has {file}, which says how its tests are made")
    return packages


def generate(packages: list[PackageFolder], watch: Watch) -> Iterator[Generated | Refused]:
    """Make the tests of packages; yield what became of each.

    Args:
        packages: the packages.
        watch: function called with the progress.

    Raises:
        HarnessError: the sandbox failed, or a package cannot be written to.
    """
    worker = Worker()
    try:
        for package in packages:
            folder = package.root

            def told(done: int, of: int, name: str = folder.name) -> None:
                watch(f"generating {name}", done, of)

            try:
                yield generate_package(RetryingWorker(worker), package, told)
            except DataError as error:
                yield Refused(folder.absolute().name, error)
            except SandboxError as error:
                raise HarnessError(f"{folder}: the sandbox failed: {error}") from error
    finally:
        worker.stop()
