"""Tests that solutions are timed on: their inputs, and the check of the answers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.grading.checkers import Check, CheckerError
from harness.grading.judge import Task
from harness.grading.rules import find_rule
from harness.grading.sandbox_retry import RetryingWorker
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker

NUL = b"\0"

Answers = tuple[bytes, ...]
"""One answer per test: printed output, or a function's result in the sandbox's notation."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Tests of a problem, with the checker's changes to program and inputs applied.

    Attributes:
        inputs: input of each test.
        program: program in the form in which solutions are run.
    """

    task: Task
    check: Check | None
    program: Program
    inputs: Sequence[bytes]

    @classmethod
    def of(cls, worker: Worker, task: Task) -> "Expected":
        """Prepare the tests of a task whose program is one of the solutions.

        Raises:
            CheckerError: the checker cannot make the inputs, or the tests are code.
            SandboxError: the sandbox failed.
        """
        if task.checker is None:
            inputs = [test.input.encode("utf-8", "surrogatepass") for test in task.tests]
            return cls(task, None, task.program, inputs)
        if task.checker.tests is not None:
            raise CheckerError("tests that are code are not timed")
        functional = task.program.entry_point is not None
        check = Check.of(RetryingWorker(worker), task.checker, functional=functional)
        program, inputs = check.prepare(task.program, task.tests)
        return cls(task, check, program, inputs)

    @property
    def apart(self) -> bool:
        """Whether a script's tests cannot be given together: a NUL separates their inputs."""
        outputs = (test.output for test in self.task.tests)
        has_nul = any(NUL in each for each in self.inputs) or any("\0" in each for each in outputs)
        return self.program.entry_point is None and has_nul

    def solution(self, code: str) -> Program:
        """Return the program that runs a solution's code."""
        return replace(self.program, code=code)

    def accepts(self, indexes: Sequence[int], answers: Answers) -> bool:
        """Return whether the answers to some tests are right.

        Raises:
            SandboxError: the checker's sandbox failed.
        """
        if len(indexes) != len(answers):
            return False
        tests = [self.task.tests[index] for index in indexes]
        pairs = zip(tests, answers, strict=True)
        if self.check is not None:
            check = self.check
            found = check.compare([(test, check.text_of(answer, test)) for test, answer in pairs])
            return all(each is None or isinstance(each, CheckerError) for each in found)
        rule = find_rule(self.task.rule)
        functional = self.program.entry_point is not None
        compare = rule.compare_value if functional else rule.compare_output
        return all(compare(test.output, answer) is None for test, answer in pairs)
