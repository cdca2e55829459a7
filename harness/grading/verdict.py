"""Verdicts and results of tests, and grades of solutions."""

from enum import StrEnum
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    SerializerFunctionWrapHandler,
    model_serializer,
)


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
LIMITS = frozenset({Verdict.TIME_LIMIT, Verdict.MEMORY_LIMIT, Verdict.OUTPUT_LIMIT})


class Difference(BaseModel):
    """First difference of an output from the expected one, with bounded excerpts."""

    model_config = ConfigDict(frozen=True)

    where: str
    expected: str
    got: str


class TestResult(BaseModel):
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
    """

    __test__ = False
    model_config = ConfigDict(frozen=True)

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

    @model_serializer(mode="wrap")
    def _without_blanks(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out empty fields: a problem may have hundreds of tests."""
        values: dict[str, Any] = handler(self)
        return {key: value for key, value in values.items() if value not in (None, "")}

    @property
    def passed(self) -> bool:
        """Whether the test was accepted."""
        return self.verdict is Verdict.ACCEPTED


class JudgedAgain(BaseModel):
    """Counts of repeated runs; pairs are the numbers repeated and changed.

    Attributes:
        confirmed: failures in a batch, run again alone.
        rechecked: solutions that passed all tests, of which one test was run first in a process.
        retimed: time limits that the machine may have caused, run again.
        retried: sandbox failures after which a fresh sandbox took over.
        blamed: tests that crash every sandbox, which counts against the program.
    """

    model_config = ConfigDict(frozen=True)

    confirmed: tuple[int, int] = (0, 0)
    rechecked: tuple[int, int] = (0, 0)
    retimed: tuple[int, int] = (0, 0)
    retried: int = 0
    blamed: int = 0

    def __add__(self, other: "JudgedAgain") -> "JudgedAgain":
        """Return the sums of both."""
        return JudgedAgain(
            confirmed=_both(self.confirmed, other.confirmed),
            rechecked=_both(self.rechecked, other.rechecked),
            retimed=_both(self.retimed, other.retimed),
            retried=self.retried + other.retried,
            blamed=self.blamed + other.blamed,
        )


def _both(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]


class Grade(BaseModel):
    """Verdict of a solution with the results of its tests.

    A problem is solved when all its tests pass. Where the judge stopped at a failure, the rest are
    not run: they stay out of `tests` and count as not passed.

    Attributes:
        verdict: verdict of the first test that did not pass, else accepted.
        tests: results of the tests that were run, in order.
        public_total, hidden_total: numbers of the problem's tests.
        peak_bytes: peak memory of the solution, over all its tests.
        judged_again: counts of repeated runs.
        isolation: isolation level of the sandbox; empty where nothing was run.
        solved_by_rule: where a checker replaces the source's own rule, whether the solution is
            right by that rule; None elsewhere, and where the tests that were run do not tell.
    """

    model_config = ConfigDict(frozen=True)

    verdict: Verdict
    tests: tuple[TestResult, ...] = ()
    public_total: int = 0
    hidden_total: int = 0
    peak_bytes: int = 0
    judged_again: JudgedAgain = JudgedAgain()
    isolation: str = ""
    solved_by_rule: bool | None = None

    @property
    def public_passed(self) -> int:
        """Number of public tests that passed."""
        return sum(test.passed for test in self.tests if test.public)

    @property
    def hidden_passed(self) -> int:
        """Number of hidden tests that passed."""
        return sum(test.passed for test in self.tests if not test.public)

    @property
    def checker_error(self) -> str:
        """Error of the checker, where that is the verdict."""
        if self.verdict is not Verdict.CHECKER_ERROR:
            return ""
        errors = (test.error for test in self.tests if test.verdict is Verdict.CHECKER_ERROR)
        return next(errors, "")

    @property
    def solved(self) -> bool:
        """Whether every test passed."""
        return self.verdict is Verdict.ACCEPTED
