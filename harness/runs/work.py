"""Pieces of work for an executor: each holds all it needs, and can be sent to another machine."""

from dataclasses import dataclass, replace

from harness.grading.judge import Task, judge
from harness.grading.verdict import Grade
from harness.problem import TestSuite
from harness.sandbox.executor import Shared
from harness.sandbox.limits import Limits
from harness.sandbox.program import Execution, Program
from harness.sandbox.worker import Worker


@dataclass(frozen=True, slots=True)
class Judgement:
    """Judges a solution on all tests of a suite, which are decoded where that is done.

    Attributes:
        task: what is judged; its own tests are none.
        suite: the tests.
    """

    task: Task
    suite: Shared[TestSuite]

    def __call__(self, worker: Worker) -> Grade:
        """Its grade. Raises SandboxError, or DataError where the tests cannot be decoded."""
        return judge(worker, replace(self.task, tests=self.suite.value.all()))


@dataclass(frozen=True, slots=True)
class Trial:
    """Runs a program once."""

    program: Program
    stdin: bytes
    limits: Limits

    def __call__(self, worker: Worker) -> Execution:
        """What came of it. Raises SandboxError."""
        return worker.run(self.program, [self.stdin], self.limits)[0]
