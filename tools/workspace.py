"""The workspace of one sample: the problem as the model sees it, and revisions."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from harness.excerpts import shorten
from harness.grading.verdict import LIMITS, Grade, TestResult, Verdict
from harness.languages import PYTHON, known
from harness.problem import ProblemView, TestCase, shows_output
from harness.sandbox.execution import Execution
from harness.tools import REPORT_TESTS
from harness.tools.revision import Report, Revision, Spent

LONGEST_INPUT = 800
LONGEST_OUTPUT = 800
LONGEST_ERROR = 1_200
LONGEST_REPORT = 8_000
_MEBIBYTE = 1 << 20


class Texts(Protocol):
    """Renders the texts that a model is sent, as `harness.agent.templates.prompt_set` does."""

    def render_part(self, part: str, **values: Any) -> str:
        """Return a text. Raises UsageError if its template fails."""
        ...


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
        texts: what the model is told.
        run_public_tests: runs a solution on the public tests; raises SandboxError.
        run_code: runs a program with some stdin; None if not available.
        written_tests: reads and runs tests that the model wrote; None if not available.
        cpu_limit_s: CPU seconds of one test.
        memory_bytes: memory of one test; None if it is not limited.
        language: name of the language of solutions.
        flags: the compiler's flags; empty for the usual ones.
        report_tests: failing tests that a report shows in full.
        revisions: the revisions, oldest first.
        recorded: report to use for the next test run, when a conversation is resumed whose
            transcript contains that run.
        submitted: whether the model declared its work done.
        replaced: the revision that is final whatever the others passed; None for none.
        queued_s: seconds that tests and programs waited for a sandbox worker.
        spent: says what the sample has used so far; its newest conversation sets it.
    """

    problem: ProblemView
    texts: Texts
    run_public_tests: Callable[[str], Awaitable[Grade]]
    cpu_limit_s: float
    memory_bytes: int | None = None
    revisions: list[Revision] = field(default_factory=list[Revision])
    run_code: Callable[[str, str], Awaitable[Execution]] | None = None
    written_tests: TestRunner | None = None
    recorded: Report | None = None
    submitted: bool = False
    replaced: Revision | None = None
    language: str = PYTHON
    flags: str = ""
    report_tests: int = REPORT_TESTS
    queued_s: float = 0.0
    spent: Callable[[], Spent] = Spent

    def say(self, event: str, **values: Any) -> str:
        """Return the result of a tool call, in the words of the prompt set."""
        return self.texts.render_part("result", event=event, **values)

    def empty_function(self, code: str) -> str:
        """Return the name of the function that is called, if code has no body for it yet."""
        name = self.problem.entry_point or ""
        return name if name and known.language(self.language).lacks_body(code, name) else ""

    def queued(self, seconds: float) -> None:
        """Add seconds that tests or a program waited for a sandbox worker."""
        self.queued_s += seconds

    def write(self, code: str, report: Report | None = None) -> None:
        """Add a revision, with the report on its public tests if it is known."""
        self.revisions.append(Revision.of(code, self.spent(), report=report))

    @property
    def latest(self) -> Revision | None:
        """The newest solution, if any."""
        return self.revisions[-1] if self.revisions else None

    @property
    def best(self) -> Revision | None:
        """The solution that passes most public tests, of equals the earliest; untested, the newest.

        One that did better in a check of the model's own takes its place.
        """
        if self.replaced is not None:
            return self.replaced
        tested = [each for each in self.revisions if each.report is not None]
        return max(tested, key=_public_passed) if tested else self.latest

    @property
    def memory(self) -> str:
        """The memory limit of a test in words; empty without one."""
        if self.memory_bytes is None:
            return ""
        mebibytes = self.memory_bytes / _MEBIBYTE
        return f"{mebibytes / 1024:g} GiB" if mebibytes % 1024 == 0 else f"{mebibytes:g} MiB"

    async def test(self, revision: Revision | None = None) -> Report:
        """Return the report on a revision, by default the newest; its tests run at most once.

        Raises:
            SandboxError: the tests could not be run.
            ValueError: there is no revision yet.
        """
        revision = revision or self.latest
        if revision is None:
            raise ValueError("there is no revision to test")
        report = revision.report
        if report is None:
            report = self.recorded or await self._run(revision.code)
            tested = revision.model_copy(update={"report": report})
            self.revisions[:] = [tested if each is revision else each for each in self.revisions]
        self.recorded = None
        return report

    async def _run(self, code: str) -> Report:
        grade = await self.run_public_tests(code)
        return Report(
            grade.verdict, grade.public_passed, len(self.problem.public_tests), self._report(grade)
        )

    def _report(self, grade: Grade) -> str:
        """Return the report on the public tests: the first failures in full, the others named.

        Fewer are shown in full where that is too long.
        """
        shown = min(self.report_tests, len(grade.tests))
        while len(text := self._told(grade, shown)) > LONGEST_REPORT and shown > 1:
            shown //= 2
        return shorten(text, LONGEST_REPORT)

    def _told(self, grade: Grade, shown: int) -> str:
        problem, total = self.problem, len(self.problem.public_tests)
        failed = [test for test in grade.tests if not test.passed]
        ran = len(grade.tests)
        compiled = grade.verdict is not Verdict.COMPILE_ERROR
        return self.texts.render_part(
            "report",
            problem=problem,
            verdict=grade.verdict.value,
            passed=grade.public_passed,
            total=total,
            score=grade.score,
            error="" if compiled else shorten(grade.tests[0].error.strip(), LONGEST_ERROR),
            full=[self._failure(each) for each in failed[:shown]],
            others=[{"number": each.index + 1, "words": _words(each)} for each in failed[shown:]],
            passed_numbers=[test.index + 1 for test in grade.tests if test.passed],
            not_run=list(range(ran + 1, total + 1)) if compiled else [],
            talks=problem.judge == "dialogue",
            cpu_limit_s=self.cpu_limit_s,
            memory=self.memory,
        )

    def _failure(self, result: TestResult) -> dict[str, Any]:
        """Return what a report says of one failed test."""
        test = self.problem.public_tests[result.index]
        call = _call(self.problem.entry_point, test.input)
        ours = result.verdict is Verdict.CHECKER_ERROR  # its words may give answers away
        return {
            "number": result.index + 1,
            "words": _words(result),
            "verdict": result.verdict.value,
            "seconds": f"{result.cpu_s:.2f}" if result.verdict is Verdict.TIME_LIMIT else None,
            "input": shorten((call or test.input).strip("\n"), LONGEST_INPUT),
            "is_call": bool(call),
            "shows_output": shows_output(self.problem.judge, test),
            "expected": shorten(test.output.strip("\n"), LONGEST_OUTPUT),
            "got": shorten(result.got.strip("\n"), LONGEST_OUTPUT),
            "difference": result.difference
            and {
                "where": result.difference.where.lstrip(": "),
                "expected": result.difference.expected,
                "got": result.difference.got,
            },
            "error": "" if ours else _tail(result.error),
            "stdout": _tail(result.stdout),
            "stderr": _tail(result.stderr),
        }


def _public_passed(revision: Revision) -> int:
    return revision.report.passed if revision.report is not None else -1


def _words(result: TestResult) -> str:
    name = result.verdict.value.replace("_", " ")
    return f"{name} exceeded" if result.verdict in LIMITS else name


def _call(function: str | None, given: str) -> str:
    """Return a test's input as a call of the function; empty for a program, or other input."""
    if function is None:
        return ""
    try:
        arguments = [json.loads(line) for line in given.strip("\n").split("\n")]
    except (ValueError, RecursionError):
        return ""
    return f"{function}({', '.join(map(repr, arguments))})"


def _tail(text: str) -> str:
    """Return the last lines, which hold the error in a traceback."""
    text = text.strip("\n") if text.strip() else ""
    return text if len(text) <= LONGEST_ERROR else "…" + text[-LONGEST_ERROR + 1 :]
