"""One sample's working place: the problem as the model sees it, and what was written so far."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from harness.grading.verdict import Grade
from harness.problem import ProblemView


@dataclass(slots=True)
class Revision:
    """A solution that was written, and its latest report on the public tests."""

    code: str
    report: Grade | None = None

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
        cpu_limit_s: CPU seconds that one test may take.
        revisions: oldest first.
    """

    problem: ProblemView
    run_public_tests: Callable[[str], Awaitable[Grade]]
    cpu_limit_s: float
    revisions: list[Revision] = field(default_factory=list[Revision])

    @property
    def latest(self) -> Revision | None:
        """The newest solution, if there is one."""
        return self.revisions[-1] if self.revisions else None

    @property
    def best(self) -> Revision | None:
        """The newest solution that passed the public tests, else the newest."""
        passed = [revision for revision in self.revisions if revision.passed]
        return passed[-1] if passed else self.latest
