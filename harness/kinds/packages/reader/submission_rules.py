"""`submissions/submissions.yaml` of a package: the verdicts that submissions may get, and must get.

Source: the format of 2025-09, "Example submissions" and "Timelimit inference". Its keys are
patterns of submissions; each has rules for all tests, and within it patterns of tests with rules
for these. The key `message` is not checked, nor the points of a rule for some tests.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from harness.errors import DataError
from harness.kinds.packages.reader.package_folder import PackageFolder
from harness.kinds.packages.reader.package_settings import mapping, words
from harness.kinds.packages.reader.path_pattern import PathPattern, PatternError

FILE = "submissions.yaml"
ACCEPTED, TOO_SLOW = "AC", "TLE"
VERDICTS: Mapping[str, tuple[str, ...]] = {
    ACCEPTED: ("accepted",),
    "WA": ("wrong_answer",),
    TOO_SLOW: ("time_limit",),
    "RTE": ("runtime_error", "memory_limit", "output_limit"),
}
"""The format's verdicts, each with those of ours that count as it."""
ANY = frozenset(VERDICTS)
PERMITTED, REQUIRED, LANGUAGE, POINTS = "permitted", "required", "language", "score"
FOR_LIMIT = "use_for_time_limit"
TEXTS = ("entrypoint", "authors", "author", "model_solution", "message")
DATA = ("sample", "secret")
MOST_CHOICES = 500
"""Most patterns in a file, braces expanded: each is compared with each test."""
_KEYS = {PERMITTED, REQUIRED, LANGUAGE, POINTS, FOR_LIMIT, *TEXTS}
_BY_FOLDER: Mapping[str, tuple[str, str]] = {
    "accepted": ("AC", ""),
    "rejected": ("", "WA TLE RTE"),
    "wrong_answer": ("AC WA", "WA"),
    "time_limit_exceeded": ("AC TLE", "TLE"),
    "run_time_error": ("AC RTE", "RTE"),
    "brute_force": ("AC TLE RTE", "TLE RTE"),
}
"""For each folder, the verdicts permitted on every test, and those that one test must have."""


class Expectation(NamedTuple):
    """What is expected of a submission.

    Attributes:
        verdicts: verdicts that the submission may get.
        points: fewest and most points; None for any.
        language: code of its language; empty where its file's ending says it.
        sets_limit: whether the time limit follows from it, if it is accepted.
    """

    verdicts: tuple[str, ...]
    points: tuple[float, float] | None = None
    language: str = ""
    sets_limit: bool = True


class _Rule(NamedTuple):
    """Rule for some tests: verdicts that each of them may have, and that one of them must have.

    Attributes:
        tests: numbers of these tests.
        sets_limit: whether the time limit may follow from submissions that it holds for.
    """

    tests: frozenset[int]
    permitted: frozenset[str] = ANY
    required: frozenset[str] = ANY
    sets_limit: bool = True


class _Entry(NamedTuple):
    """Rules for some submissions, and facts about them."""

    submissions: PathPattern
    rules: tuple[_Rule, ...]
    points: tuple[float, float] | None = None
    language: str = ""


class SubmissionRules:
    """The rules of a package.

    Args:
        package: the package.
        tests: path of each test below `data`, without `.in`.

    Raises:
        DataError: the file cannot be read, or says something that is not known.
    """

    def __init__(self, package: PackageFolder, tests: Sequence[str]) -> None:
        self._tests = tests
        self._all = frozenset(range(len(tests)))
        self._choices = 0
        self.path = package.root / "submissions" / FILE
        values = package.mapping(self.path)
        folders = {name: _words_of_folder(name) for name in _BY_FOLDER}
        given: dict[str, dict[str, Any]] = {}
        for key, value in values.items():
            name = str(key).strip("/")
            if name in given:
                raise DataError(self._where, name, "it is given twice")
            given[name] = {**folders.get(name, {}), **mapping(value, self._where, name)}
        given = {**folders, **given}
        self._entries = [self._entry(name, values) for name, values in given.items()]

    def of(self, submission: str) -> Expectation:
        """Return what is expected of a submission, given by its path below `submissions`.

        Raises:
            DataError: the rules leave no verdict, or no number of points.
        """
        entries = [each for each in self._entries if each.submissions.matches(submission)]
        rules = [rule for each in entries for rule in each.rules]
        return Expectation(
            self._verdicts(submission, rules),
            self._points(submission, entries),
            next((each.language for each in reversed(entries) if each.language), ""),
            any(rule.sets_limit and TOO_SLOW not in rule.permitted for rule in rules),
        )

    def _verdicts(self, submission: str, rules: Sequence[_Rule]) -> tuple[str, ...]:
        """Return the verdicts on the whole that the rules for its tests allow."""
        tests: Mapping[str, frozenset[int]] = {  # those that may have the verdict
            verdict: self._all.difference(
                *(rule.tests for rule in rules if verdict not in rule.permitted)
            )
            for verdict in VERDICTS
        }
        if without := self._all.difference(*tests.values()):
            what = f"its rules permit no verdict on test {self._tests[min(without)]}"
            raise DataError(self._where, submission, what)
        for rule in rules:
            if rule.tests and not any(tests[verdict] & rule.tests for verdict in rule.required):
                what = f"a test must get {' or '.join(sorted(rule.required))}, and no test may"
                raise DataError(self._where, submission, what)
        must_fail = any(rule.tests and ACCEPTED not in rule.required for rule in rules)
        allowed = {verdict for verdict in VERDICTS if tests[verdict]}
        if must_fail or tests[ACCEPTED] != self._all:
            allowed -= {ACCEPTED}
        return tuple(ours for each in VERDICTS if each in allowed for ours in VERDICTS[each])

    def _points(self, submission: str, entries: Iterable[_Entry]) -> tuple[float, float] | None:
        ranges = [each.points for each in entries if each.points is not None]
        if not ranges:
            return None
        low, high = max(low for low, _ in ranges), min(high for _, high in ranges)
        if low > high:
            raise DataError(self._where, submission, "its rules allow no number of points")
        return low, high

    @property
    def _where(self) -> str:
        return str(self.path)

    def _entry(self, name: str, values: Mapping[str, Any]) -> _Entry:
        """Read what is said of the submissions of a pattern."""
        inner = {str(key): value for key, value in values.items() if key not in _KEYS}
        rules = [self._rule(self._all, values, name)]
        for key, value in inner.items():
            pattern, where = self._pattern(key), f"{name}: {key}"
            if not pattern.may_begin_with(DATA):
                known = ", ".join(sorted(_KEYS))
                raise DataError(self._where, where, f"neither tests nor a key; known: {known}")
            below = mapping(value, self._where, where)
            if unknown := below.keys() - {PERMITTED, REQUIRED, POINTS, FOR_LIMIT, "message"}:
                raise DataError(self._where, f"{where}: {min(map(str, unknown))}", "not known here")
            tests = (number for number, test in enumerate(self._tests) if pattern.matches(test))
            rules.append(self._rule(frozenset(tests), below, where))
        language = values.get(LANGUAGE)
        if language is not None and not isinstance(language, str):
            raise DataError(
                self._where,
                f"{name}: {LANGUAGE}",
                f"{language!r:.60} is not the code of a language",
            )
        points = self._range(values.get(POINTS), name)
        return _Entry(self._pattern(name), tuple(rules), points, (language or "").strip())

    def _rule(self, tests: frozenset[int], values: Mapping[str, Any], where: str) -> _Rule:
        permitted = self._named(values.get(PERMITTED), f"{where}: {PERMITTED}")
        required = self._named(values.get(REQUIRED), f"{where}: {REQUIRED}")
        match values.get(FOR_LIMIT):
            case "lower":
                permitted -= {TOO_SLOW}
            case "upper":
                required &= {TOO_SLOW}
            case None | bool():
                pass
            case other:
                what = f"{other!r:.60} is none of: true, false, lower, upper"
                raise DataError(self._where, f"{where}: {FOR_LIMIT}", what)
        return _Rule(tests, permitted, required, values.get(FOR_LIMIT) is not False)

    def _named(self, value: object, field: str) -> frozenset[str]:
        named = frozenset(words(value, self._where, field))
        if value is not None and (not named or named - ANY):
            what = f"{value!r:.60} is no list of verdicts; known: {', '.join(VERDICTS)}"
            raise DataError(self._where, field, what)
        return named or ANY

    def _range(self, value: object, name: str) -> tuple[float, float] | None:
        if value is None:
            return None
        given = cast("list[object]", value) if isinstance(value, list) else [value, value]
        match given:
            case [int() | float() as low, int() | float() as high] if -math.inf < low <= high:
                if high < math.inf and not {type(low), type(high)} & {bool}:
                    return float(low), float(high)
            case _:
                pass
        what = f"{value!r:.60} is neither a number nor two of them, the smaller one first"
        raise DataError(self._where, f"{name}: {POINTS}", what)

    def _pattern(self, text: str) -> PathPattern:
        try:
            pattern = PathPattern(text)
        except PatternError as error:
            raise DataError(self._where, text[:100], str(error)) from None
        self._choices += pattern.choices
        if self._choices > MOST_CHOICES:
            what = f"more than {MOST_CHOICES} patterns in this file, braces expanded"
            raise DataError(self._where, text[:100], what)
        return pattern


def test_names(package: PackageFolder, inputs: Iterable[Path]) -> list[str]:
    """Return the path of each test below `data`, without `.in`."""
    data = package.root / "data"
    return [path.relative_to(data).with_suffix("").as_posix() for path in inputs]


def _words_of_folder(name: str) -> dict[str, Any]:
    permitted, required = _BY_FOLDER[name]
    given = {PERMITTED: permitted.split(), REQUIRED: required.split()}
    return {key: value for key, value in given.items() if value}
