"""The outcome of one test: how it ended, and how its answer compares with the expected one."""

import json
from collections.abc import Callable, Sequence
from typing import Protocol

from harness.excerpts import shorten, shorten_bytes
from harness.grading.checkers import CheckerError, OwnScore
from harness.grading.rules import RuleError, find_rule
from harness.grading.rules.json_values import describe_value
from harness.grading.verdict import Difference, TestResult, Verdict
from harness.problem import TestCase
from harness.sandbox.program import Ending, Execution
from harness.text import writable

EXCERPT = 1_500
LONGEST_READABLE = 4 << 20
"""Largest result in bytes that is decoded for display."""

_VERDICT_OF = {
    **dict.fromkeys((Ending.ERROR, Ending.EXIT, Ending.SIGNAL), Verdict.RUNTIME_ERROR),
    **dict.fromkeys((Ending.CPU_LIMIT, Ending.WALL_LIMIT), Verdict.TIME_LIMIT),
    Ending.MEMORY_LIMIT: Verdict.MEMORY_LIMIT,
    Ending.OUTPUT_LIMIT: Verdict.OUTPUT_LIMIT,
    Ending.CANNOT_COMPILE: Verdict.COMPILE_ERROR,
    Ending.SANDBOX_LOST: Verdict.RUNTIME_ERROR,
}


def answer_of(
    execution: Execution, *, functional: bool, exit_code_counts: bool = False
) -> bytes | None:
    """Return the answer to compare with the expected output; None where there is none.

    A program that raises SystemExit has finished, whatever its exit code, and its output counts;
    the graders of LiveCodeBench and APPS do the same. A process that ends otherwise with an exit
    code (`os._exit`) has crashed.

    Args:
        execution: execution of a test.
        functional: whether the answer is a value.
        exit_code_counts: whether SystemExit with a code other than 0 is a crash, too, as in the
            judges of contests.
    """
    exited = execution.ending is Ending.EXIT and not functional and not execution.error
    exited = exited and not exit_code_counts
    if execution.ending is not Ending.FINISHED and not exited:
        return None
    return execution.result if functional else execution.stdout


def outcome(
    execution: Execution,
    *,
    test: TestCase,
    index: int,
    functional: bool,
    answer: bytes | None,
    readable: Callable[[str], str] = str,
    difference: Difference | None = None,
    checker_error: str = "",
    own_score: OwnScore | None = None,
) -> TestResult:
    """Return the result of a test.

    Args:
        execution: execution of the test.
        test: the test.
        index: its position among the problem's tests.
        functional: whether the answer is a value.
        answer: result of `answer_of`, shown if the answer was wrong.
        readable: function that extracts the part of a value to show to a person.
        difference: where the answer is wrong; None when it is right, or was not compared.
        checker_error: reason why it could not be compared.
        own_score: points that the checker gave.
    """
    verdict, error = _VERDICT_OF.get(execution.ending), execution.error or _ended(execution)
    if checker_error:
        verdict, error = Verdict.CHECKER_ERROR, checker_error
    elif answer is not None and difference is None:
        verdict, error = Verdict.ACCEPTED, ""
    elif verdict is None and answer is None:
        verdict, error = Verdict.RUNTIME_ERROR, "the process ended before the function returned"
    elif verdict is None:
        verdict = Verdict.WRONG_ANSWER
    shown: dict[str, str] = {}
    if verdict is not Verdict.ACCEPTED:
        stdout = writable(shorten_bytes(execution.stdout, EXCERPT, "surrogateescape"))
        shown = {
            "got": _value(answer, readable) if functional and answer is not None else stdout,
            "stdout": stdout if functional else "",
            "stderr": clean(execution.stderr),
        }
    return TestResult(
        index=index,
        public=test.public,
        verdict=verdict,
        cpu_s=round(execution.cpu_s, 6),
        wall_s=round(execution.wall_s, 6),
        peak_bytes=execution.peak_bytes if execution.alone else None,
        difference=difference,
        error=clean(error),
        points=None if own_score is None else own_score.points,
        share=None if own_score is None else own_score.share,
        **shown,
    )


def _value(answer: bytes, readable: Callable[[str], str]) -> str:
    """Return an excerpt of a result, much as Python writes it."""
    if len(answer) > LONGEST_READABLE:
        return writable(shorten_bytes(answer, EXCERPT, "replace"))
    result = readable(answer.decode("utf-8", "replace"))
    if len(result) > 100 * EXCERPT:
        return clean(result)
    try:
        return clean(describe_value(json.loads(result)))
    except (ValueError, RecursionError, TypeError):
        return clean(result)


def _ended(execution: Execution) -> str:
    match execution.ending:
        case Ending.EXIT:
            return f"exit code {execution.code}"
        case Ending.SIGNAL:
            return f"killed by signal {execution.code}"
        case Ending.WALL_LIMIT:
            return (
                f"the limit of wall time was reached after {execution.wall_s:.1f} s, of which the "
                f"program ran for {execution.cpu_s:.2f} s"
            )
        case _:
            return ""


def clean(text: str) -> str:
    """Return a bounded excerpt that can be written as UTF-8."""
    return writable(shorten(text, EXCERPT))


Said = Difference | CheckerError | OwnScore | None
"""Result of comparing an answer: None where it is right, or the points that the checker gave it."""
AnswerRule = Callable[[str, bytes], Difference | None]


class AnswerCheck(Protocol):
    """A checker of one solution: `harness.grading.checkers`, or `checker_program` beside it."""

    @property
    def beside_rule(self) -> bool:
        """Whether the verdict by the source's own rule is recorded beside the checker's."""
        ...

    def compare(self, pairs: Sequence[tuple[TestCase, str]]) -> Sequence[Said]:
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


class Comparison:
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

    def compare(self, pairs: list[tuple[TestCase, bytes]]) -> Sequence[Said]:
        """Compare the answer of each test."""
        check = self._check
        if check is not None:
            return check.compare([(test, check.text_of(said, test)) for test, said in pairs])
        rule = self._rule()
        return [_said(rule, test, answer) for test, answer in pairs]

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
            right = answer is not None and _said(self._rule(), test, answer) is None
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


def _said(compare: AnswerRule, test: TestCase, answer: bytes) -> Said:
    try:
        return compare(test.output, answer)
    except RuleError as error:
        return CheckerError(str(error))
