"""Verdicts and results of tests, grades of solutions, and the form of a grade in a transcript.

A problem may have hundreds of tests, and most have the same result as the test before. So a stored
test without an `index` has the next one, and the fields of the test before, except those that it
gives itself. The test before the first one is `BEFORE_FIRST`. A test with an `index` is whole. A
grade whose first test has no `index` also leaves out what `_sums` says of its tests.

The grades of older versions are whole, and are read as they are.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any, cast

from pydantic import BaseModel, SerializerFunctionWrapHandler, model_serializer
from pydantic_core import to_json

from harness.frozen import Frozen

_PAIRS = ("confirmed", "rechecked", "retimed")
ROUNDING = 1e-9
"""Points that rounding may take of a score."""
TINY = 1e-12
"""The same, as a part of a score of many points."""
MEASURED = frozenset({"cpu_s", "wall_s"})
"""Fields that every stored test has."""


class Verdict(StrEnum):
    """Verdict of a test or a solution; those after `NO_SOLUTION` do not concern the model."""

    ACCEPTED = "accepted"
    WRONG_ANSWER = "wrong_answer"
    RUNTIME_ERROR = "runtime_error"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    COMPILE_ERROR = "compile_error"
    NO_SOLUTION = "no_solution"

    CHECKER_ERROR = "checker_error"
    SANDBOX_ERROR = "sandbox_error"
    MODEL_ERROR = "model_error"
    UNGRADED = "ungraded"


INFRASTRUCTURE = frozenset({Verdict.CHECKER_ERROR, Verdict.SANDBOX_ERROR, Verdict.MODEL_ERROR})
UNKNOWN = INFRASTRUCTURE | {Verdict.UNGRADED}
"""Verdicts that say nothing of the solution."""
LIMITS = frozenset({Verdict.TIME_LIMIT, Verdict.MEMORY_LIMIT, Verdict.OUTPUT_LIMIT})


class Difference(Frozen):
    """First difference of an output from the expected one, with bounded excerpts."""

    where: str
    expected: str
    got: str


class TestResult(Frozen):
    """Result of one test of one solution.

    Attributes:
        index: position among the problem's tests, public ones first.
        cpu_s, wall_s: seconds, read from outside the judged process.
        peak_bytes: peak memory, where the test had a process of its own.
        got: head and tail of the output or of the result.
        error: end of the traceback or of the compiler's message.
        stdout: end of the standard output of a function; empty for a program.
        stderr: end of the standard error.
        judged_by: `test_code` where the test is code; `test_code_and_solution` where the test also
            called objects of the solution's own classes to decide; empty for a test that is data.
        points, share: points that the checker gave, or its share of the test's; None without.
    """

    __test__ = False
    index: int
    public: bool
    verdict: Verdict
    cpu_s: float
    wall_s: float
    peak_bytes: int | None = None
    difference: Difference | None = None
    got: str = ""
    error: str = ""
    stdout: str = ""
    stderr: str = ""
    judged_by: str = ""
    points: float | None = None
    share: float | None = None

    @model_serializer(mode="wrap")
    def _without_blanks(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out empty fields: a problem may have hundreds of tests."""
        values: dict[str, Any] = handler(self)
        return {key: value for key, value in values.items() if value not in (None, "")}

    @property
    def passed(self) -> bool:
        """Whether the test was accepted."""
        return self.verdict is Verdict.ACCEPTED


class Score(Frozen):
    """Points of a solution, and those of a full score."""

    points: float
    maximum: float

    @property
    def is_full(self) -> bool:
        """Whether nothing is missing but what rounding takes: of a point, and of many points."""
        rounding = max(ROUNDING * min(1.0, self.maximum), TINY * self.maximum)
        return self.points >= self.maximum - rounding

    @property
    def share(self) -> float:
        """The points as a share of a full score, from 0 to 1."""
        if self.is_full:
            return 1.0
        return min(max(self.points / self.maximum, 0.0), 1.0)

    def __str__(self) -> str:
        return f"{self.points:.12g} of {self.maximum:.12g} points"


class JudgedAgain(Frozen):
    """Counts of repeated runs; pairs are the numbers repeated and changed.

    Attributes:
        confirmed: failures in a batch, run again alone.
        rechecked: solutions that passed all tests, of which one test was run first in a process.
        retimed: time limits that the machine may have caused, run again.
        retried: sandbox failures after which a fresh sandbox took over.
        blamed: tests that crash every sandbox, which counts against the program.
    """

    confirmed: tuple[int, int] = (0, 0)
    rechecked: tuple[int, int] = (0, 0)
    retimed: tuple[int, int] = (0, 0)
    retried: int = 0
    blamed: int = 0

    def __add__(self, other: "JudgedAgain") -> "JudgedAgain":
        """Return the sums of both."""

        def both(one: Any, other: Any) -> Any:
            return tuple(map(sum, zip(one, other, strict=True)))

        pairs = {n: both(getattr(self, n), getattr(other, n)) for n in _PAIRS}
        retried, blamed = self.retried + other.retried, self.blamed + other.blamed
        return JudgedAgain(**pairs, retried=retried, blamed=blamed)


class Grade(Frozen):
    """Verdict of a solution with the results of its tests.

    A problem is solved when all its tests pass; one with points, when the score is full. Where the
    judge stopped at a failure, the rest are not run: they stay out of `tests` and count as not
    passed.

    Attributes:
        verdict: verdict of the first test that did not pass, else accepted.
        tests: results of the tests that were run, in order.
        public_total, hidden_total: numbers of the problem's tests.
        peak_bytes: peak memory of the solution, over all its tests.
        judged_again: counts of repeated runs.
        isolation: isolation level of the sandbox; empty where nothing was run.
        solved_by_rule: where a checker replaces the source's own rule, whether the solution is
            right by that rule; None elsewhere, and where the tests that were run do not tell.
        score: points of a solution to a problem that gives some; None elsewhere.
        accepted_by_grader: whether the grader of a problem that gives points accepts the solution,
            for whatever points; None elsewhere.
    """

    verdict: Verdict
    tests: tuple[TestResult, ...] = ()
    public_total: int = 0
    hidden_total: int = 0
    peak_bytes: int = 0
    judged_again: JudgedAgain = JudgedAgain()
    isolation: str = ""
    solved_by_rule: bool | None = None
    score: Score | None = None
    accepted_by_grader: bool | None = None

    @property
    def public_passed(self) -> int:
        """Number of public tests that passed."""
        return sum(test.passed for test in self.tests if test.public)

    @property
    def hidden_passed(self) -> int:
        """Number of hidden tests that passed."""
        return sum(test.passed for test in self.tests if not test.public)

    @property
    def fraction(self) -> float:
        """Share of the points, from 0 to 1; where there are none, share of all tests passed."""
        if self.score is not None:
            return self.score.share
        total = self.public_total + self.hidden_total
        return (self.public_passed + self.hidden_passed) / total if total else 0.0

    @property
    def checker_error(self) -> str:
        """Error of the checker, where that is the verdict."""
        if self.verdict is not Verdict.CHECKER_ERROR:
            return ""
        errors = (test.error for test in self.tests if test.verdict is Verdict.CHECKER_ERROR)
        return next(errors, "")

    @property
    def solved(self) -> bool:
        """Whether every test passed, or the score is full."""
        return self.verdict is Verdict.ACCEPTED


def stored_grade(grade: Grade) -> bytes:
    """Return a grade as JSON, without defaults and repetitions."""
    tests = [*_stored(grade.tests)]
    left_out = defaults(Grade)
    if tests and "index" not in tests[0]:
        left_out = {**left_out, **_sums([vars(test) for test in grade.tests])}
    values = _without(vars(grade), left_out)
    if tests:
        values["tests"] = tests
    if "judged_again" in values:
        again = grade.judged_again
        values["judged_again"] = _without(vars(again), defaults(type(again)))
    return to_json(values)


def whole_grade(stored: Any) -> Any:
    """Return a stored grade with what `stored_grade` left out, ready to be validated.

    Raises:
        ValueError: a test cannot be completed.
    """
    if not isinstance(stored, dict):
        return stored
    values = cast("dict[str, Any]", stored)
    if not values.get("tests"):
        return values
    try:
        tests = [*_whole(values["tests"])]
        if "index" in values["tests"][0]:
            return {**values, "tests": tests}
        return {**_sums(tests), **values, "tests": tests}
    except (TypeError, LookupError) as error:
        raise ValueError(f"its tests: {error}") from error


def _stored(tests: Sequence[TestResult]) -> Iterator[dict[str, Any]]:
    before = BEFORE_FIRST
    for test in tests:
        now = vars(test)
        if now["index"] == before["index"] + 1:
            known = {**before, "index": now["index"]}
            yield {k: v for k, v in now.items() if k in MEASURED or v != known[k]}
        else:
            yield _without(now, defaults(TestResult))
        before = now


def _whole(tests: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    before = BEFORE_FIRST
    for test in tests:
        before = test if "index" in test else {**before, "index": before["index"] + 1, **test}
        yield before


def _sums(tests: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return what a grade says of its tests, if all were run, and its peak is that of one."""
    public = sum(test["public"] for test in tests)
    return {
        "public_total": public,
        "hidden_total": len(tests) - public,
        "peak_bytes": max(test.get("peak_bytes") or 0 for test in tests),
    }


def _without(values: Mapping[str, Any], left_out: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value != left_out[key]}


@lru_cache
def defaults(kind: type[BaseModel]) -> dict[str, Any]:
    """Return the default of each field; `PydanticUndefined` for a required one."""
    return {name: field.default for name, field in kind.model_fields.items()}


BEFORE_FIRST: Mapping[str, Any] = {
    **defaults(TestResult),
    "index": -1,
    "public": True,
    "verdict": Verdict.ACCEPTED,
}
