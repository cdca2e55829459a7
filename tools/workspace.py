"""The workspace of one sample: the problem as the model sees it, and revisions."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from harness.grading.verdict import Grade, Verdict
from harness.problem import ProblemView
from harness.sandbox.program import Execution
from harness.tools.reports import report


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


@dataclass(slots=True)
class Workspace:
    """The state that tools work on.

    Attributes:
        problem: the problem without hidden tests.
        run_public_tests: runs a solution on the public tests; raises SandboxError.
        run_code: runs a program with some stdin; None if not available.
        cpu_limit_s: CPU seconds of one test.
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
    recorded: Report | None = None
    submitted: bool = False
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
        words = report(grade, tests)
        return Report(grade.verdict, grade.public_passed, len(tests), words)
