"""Points of a scoring package: its groups of tests, and what their files say of them.

The legacy format has `testdata.yaml` and a default grader with flags; `2025-09` has
`test_group.yaml` with `max_score`, `score_aggregation` and `require_pass`.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from harness.errors import DataError
from harness.judged_by import CheckerProgram
from harness.kinds.packages.reader.package_folder import PackageFolder
from harness.kinds.packages.reader.package_programs import CPP, programs_in
from harness.kinds.packages.reader.package_settings import (
    DRAFTS,
    PackageSettings,
    words,
)
from harness.kinds.packages.reader.python_program import python_sources, python_validator
from harness.kinds.packages.reader.test_data import GROUP_FILES, TestData
from harness.kinds.packages.reader.validator_program import compiled_validator
from harness.scoring import Scoring, TestGroup
from harness.sources.files.folder import is_folder

T = TypeVar("T")
Verdicts = Literal["all", "any", "always"]
Aggregation = Literal["sum", "avg", "min", "max", "pass"]
SAMPLE, SECRET = "sample", "secret"
DEFAULT, CUSTOM = "default", "custom"
VERDICT_FLAGS: Mapping[str, Verdicts] = {
    "worst_error": "all",
    "no_errors": "all",
    "first_error": "all",
    "always_accept": "always",
}
SCORE_FLAGS: Mapping[str, Aggregation] = {
    "sum": "sum",
    "avg": "avg",
    "min": "min",
    "max": "max",
}
IGNORE_SAMPLE, ANY_ACCEPTED = "ignore_sample", "accept_if_any_accepted"
LENIENT = {"always_accept", ANY_ACCEPTED}
LEGACY_KEYS = {"on_reject", "grading", "grader_flags", "accept_score", "reject_score", "range"}
PLAIN_KEYS = {
    *("input_validator_flags", "output_validator_flags", "input_validator_args"),
    *("output_validator_args", "show_test_data_groups", "full_feedback", "hint", "description"),
}
"""Keys that give no points."""
AGGREGATIONS: Mapping[str, Aggregation] = {
    "sum": "sum",
    "min": "min",
    "pass-fail": "pass",
}
UNBOUNDED = "unbounded"
USUAL_MAXIMUM = 100
_OLDER_REJECT = {"first_error": "break", "grade": "continue"}
"""Values of `on_reject` in problem.yaml, and what they are in testdata.yaml."""
_OLDER_KEYS = ("accept_score", "reject_score", "range")
FOLDER = "graders"


def read_scoring(package: PackageFolder, settings: PackageSettings, data: TestData) -> Scoring:
    """Return how a scoring package gives points.

    Raises:
        DataError: a group says something that is not known, the package's own grader cannot be run,
            or there is no full score.
    """
    where = str(package.root)
    if settings.grading.get("objective", "max") != "max":
        raise DataError(where, "objective", "the fewest points are best; most points are here")
    tests = [test.input for test in (*data.sample, *data.secret)]
    positions = {path: number for number, path in enumerate(tests)}
    if not data.secret:
        raise DataError(where, "data", "a scoring problem without secret tests has no full score")
    read = _Legacy if settings.is_legacy or _is_draft(package, settings, data) else _Newest
    root = read(package, settings, positions).root()
    maximum = _maximum(root)
    if not 0 < maximum < math.inf:
        what = f"the most points are {maximum:g}, so that no score is full; give a range or maximum"
        raise DataError(where, "data", what)
    root = root.model_copy(update={"most": maximum})
    grader = read_grader(package, settings) if _has_grader(root) else None
    return Scoring(root=root, maximum=maximum, tests=len(tests), grader=grader)


def _has_grader(group: TestGroup) -> bool:
    inner = (part for part in group.parts if isinstance(part, TestGroup))
    return group.grader_flags is not None or any(map(_has_grader, inner))


def _is_draft(package: PackageFolder, settings: PackageSettings, data: TestData) -> bool:
    """Return whether a package of a draft version gives points as the legacy format does.

    Raises:
        DataError: its files have other keys, whose meaning changed from draft to draft.
    """
    if settings.version not in DRAFTS:
        return False
    keys: set[str] = set()
    for path in group_files(package, data):
        keys |= package.group(path, settings.constants).keys()
    if not keys & LEGACY_KEYS or keys - LEGACY_KEYS - PLAIN_KEYS:
        what = f"points of version {settings.version} are counted by the legacy keys alone"
        raise DataError(str(package.root / "problem.yaml"), "problem_format_version", what)
    return True


def refuse_lenient_groups(package: PackageFolder, data: TestData) -> None:
    """Refuse groups of a problem without points that accept what a test rejects.

    Raises:
        DataError: there is one.
    """
    for path in group_files(package, data):
        values = package.group(path)
        if values.get("grading", DEFAULT) != DEFAULT:
            what = f"{values['grading']!r:.60}: only scoring problems have a grader of their own"
            raise DataError(str(path), "grading", what)
        flags = words(values.get("grader_flags"), str(path), "grader_flags")
        if lenient := [flag for flag in flags if flag in LENIENT]:
            what = f"{lenient[0]}: of a problem without points every test must be accepted here"
            raise DataError(str(path), "grader_flags", what)


def group_files(package: PackageFolder, data: TestData) -> list[Path]:
    """Return the files of the groups that tests are in."""
    tests = [test.input for test in (*data.sample, *data.secret)]
    root = package.root / "data"
    folders = {folder for test in tests for folder in test.parents if folder.is_relative_to(root)}
    listed = (package.entries(folder) for folder in sorted(folders))
    return [path for paths in listed for path in paths if path.name in GROUP_FILES]


def _maximum(group: TestGroup) -> float:
    """Return the points of a solution that passes every test, with most of a checker's points."""
    if group.points_of == "pass":
        return group.accept_score
    if group.grader_flags is not None:
        return group.most
    if group.own_scores == "required":
        tests = [group.most for part in group.parts if isinstance(part, int)]
    else:
        tests = [group.accept_score for part in group.parts if isinstance(part, int)]
    parts = [*tests, *(_maximum(part) for part in group.parts if isinstance(part, TestGroup))]
    parts = parts[-1:] if group.last_only else parts
    match group.points_of:
        case "min":
            points = min(parts)
        case "max":
            points = max(parts)
        case "avg":
            points = sum(parts) / len(parts)
        case _:
            points = sum(parts)
    return min(points, group.most)


class _Groups:
    """Reads the groups of a package.

    Args:
        positions: position of each test among the problem's, by its input file.
    """

    def __init__(
        self, package: PackageFolder, settings: PackageSettings, positions: Mapping[Path, int]
    ) -> None:
        self.package = package
        self.settings = settings
        self.positions = positions

    def parts(self, folder: Path) -> list[Path | int]:
        """Return the tests and the inner folders of a folder, by name."""
        parts: list[Path | int] = []
        for path in self.package.entries(folder):
            if path in self.positions:
                parts.append(self.positions[path])
            elif is_folder(path) and any(path in test.parents for test in self.positions):
                parts.append(path)
        return parts

    def values(self, folder: Path) -> tuple[dict[str, Any], str]:
        """Return what a folder's file says, and the path of that file."""
        for path in self.package.entries(folder):
            if path.name in GROUP_FILES:
                return self.package.group(path, self.settings.constants), str(path)
        return {}, str(folder / GROUP_FILES[not self.settings.is_legacy])


class _Legacy(_Groups):
    """Reads `testdata.yaml`; what a group does not say, the group around it says."""

    def root(self) -> TestGroup:
        """Return the group of all tests."""
        data = self.package.root / "data"
        return self._group(data, {"on_reject": "break"}, [data / SAMPLE, data / SECRET])

    def _group(
        self, folder: Path, outer: Mapping[str, Any], parts: list[Path] | None = None
    ) -> TestGroup:
        values, where = self.values(folder)
        config = {**outer, **values, **self._older()}
        held = self.parts(folder)
        if parts is not None:
            held = [part for part in held if part in parts]
        chosen = words(config.get("grader_flags"), where, "grader_flags")
        grading = config.get("grading", DEFAULT)
        if grading not in {DEFAULT, CUSTOM}:
            raise DataError(where, "grading", f"{grading!r:.60} is neither default nor custom")
        own = chosen if grading == CUSTOM else None
        known = {*VERDICT_FLAGS, *SCORE_FLAGS, IGNORE_SAMPLE, ANY_ACCEPTED}
        if own is None and (unknown := [flag for flag in chosen if flag not in known]):
            what = f"the default grader has no flag {unknown[0]!r:.60}"
            raise DataError(where, "grader_flags", f"{what}; known: {', '.join(sorted(known))}")
        if config["on_reject"] not in {"break", "continue"}:
            raise DataError(where, "on_reject", f"{config['on_reject']!r:.60} is not known")
        if own is None and IGNORE_SAMPLE in chosen and parts is None:
            raise DataError(where, "grader_flags", f"{IGNORE_SAMPLE} is for the folder data alone")
        return TestGroup(
            name="" if parts is not None else folder.relative_to(self.package.root).as_posix(),
            parts=tuple(
                each if isinstance(each, int) else self._group(each, config) for each in held
            ),
            points_of=_last(SCORE_FLAGS, chosen, "sum"),
            verdict_of=_verdict_of(chosen),
            breaks=config["on_reject"] == "break",
            last_only=own is None and IGNORE_SAMPLE in chosen,
            accept_score=_number(config.get("accept_score", 1.0), where, "accept_score"),
            reject_score=_number(config.get("reject_score", 0.0), where, "reject_score"),
            most=_highest(config.get("range"), where),
            own_scores="required" if self.settings.has_scores else "never",
            grader_flags=None if own is None else tuple(own),
        )

    def _older(self) -> dict[str, Any]:
        """Return what problem.yaml says of all groups, as old packages do."""
        grading = self.settings.grading
        keys = {key: grading[key] for key in _OLDER_KEYS if key in grading}
        reject = _OLDER_REJECT.get(str(grading.get("on_reject")))
        return keys | ({"on_reject": reject} if reject else {})


class _Newest(_Groups):
    """Reads `test_group.yaml`; a group inherits nothing.

    A group is a folder of `data/secret` with that file. Other folders only sort the tests of the
    folder around them.
    """

    def root(self) -> TestGroup:
        """Return the group of all tests, of which the secret ones count."""
        sample, secret = (self.package.root / "data" / name for name in (SAMPLE, SECRET))
        shown = self._tests(sample)
        parts = [self._secret(secret, has_samples=bool(shown))]
        if shown:
            values, where = self.values(sample)
            for key in ("max_score", "score_aggregation", "require_pass"):
                if key in values:
                    raise DataError(where, key, "not allowed for the samples")
            first = TestGroup(name=SAMPLE, parts=tuple(shown), accept_score=0, own_scores="ignored")
            parts = [first, *parts]
        return TestGroup(parts=tuple(parts), last_only=True, verdict_of="always")

    def _tests(self, folder: Path) -> list[int]:
        """Return the tests of a folder, and of the folders in it that are no groups."""
        tests: list[int] = []
        for part in self.parts(folder):
            if isinstance(part, int):
                tests.append(part)
            elif self._is_group(part):
                raise DataError(
                    str(part), None, f"a group within {folder.name}, which may have none"
                )
            else:
                tests += self._tests(part)
        return tests

    def _is_group(self, folder: Path) -> bool:
        return any(path.name in GROUP_FILES for path in self.package.entries(folder))

    def _secret(self, folder: Path, *, has_samples: bool) -> TestGroup:
        values, where = self.values(folder)
        known = {SAMPLE: has_samples}
        values = {"max_score": USUAL_MAXIMUM, "score_aggregation": "sum", **values}
        parts = self.parts(folder)
        groups = [part for part in parts if not isinstance(part, int) and self._is_group(part)]
        if not groups:
            return self._group(folder, values, where, self._tests(folder), known)
        if len(groups) < len(parts):
            raise DataError(str(folder), None, "both groups of tests, and tests or other folders")
        whole = self._group(folder, values, where, [], known)
        inner: list[TestGroup] = []
        for each in groups:
            own, place = self.values(each)
            own = {"score_aggregation": "pass-fail", **own}
            part = self._group(each, own, place, self._tests(each), known)
            if whole.points_of == "pass" and part.points_of != "pass":
                raise DataError(place, "score_aggregation", "the group around it is pass-fail")
            if part.points_of == "pass":
                known[each.name] = True
            inner.append(part)
        return whole.model_copy(update={"parts": tuple(inner)})

    def _group(
        self,
        folder: Path,
        values: Mapping[str, Any],
        where: str,
        tests: Sequence[int],
        known: Mapping[str, bool],
    ) -> TestGroup:
        """Return a group.

        Args:
            folder: its folder.
            values: what its file says.
            where: path of that file.
            tests: its tests.
            known: names of the groups that it may need, and whether these have a test.
        """
        given = str(values["score_aggregation"])
        if given not in AGGREGATIONS:
            what = f"{given!r:.60} is not known; known: {', '.join(AGGREGATIONS)}"
            raise DataError(where, "score_aggregation", what)
        most = values.get("max_score", UNBOUNDED)
        if most == UNBOUNDED:
            raise DataError(where, "max_score", "unbounded or missing, so that no score is full")
        points = AGGREGATIONS[given]
        maximum = _number(most, where, "max_score")
        each = maximum / len(tests) if points == "sum" and tests else maximum
        return TestGroup(
            name=folder.relative_to(self.package.root / "data").as_posix(),
            parts=tuple(tests),
            points_of=points,
            breaks=bool(tests) and points != "sum",
            needs=_needs(values.get("require_pass"), where, known),
            accept_score=each,
            most=maximum,
            own_scores="never" if points == "pass" else "optional",
        )


def _needs(given: object, where: str, known: Mapping[str, bool]) -> tuple[str, ...]:
    """Return the names of the groups that must be accepted: of `secret/name` the last part."""
    names = [name.removeprefix(f"{SECRET}/") for name in words(given, where, "require_pass")]
    if unknown := [name for name in names if name not in known]:
        what = f"{unknown[0]!r:.60} is not a pass-fail group before this one"
        raise DataError(where, "require_pass", what)
    return tuple(name for name in names if known[name])


def _last(known: Mapping[str, T], chosen: Sequence[str], usual: T) -> T:
    """Return the meaning of the last flag that is known."""
    return next((known[flag] for flag in reversed(chosen) if flag in known), usual)


def _verdict_of(chosen: Sequence[str]) -> Verdicts:
    """Return when a group with these flags is accepted."""
    if _last(VERDICT_FLAGS, chosen, "all") == "always":
        return "always"
    return "any" if ANY_ACCEPTED in chosen else "all"


def _number(value: object, where: str, key: str) -> float:
    try:
        number = float(cast("Any", value))
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number):
        raise DataError(where, key, f"{value!r:.60} is not a number")
    return number


def _highest(value: object, where: str) -> float:
    """Return the upper end of a range. Raises DataError."""
    if value is None:
        return math.inf
    try:
        low, high = map(float, words(value, where, "range"))
    except ValueError:
        low, high = math.nan, math.nan
    if not low <= high:
        raise DataError(where, "range", f"{value!r:.60} is not two numbers, the lower one first")
    return high


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
