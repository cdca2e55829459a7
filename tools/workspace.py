"""One sample's working place: the problem as the model sees it, and what was written so far."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from harness.grading.verdict import Grade, Verdict
from harness.problem import ProblemView
from harness.sandbox.program import Execution
from harness.tools.reports import report


@dataclass(frozen=True, slots=True)
class Report:
    """How a revision did on the public tests.

    Attributes:
        verdict: of them all.
        passed, total: how many passed, of how many.
        text: the same in words, for the model.
    """

    verdict: Verdict
    passed: int
    total: int
    text: str = ""

    @property
    def solved(self) -> bool:
        """Whether all passed."""
        return self.verdict is Verdict.ACCEPTED


@dataclass(slots=True)
class Revision:
    """A solution that was written, and the latest report on it."""

    code: str
    report: Report | None = None

    @property
    def passed(self) -> bool:
        """Whether it was run and passed every public test."""
        return self.report is not None and self.report.solved


@dataclass(slots=True)
class Workspace:
    """What tools work on.

    Attributes:
        problem: without hidden tests.
        run_public_tests: judges a solution on the public tests; raises SandboxError.
        run_code: runs a program on a stdin; None where that is not to be had.
        cpu_limit_s: CPU seconds that one test may take.
        revisions: oldest first.
        recorded: a report that stands for the next run of the tests, where a conversation is
            taken up again and that run is in its transcript.
        submitted: whether the model said that the newest revision is its last.
        queued_s: seconds that tests and programs have waited for a sandbox worker.
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
        """Tests or a program waited so long for a sandbox worker."""
        self.queued_s += seconds

    @property
    def latest(self) -> Revision | None:
        """The newest solution, if there is one."""
        return self.revisions[-1] if self.revisions else None

    @property
    def best(self) -> Revision | None:
        """The newest solution that passed the public tests, else the newest."""
        passed = [revision for revision in self.revisions if revision.passed]
        return passed[-1] if passed else self.latest

    async def test(self) -> Report:
        """The report on the newest revision, which is run once.

        Raises:
            SandboxError: it could not be run.
            ValueError: nothing was written yet.
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
