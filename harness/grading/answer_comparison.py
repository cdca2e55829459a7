"""Comparison of answers with expected outputs: by a checker, or by a rule."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, Self

from harness.grading.rules import RuleError, find_rule
from harness.grading.sandbox_retry import RetryingWorker
from harness.grading.verdict import Difference
from harness.judged_by import Checker
from harness.problem import TestCase
from harness.sandbox.program import Program


class CheckerError(Exception):
    """The checker itself failed, which does not count against the solution."""


class OwnScore(NamedTuple):
    """Points that a checker gave an accepted answer, or its share of the test's points."""

    points: float | None = None
    share: float | None = None


class CheckedProgram(NamedTuple):
    """Program as a checker wants it run, and the input of each test."""

    program: Program
    inputs: Sequence[str | bytes]


AnswerOutcome = Difference | CheckerError | OwnScore | None
"""Result of comparing an answer: None where it is right, or the points that the checker gave it."""


AnswerRule = Callable[[str, bytes], Difference | None]


class AnswerCheck(Protocol):
    """A checker of one solution (`harness.registry.ANSWER_CHECKS`)."""

    @classmethod
    def of(cls, bench: RetryingWorker, checker: Checker, *, functional: bool) -> Self:
        """Return a checker that runs in its own processes.

        Args:
            bench: worker that runs the solution.
            checker: the problem's checker.
            functional: whether answers are values, not texts.
        """
        ...

    @property
    def beside_rule(self) -> bool:
        """Whether the verdict by the source's own rule is recorded beside the checker's."""
        ...

    def prepare(self, program: Program, tests: Sequence[TestCase]) -> CheckedProgram:
        """Return the program and inputs, which the checker may change.

        Raises:
            CheckerError: it cannot make the arguments of a test.
            SandboxError: the sandbox failed.
        """
        ...

    def compare(self, pairs: Sequence[tuple[TestCase, str]]) -> Sequence[AnswerOutcome]:
        """Compare answers."""
        ...

    def text_of(self, answer: bytes, test: TestCase) -> str:
        """Return an answer as text."""
        ...

    def shown(self, answer: str) -> str:
        """Return the part of an answer to show to a person."""
        ...

    def close(self) -> None:
        """End its processes."""
        ...


class AnswerComparison:
    """Compares answers by a checker, or by a rule where there is none.

    Args:
        rule: name of a rule, see `harness.grading.rules.find_rule`.
        functional: whether the solution is a function.
        check: checker that replaces the rule.
    """

    def __init__(self, rule: str, *, functional: bool, check: AnswerCheck | None = None) -> None:
        self._name = rule
        self._functional = functional
        self._check = check
        self._by_rule: dict[int, bool] = {}

    def compare(self, pairs: list[tuple[TestCase, bytes]]) -> Sequence[AnswerOutcome]:
        """Compare the answer of each test."""
        check = self._check
        if check is not None:
            return check.compare([(test, check.text_of(text, test)) for test, text in pairs])
        rule = self._rule()
        return [_outcome(rule, test, answer) for test, answer in pairs]

    def close(self) -> None:
        """End the checker's processes."""
        if self._check is not None:
            self._check.close()

    @property
    def readable(self) -> Callable[[str], str]:
        """Function that extracts the part of an answer to show to a person."""
        return str if self._check is None else self._check.shown

    def note(self, index: int, test: TestCase, answer: bytes | None) -> None:
        """Record whether an answer is right by the source's own rule, if the checker wants that."""
        if self._check is not None and self._check.beside_rule:
            right = answer is not None and _outcome(self._rule(), test, answer) is None
            self._by_rule[index] = right

    def solved_by_rule(self, number: int) -> bool | None:
        """Return whether the answers to `number` tests are right by the source's own rule.

        None where that is not recorded, or where a test is missing and no other is wrong.
        """
        if not self._by_rule:
            return None
        right = all(self._by_rule.values())
        return None if right and len(self._by_rule) < number else right

    def _rule(self) -> AnswerRule:
        rule = find_rule(self._name)
        return rule.compare_value if self._functional else rule.compare_output


def _outcome(compare: AnswerRule, test: TestCase, answer: bytes) -> AnswerOutcome:
    try:
        return compare(test.output, answer)
    except RuleError as error:
        return CheckerError(str(error))
