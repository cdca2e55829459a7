"""What the judge judges: a solution, its tests and the rules for them."""

from collections.abc import Sequence
from typing import NamedTuple

from harness.grading.stop import MANY_TESTS, Stop
from harness.grading.verdict import LIMITS, TestResult
from harness.judged_by import Checker
from harness.problem import TestCase
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.scoring import Scoring


class Task(NamedTuple):
    """Solution to judge, with its tests.

    Attributes:
        tests: tests, public ones first.
        rule: name of a rule, see `harness.grading.rules.find_rule`.
        checker: checker that replaces the rule.
        isolate: whether every test gets its own process, instead of one for all.
        stop: when to stop.
        exit_code_counts: whether a script that ends with an exit code other than 0 has failed.
        scoring: how the tests give points; None where all must pass.
    """

    program: Program
    tests: Sequence[TestCase]
    limits: Limits
    rule: str = "lcb"
    checker: Checker | None = None
    isolate: bool = False
    stop: Stop = Stop.AUTO
    exit_code_counts: bool = False
    scoring: Scoring | None = None

    def without_points(self) -> "Task":
        """Return the task with a checker for which only whole answers are right."""
        checker = None if self.checker is None else self.checker.without_points()
        return self._replace(checker=checker, scoring=None)

    def ends_at(self, result: TestResult) -> bool:
        """Return whether judging stops after this result."""
        match self.stop:
            case _ if result.passed:
                return False
            case Stop.NEVER | Stop.LATE:  # the judge counts time limits
                return False
            case Stop.AUTO if len(self.tests) <= MANY_TESTS:
                return result.verdict in LIMITS
            case _:
                return True
