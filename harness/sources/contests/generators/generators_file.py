"""`generators/generators.yaml`: the tests that it lists, in order, with their names.

Source: BAPCtools' `doc/generators.yaml`. Numbers of listed tests run through the whole file, and
those of groups through a folder, as its program counts them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from harness.errors import DataError
from harness.sources.contests.generators.generator_command import Command, read_command
from harness.sources.contests.generators.generator_programs import FOLDER, path_inside
from harness.sources.contests.package.package_folder import PackageFolder
from harness.sources.contests.package.test_data import GROUP_FILES
from harness.sources.files.folder import MOST_DEPTH

FILE = "generators.yaml"
SAMPLE, SECRET = "sample", "secret"
MOST_TESTS = 5_000
MOST_COUNT = 1_000
MOST_RETRIES = 100
_KINDS = (SAMPLE, SECRET)
_INPUT = ("generate", "copy", "in")
_SHOWN = ("in.statement", "ans.statement", "in.download", "ans.download", "interaction")
"""What a sample shows in place of its files; there is no test where it has no other input."""
_KEYS = {
    *("type", "ans", "solution", "random_salt", "retries", "count", "desc", "hint", "visualizer"),
    *(*_INPUT, *_SHOWN),
}
_TESTS = {*_INPUT, *_SHOWN, "ans", "count"}
"""Keys that make an entry a test."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,199}")


@dataclass(frozen=True, slots=True)
class TestRule:
    """How a test is made.

    Attributes:
        folder: its group: `sample` or `secret`, then the groups within.
        name: its name, without ending.
        command: command that prints the input; None where the input is given in another way.
        copied: file, without ending, that the test is a copy of.
        input, answer: the texts, where the file has them.
        solution: command of the solution that gives the answer; "" for the first accepted
            submission, None for none.
        retries: how often a generator that fails runs, each time with the next seed.
    """

    __test__ = False

    folder: tuple[str, ...]
    name: str
    command: Command | None = None
    copied: Path | None = None
    input: str | None = None
    answer: str | None = None
    solution: str | None = ""
    retries: int = 1

    @property
    def path(self) -> str:
        """Its path below `data`, without ending."""
        return "/".join((*self.folder, self.name))


@dataclass(frozen=True, slots=True)
class GeneratorsFile:
    """What the file says.

    Attributes:
        programs: names of generators to their files.
        rules: the tests.
        groups: settings of each group that has some, by the path of their file below `data`.
    """

    programs: Mapping[str, Sequence[str]]
    rules: tuple[TestRule, ...]
    groups: Mapping[str, Mapping[str, Any]]


def generators_path(root: Path) -> Path:
    """Return the path of a package's file."""
    return root / FOLDER / FILE


def read_generators(package: PackageFolder, constants: Mapping[str, str]) -> GeneratorsFile:
    """Return what a package's file says.

    Raises:
        DataError: the file is missing or invalid, or asks for what cannot be made here.
    """
    place = generators_path(package.root)
    values = package.mapping(place)
    reader = _Reader(package, constants, str(place))
    programs = reader.programs(values.get("generators"))
    rules = tuple(reader.rules(values))
    return GeneratorsFile(programs, rules, reader.groups)


class _Inherited(NamedTuple):
    """What a folder's tests take over, unless they say otherwise."""

    solution: str | None = ""
    salt: str = ""
    retries: int = 1


class _Reader:
    """Reads the tree of tests."""

    def __init__(self, package: PackageFolder, constants: Mapping[str, str], where: str) -> None:
        self._package = package
        self._constants = constants
        self._where = where
        self._number = self._total = 0
        self._known: dict[str, list[TestRule]] = {}
        self._paths: set[str] = set()
        self.groups: dict[str, Mapping[str, Any]] = {}

    def programs(self, given: object) -> dict[str, list[str]]:
        """Return the files of each named generator."""
        tree: dict[str, list[str]] = {}
        for name, files in self._map(given, "generators").items():
            names = cast("list[object]", files) if isinstance(files, list) else []
            if not names or not all(isinstance(each, str) for each in names):
                raise self._wrong("generators", f"{name!r:.60} is not a list of files")
            tree[str(name)] = [str(each) for each in names]
        return tree

    def rules(self, values: Mapping[str, Any]) -> Iterator[TestRule]:
        """Yield the tests."""
        inherited = self._inherited(values, _Inherited(), "data")
        data = self._map(values.get("data"), "data")
        kinds = [kind for kind in _KINDS if isinstance(data.get(kind), dict)]
        self._total = sum(_numbered(data[kind].get("data")) for kind in kinds)
        for kind in kinds:
            yield from self._folder(self._map(data[kind], kind), (kind,), inherited)

    def _folder(
        self, values: Mapping[str, Any], folder: tuple[str, ...], outer: _Inherited
    ) -> Iterator[TestRule]:
        where = "/".join(folder)
        if len(folder) > MOST_DEPTH:
            raise self._wrong(where, f"groups more than {MOST_DEPTH} deep")
        inherited = self._inherited(values, outer, where)
        for name in GROUP_FILES:
            if values.get(name) is not None:
                self.groups[f"{where}/{name}"] = self._map(values[name], f"{where}/{name}")
        for key, name, value, index in self._entries(values.get("data"), where):
            if _is_test(value):
                made = list(self._test(value, folder, name, index, inherited))
            else:
                made = list(
                    self._folder(self._group(value, name, where), (*folder, name), inherited)
                )
            self._known.setdefault(key, []).extend(made)
            yield from made
        for key in self._names(values.get("include"), where):
            for rule in self._known.get(key) or self._no_such(key, where):
                yield self._once(replace(rule, folder=folder))

    def _entries(self, data: object, where: str) -> Iterator[tuple[str, str, Any, int]]:
        """Yield key, name, value and repetition of each entry of a folder."""
        if data is None:
            return
        is_list = isinstance(data, list)
        parts = [
            self._map(each, where) for each in (cast("list[object]", data) if is_list else [data])
        ]
        several = sum(not _is_test(value) for part in parts for value in part.values())
        group = 0
        for part in parts:
            for key, value in sorted(part.items(), key=lambda pair: _text(pair[0])):
                base, times = _text(key), self._count(value, where)
                for index in range(times):
                    name = base
                    if is_list and _is_test(value):
                        self._number += 1
                        name = _with_number(base, self._number, self._total)
                    elif is_list:
                        group += 1
                        name = _with_number(base, group, several)
                    if self._has_count(value):
                        name += f"-{index + 1:0{len(str(times))}}"
                    yield base, self._checked(name, where), value, index

    def _test(
        self, value: Any, folder: tuple[str, ...], name: str, index: int, outer: _Inherited
    ) -> Iterator[TestRule]:
        where = f"{'/'.join(folder)}/{name}"
        if isinstance(value, str):
            value = {"copy": value} if value.endswith(".in") else {"generate": value}
        values = self._map(value, where)
        if unknown := values.keys() - _KEYS:
            known = ", ".join(sorted(_KEYS))
            raise self._wrong(where, f"{min(map(str, unknown))!r:.60} is not known; known: {known}")
        given = {
            key: self._string(values[key], where, key)
            for key in ("in", "ans", *_INPUT)
            if key in values
        }
        if not {*_INPUT} & given.keys() and {*_SHOWN} & values.keys():
            return
        if value is not None and not {*_INPUT} & given.keys():
            raise self._wrong(where, f"it has no input: give one of {', '.join(_INPUT)}")
        inherited = self._inherited(values, outer, where)
        rule = TestRule(
            *(folder, name),
            input=_with_newline(given.get("in")),
            answer=_with_newline(given.get("ans")),
            solution=inherited.solution,
            retries=inherited.retries,
        )
        if (copied := given.get("copy")) is not None:
            root = self._package.root / FOLDER
            copied = path_inside(copied.removesuffix(".in"), root, self._at(where))
            rule = replace(rule, copied=copied)
        if (text := given.get("generate")) is not None:
            at, constants = self._at(where), self._constants
            command = read_command(text, at, salt=inherited.salt, index=index, constants=constants)
            rule = replace(rule, command=command)
        yield self._once(rule)

    def _once(self, rule: TestRule) -> TestRule:
        """Return a test whose path is new."""
        if rule.path in self._paths:
            raise self._wrong(rule.path, "two tests of this name")
        self._paths.add(rule.path)
        if len(self._paths) > MOST_TESTS:
            raise DataError(self._where, None, f"more than {MOST_TESTS:,} tests")
        return rule

    def _group(self, value: Any, name: str, where: str) -> Mapping[str, Any]:
        values = self._map(value, f"{where}/{name}")
        says_nothing = not {"data", "include", "type", *GROUP_FILES} & values.keys()
        if says_nothing or values.get("type", "directory") != "directory":
            raise self._wrong(f"{where}/{name}", "neither a test nor a group with data")
        return values

    def _inherited(self, values: Mapping[str, Any], outer: _Inherited, where: str) -> _Inherited:
        if "solution" in values:
            given = values["solution"]
            given = None if given is None else self._string(given, where, "solution")
            outer = outer._replace(solution=given or None)
        if "random_salt" in values:
            given = values["random_salt"]
            salt = "" if given is None else self._string(given, where, "random_salt")
            outer = outer._replace(salt=salt)
        if "retries" in values:
            number = self._whole(values["retries"], MOST_RETRIES, where, "retries")
            outer = outer._replace(retries=number)
        return outer

    def _count(self, value: Any, where: str) -> int:
        if not self._has_count(value):
            return 1
        return self._whole(value["count"], MOST_COUNT, where, "count")

    def _has_count(self, value: Any) -> bool:
        return isinstance(value, dict) and "count" in value

    def _whole(self, value: object, most: int, where: str, key: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            what = f"{key} is {value!r:.60}, not a whole number from 1 to {most:,}"
            raise self._wrong(where, what)
        return value

    def _checked(self, name: str, where: str) -> str:
        if not _NAME.fullmatch(name) or name.endswith(".in"):
            what = f"{name!r:.80} is not a name of a test: letters, digits and _ . + - only"
            raise self._wrong(where, what)
        return name

    def _names(self, given: object, where: str) -> list[str]:
        if given is None:
            return []
        if not isinstance(given, list):
            raise self._wrong(where, "include is not a list of names")
        return [_text(each) for each in cast("list[object]", given)]

    def _string(self, value: object, where: str, key: str) -> str:
        if not isinstance(value, str):
            raise self._wrong(where, f"{key} is {value!r:.60}, which is not text: put it in quotes")
        return value

    def _map(self, given: object, where: str) -> dict[str, Any]:
        if given is None:
            return {}
        if not isinstance(given, dict):
            raise self._wrong(where, f"{given!r:.60} is not a map")
        return cast("dict[str, Any]", given)

    def _no_such(self, key: str, where: str) -> list[TestRule]:
        raise self._wrong(where, f"include: {key!r:.60} is not a test or group before it")

    def _at(self, where: str) -> str:
        return f"{self._where}, {where}"

    def _wrong(self, where: str, what: str) -> DataError:
        return DataError(self._at(where), None, what)


def _is_test(value: object) -> bool:
    return not isinstance(value, dict) or bool(_TESTS & cast("dict[object, object]", value).keys())


def _numbered(data: object) -> int:
    """Return how many tests of a folder, and of the folders within, have numbers."""
    parts = cast("list[object]", data) if isinstance(data, list) else [data]
    total = 0
    for part in parts:
        values = cast("dict[str, Any]", part) if isinstance(part, dict) else {}
        for value in values.values():
            if not _is_test(value):
                total += _numbered(value.get("data"))
            elif isinstance(data, list):
                total += _times(value)
    return total


def _times(value: object) -> int:
    """Return how many tests an entry stands for; a wrong number is refused elsewhere."""
    values = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    count = values.get("count")
    return count if isinstance(count, int) else 1


def _with_number(base: str, number: int, total: int) -> str:
    return f"{number:0{len(str(total))}}" + (f"-{base}" if base else "")


def _with_newline(text: str | None) -> str | None:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _text(key: object) -> str:
    return "" if key is None else str(key)
