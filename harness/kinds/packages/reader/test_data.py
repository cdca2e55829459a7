"""Test data of a package: the tree of groups below `data`, and what each says of its tests."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import DataError
from harness.kinds.packages.reader.package_folder import PackageFolder
from harness.kinds.packages.reader.package_settings import PackageSettings, flags, words
from harness.sources.files.folder import MOST_DEPTH, is_folder

GROUP_FILES = ("testdata.yaml", "test_group.yaml")
FLAG_KEYS = ("output_validator_flags", "output_validator_args")
ARGUMENTS = "args"

_TEST_KEYS = {
    *(ARGUMENTS, "input_validator_args", "output_validator_args", "input_visualizer_args"),
    *("output_visualizer_args", "full_feedback", "hint", "description"),
}
_GROUP_KEYS = _TEST_KEYS | {
    *("on_reject", "grading", "grader_flags", "input_validator_flags", "output_validator_flags"),
    *("accept_score", "reject_score", "range", "objective", "show_test_data_groups", "scoring"),
    *("max_score", "score_aggregation", "verdict_aggregation", "require_pass"),
    *("static_validation_score", "static_validator_args"),
}


class PackageTest(NamedTuple):
    """One test.

    Attributes:
        input: its `.in` file; `answer` is the `.ans` file beside it.
        validator_flags: arguments of the output validator, those of problem.yaml first.
        arguments: command-line arguments of the solution.
        files: files that the solution may open: the folder beside it; None without.
    """

    input: Path
    answer: Path
    validator_flags: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    files: Path | None = None


class TestData(NamedTuple):
    """Tests of a package, in order.

    Attributes:
        interactions: files of dialogues, which are shown in place of tests or beside them.
    """

    __test__ = False

    sample: tuple[PackageTest, ...]
    secret: tuple[PackageTest, ...]
    interactions: tuple[Path, ...] = ()


class _Group(NamedTuple):
    """What holds for the tests of a group, unless an inner group says otherwise."""

    flags: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()


def read_test_data(package: PackageFolder, settings: PackageSettings) -> TestData:
    """Return a package's tests; their files are not read.

    Raises:
        DataError: a group or test cannot be read, or has a part that is not known.
    """
    tree = _GroupTree(package, settings)
    data = package.root / "data"
    group = tree.with_file(data, package.entries(data), _Group())
    sample, secret = (tuple(tree.tests(data / name, group)) for name in ("sample", "secret"))
    return TestData(sample, secret, tuple(tree.interactions))


class _GroupTree:
    """Reads the groups of a package."""

    def __init__(self, package: PackageFolder, settings: PackageSettings) -> None:
        self._package = package
        self._settings = settings
        self.interactions: list[Path] = []

    def tests(self, folder: Path, outer: _Group, depth: int = 0) -> Iterator[PackageTest]:
        """Yield the tests of a group and those of its inner groups, by name."""
        if depth > MOST_DEPTH:
            raise DataError(str(folder), None, f"groups more than {MOST_DEPTH} deep")
        entries = self._package.entries(folder)
        group = self.with_file(folder, entries, outer)
        names = {path.name for path in entries}
        for path in entries:
            if path.suffix == ".in":
                yield self._test(path, names, group)
            elif path.suffix == ".interaction":
                self.interactions.append(path)
            elif path.suffix in {".ans", ".args", ".files"}:
                if path.with_suffix(".in").name not in names:
                    raise DataError(str(path), None, f"there is no {path.stem}.in")
            elif is_folder(path):
                yield from self.tests(path, group, depth + 1)

    def with_file(self, folder: Path, entries: Sequence[Path], outer: _Group) -> _Group:
        """Return what holds in a group."""
        files = [path for path in entries if path.name in GROUP_FILES]
        if not files:
            return outer
        if len(files) > 1:
            raise DataError(str(folder), None, f"both {' and '.join(GROUP_FILES)}")
        where = str(files[0])
        values = self._package.group(files[0], self._settings.constants)
        if "static_validation_score" in values:
            raise DataError(where, "static_validation_score", "static validators are not run here")
        group = self._changed(outer, values, _GROUP_KEYS, where)
        inherited = outer.flags if group.flags == outer.flags else ()
        if inherited and not self._settings.is_legacy and not {*FLAG_KEYS} & values.keys():
            # The newer format's table says that a group's are empty, and tools hand them down.
            raise DataError(where, FLAG_KEYS[1], "missing, and the group around it has some")
        return group

    def _changed(
        self, outer: _Group, values: Mapping[str, Any], known: set[str], where: str
    ) -> _Group:
        if unknown := values.keys() - known:
            name = min(map(str, unknown))
            raise DataError(where, name, f"unknown; known: {', '.join(sorted(known))}")
        given = [key for key in FLAG_KEYS if key in values]
        if len(given) > 1:
            raise DataError(where, given[0], f"{given[1]!r} is given as well")
        group = outer
        if given:
            group = group._replace(flags=flags(values[given[0]], where, given[0]))
        if ARGUMENTS in values:
            group = group._replace(arguments=words(values[ARGUMENTS], where, ARGUMENTS))
        return group

    def _test(self, path: Path, names: set[str], group: _Group) -> PackageTest:
        def beside(ending: str) -> Path | None:
            other = path.with_suffix(ending)
            return other if other.name in names else None

        if own := beside(".yaml"):
            values = self._package.group(own)
            group = self._changed(group, values, _TEST_KEYS, str(own))
        arguments = group.arguments
        if old := beside(".args"):
            arguments = tuple(self._package.string(old).split())
        return PackageTest(
            input=path,
            answer=path.with_suffix(".ans"),
            validator_flags=self._settings.validator_flags + group.flags,
            arguments=arguments,
            files=beside(".files"),
        )
