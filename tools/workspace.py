"""The workspace of one sample: the problem as the model sees it, and revisions."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from harness.excerpts import shorten
from harness.grading.verdict import Grade, TestResult, Verdict
from harness.languages import PYTHON
from harness.problem import Judge, ProblemView, TestCase, shows_output
from harness.sandbox.execution import Execution

LONGEST_INPUT = 800
LONGEST_OUTPUT = 800
LONGEST_ERROR = 1_200
LONGEST_REPORT = 8_000
DETAILED = 3
GIVEN, DIALOGUE = "Given to the judge", "Dialogue (> is your program, < the judge)"
JUDGE_SAYS, CHECKER_SAYS = "The judge says: ", "The checker says: "


def report(grade: Grade, tests: tuple[TestCase, ...], judge: Judge = "rule") -> str:
    """Return a report: the first failures in detail, then every other verdict.

    Args:
        grade: the grade on public tests.
        tests: these tests.
        judge: what judges answers.
    """
    passed, total = grade.public_passed, len(tests)
    if grade.solved:
        slowest = max(test.cpu_s for test in grade.tests)
        return f"All {total} public tests passed (slowest: {slowest:.2f} s of CPU time)."
    if grade.verdict is Verdict.COMPILE_ERROR:
        error = shorten(grade.tests[0].error.strip(), LONGEST_ERROR)
        return f"The solution does not compile; no test was run.\n\n{error}"
    failed = [test for test in grade.tests if not test.passed]
    parts = [f"{passed} of {total} public tests passed."]
    if grade.score is not None:
        parts.append(f"They give {grade.score}; a solution needs all of them.")
    shown: dict[str, int] = {}
    parts += [_failure(test, tests[test.index], judge, shown) for test in failed[:DETAILED]]
    parts += [f"Test {test.index + 1}: {_title(test)}." for test in failed[DETAILED:]]
    if passed:
        numbers = ", ".join(str(test.index + 1) for test in grade.tests if test.passed)
        parts.append(f"Passed: test{'s' * (passed != 1)} {numbers}.")
    if len(grade.tests) < total:
        parts.append(_not_run(len(grade.tests) + 1, total))
    return shorten("\n\n".join(parts), LONGEST_REPORT)


def _not_run(first: int, last: int) -> str:
    if first == last:
        return f"Test {last} was not run after that."
    return f"Tests {first} to {last} were not run after that."


def _title(result: TestResult) -> str:
    name = result.verdict.value.replace("_", " ")
    name = f"{name} exceeded" if name.endswith("limit") else name
    return f"{name} after {result.cpu_s:.2f} s of CPU time"


def _failure(result: TestResult, test: TestCase, judge: Judge, shown: dict[str, int]) -> str:
    """Describe one failure.

    Args:
        result: result of the test.
        test: the test.
        judge: what judges answers.
        shown: errors and outputs already in the report, with the number of their test.
    """
    talks = judge == "dialogue"
    parts = [f"Test {result.index + 1}: {_title(result)}."]
    parts.append(_block(GIVEN if talks else "Input", test.input, LONGEST_INPUT))
    if compared := shows_output(judge, test):
        parts.append(_block("Expected", test.output, LONGEST_OUTPUT))
    if result.verdict is Verdict.WRONG_ANSWER or result.got:
        parts.append(_block(DIALOGUE if talks else "Got", result.got, LONGEST_OUTPUT))
    if result.difference is not None:
        where = result.difference.where.lstrip(": ") or "the value"
        values = f"expected {result.difference.expected!r}, got {result.difference.got!r}"
        says = f"{JUDGE_SAYS if talks else CHECKER_SAYS}{where}"
        parts.append(f"First difference, {where}: {values}" if compared else says)
    fault = result.verdict is Verdict.CHECKER_ERROR  # its words are not for the model
    for name, text in (
        ("Error", "the problem's checker is at fault" if fault else result.error),
        ("Printed to stdout", result.stdout),
        ("Printed to stderr", result.stderr),
    ):
        if text.strip() and text in shown:
            parts.append(f"{name}: the same as for test {shown[text]}.")
        elif text.strip():
            shown[text] = result.index + 1
            parts.append(_block(name, _tail(text), LONGEST_ERROR))
    return "\n".join(parts)


def _block(name: str, text: str, most: int) -> str:
    text = shorten(text.strip("\n"), most)
    return f"{name}:\n{text}" if text else f"{name}: (nothing)"


def _tail(text: str) -> str:
    """Return the last lines, which hold the error in a traceback."""
    return text if len(text) <= LONGEST_ERROR else "…" + text[-LONGEST_ERROR + 1 :]


@dataclass(frozen=True, slots=True)
class Report:
    """A revision's result on the public tests.

    Attributes:
        verdict: the overall verdict.
        passed, total: number of tests passed, and of all tests.
        text: the report for the model.
    """

    verdict: Verdict
    passed: int
    total: int
    text: str = ""

    @property
    def solved(self) -> bool:
        """Whether all tests passed."""
        return self.verdict is Verdict.ACCEPTED


@dataclass(slots=True)
class Revision:
    """A written solution, and the latest report on it."""

    code: str
    report: Report | None = None

    @property
    def passed(self) -> bool:
        """Whether it was run and passed every public test."""
        return self.report is not None and self.report.solved


class WrittenResult(Protocol):
    """Result of a solution on tests that the model wrote."""

    @property
    def passed(self) -> tuple[bool, ...]: ...  # noqa: D102
    @property
    def report(self) -> str: ...  # noqa: D102


class TestRunner(Protocol):
    """Reads and runs tests that the model wrote."""

    __test__ = False

    def read(self, text: str) -> tuple[TestCase, ...]:
        """Return the usable tests of an answer."""
        ...

    async def run(self, code: str, tests: Sequence[TestCase]) -> WrittenResult:
        """Run a solution on such tests. Raises SandboxError."""
        ...


@dataclass(slots=True)
class Workspace:
    """The state that tools work on.

    Attributes:
        problem: the problem without hidden tests.
        run_public_tests: runs a solution on the public tests; raises SandboxError.
        run_code: runs a program with some stdin; None if not available.
        written_tests: reads and runs tests that the model wrote; None if not available.
        cpu_limit_s: CPU seconds of one test.
        language: name of the language of solutions.
        flags: the compiler's flags; empty for the usual ones.
        revisions: the revisions, oldest first.
        recorded: report to use for the next test run, when a conversation is resumed whose
            transcript contains that run.
        submitted: whether the model declared the newest revision final.
        queued_s: seconds that tests and programs waited for a sandbox worker.
    """

    problem: ProblemView
    run_public_tests: Callable[[str], Awaitable[Grade]]
    cpu_limit_s: float
    revisions: list[Revision] = field(default_factory=list[Revision])
    run_code: Callable[[str, str], Awaitable[Execution]] | None = None
    written_tests: TestRunner | None = None
    recorded: Report | None = None
    submitted: bool = False
    language: str = PYTHON
    flags: str = ""
    queued_s: float = 0.0

    def queued(self, seconds: float) -> None:
        """Add seconds that tests or a program waited for a sandbox worker."""
        self.queued_s += seconds

    @property
    def latest(self) -> Revision | None:
        """The newest solution, if any."""
        return self.revisions[-1] if self.revisions else None

    @property
    def best(self) -> Revision | None:
        """The newest solution that passed the public tests, else the newest."""
        passed = [revision for revision in self.revisions if revision.passed]
        return passed[-1] if passed else self.latest

    async def test(self) -> Report:
        """Return the report on the newest revision, running its tests at most once.

        Raises:
            SandboxError: the tests could not be run.
            ValueError: there is no revision yet.
        """
        revision = self.latest
        if revision is None:
            raise ValueError("there is no revision to test")
        if revision.report is None:
            revision.report = self.recorded or await self._run(revision.code)
        self.recorded = None
        return revision.report

    async def _run(self, code: str) -> Report:
        grade, tests = await self.run_public_tests(code), self.problem.public_tests
        words = report(grade, tests, self.problem.judge)
        return Report(grade.verdict, grade.public_passed, len(tests), words)
