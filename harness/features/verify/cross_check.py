"""Check whether a problem's references agree on inputs that are in no test.

The first reference's result for an input becomes the expected output, and the others are judged by
it like solutions: by the problem's hooks if it has any (a linked list may be right in several
ways), else by its rule. If they differ, one of them is wrong, and no test of the data set tells
which.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.features.verify.generated_inputs import EXCERPT, as_json, complaint, run_each
from harness.grading.checkers import Check, CheckerError, Prepared
from harness.grading.judge import Stop, Task, judge
from harness.grading.rules import Rule, RuleError, find_rule
from harness.grading.sandbox_retry import RetryingWorker
from harness.grading.verdict import TestResult, Verdict
from harness.problem import Problem, TestCase
from harness.sandbox.limits import Limits
from harness.sandbox.program import Execution, Program, decode
from harness.sandbox.worker import Worker


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A reference that differs from the first one on an input.

    Attributes:
        input: the input in the form of a test's.
        reference: index among the problem's `programs()`, where 0 is the first one.
        verdict: verdict on its answer, if the first one's is right.
        detail: both answers, or the error, in one bounded line.
    """

    input: str
    reference: int
    verdict: Verdict
    detail: str


@dataclass(frozen=True, slots=True)
class Unusable:
    """An input on which nothing is compared: the hooks or the first reference fail."""

    input: str
    why: str


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """Result of comparing references.

    Attributes:
        references: number of references; with fewer than two nothing can disagree.
        compared: number of distinct inputs compared.
        disagreements: disagreements by reference, then in the order of inputs. A reference that
            cannot be compiled is there once, with the first input.
        unusable: unusable inputs, in order.
    """

    references: int
    compared: int
    disagreements: tuple[Disagreement, ...] = ()
    unusable: tuple[Unusable, ...] = ()


def disagreements(
    worker: Worker, problem: Problem, inputs: Sequence[str], limits: Limits
) -> CrossCheck:
    """Compare a problem's references with the first of them.

    Args:
        worker: worker that runs everything.
        problem: problem that asks for a function.
        inputs: a line of JSON for each argument, as `generated_inputs` makes them.
        limits: limits of a call.

    Raises:
        DataError: the references or the tests cannot be decoded.
        SandboxError: the sandbox failed.
    """
    programs = problem.programs()
    if not programs:
        return CrossCheck(0, 0)
    first = _First(worker, problem, limits)
    tests = first.tests(programs[0], list(dict.fromkeys(inputs)))
    found: list[Disagreement] = []
    for number, code in enumerate(programs[1:], 1):
        task = Task(
            Program.of(problem, code),
            tests,
            limits,
            problem.rule,
            problem.checker,
            stop=Stop.NEVER,
        )
        failed = [result for result in judge(worker, task).tests if not result.passed]
        found += [
            Disagreement(tests[each.index].input, number, each.verdict, _detail(each))
            for each in failed
        ]
    return CrossCheck(len(programs), len(tests), tuple(found), tuple(first.unusable))


class _First:
    """The first reference, which makes tests of inputs."""

    def __init__(self, worker: Worker, problem: Problem, limits: Limits) -> None:
        self.worker = worker
        self.problem = problem
        self.limits = limits
        self.unusable: list[Unusable] = []
        self.check: Check | None = None
        if problem.checker is not None:
            self.check = Check.of(RetryingWorker(worker), problem.checker, functional=True)

    def tests(self, code: str, inputs: list[str]) -> list[TestCase]:
        """Make tests with the reference's answers; other inputs go to `unusable`."""
        # The hooks also convert the expected output, so they need one of the right type.
        stand_in = next((test.output for test in self.problem.tests.all()), "null")
        cases = [TestCase(input=given, output=stand_in, public=False) for given in inputs]
        prepared, cases = self._prepared(Program.of(self.problem, code), cases)
        executions = run_each(self.worker, *prepared, self.limits)
        waiting: list[tuple[TestCase, str, list[str]]] = []
        for case, execution in zip(cases, executions, strict=True):
            try:
                waiting.append((case, *self._answer(execution)))
            except ValueError as error:
                self.unusable.append(Unusable(case.input, f"the first reference: {error}"))
        found = self._accepted(waiting)
        places = {given: place for place, given in enumerate(inputs)}
        self.unusable.sort(key=lambda each: places[each.input])
        return sorted(found, key=lambda test: places[test.input])

    def _prepared(self, program: Program, cases: list[TestCase]) -> tuple[Prepared, list[TestCase]]:
        """Return program and inputs as the hooks convert them, and the convertible cases."""
        if self.check is None:
            return Prepared(program, [case.input.encode() for case in cases]), cases
        try:
            return self.check.prepare(program, cases), cases
        except CheckerError:
            good = [case for case in cases if self._can_prepare(self.check, program, case)]
        return self.check.prepare(program, good), good

    def _can_prepare(self, check: Check, program: Program, case: TestCase) -> bool:
        try:
            check.prepare(program, [case])
        except CheckerError as error:
            self.unusable.append(Unusable(case.input, str(error)))
            return False
        return True

    def _answer(self, execution: Execution | None) -> tuple[str, list[str]]:
        """Return an answer, and outputs that may make it right. Raises ValueError."""
        if execution is None or execution.result is None:
            raise ValueError(complaint(execution))
        answer = execution.result.decode("utf-8", "replace")
        value: Any = decode(execution.result)
        if self.check is None or self.check.code.checker.kind != "hooks":
            return answer, [as_json(value)]
        try:
            returned, arguments = value
            changed = [as_json(arguments[0])] if arguments else []
        except (TypeError, LookupError):
            raise ValueError("it wrote on the judge's own channel") from None
        if returned is None:  # no nodes, or an in-place problem
            return answer, ["null", "[]", *changed]
        return answer, [as_json(returned)]

    def _accepted(self, waiting: list[tuple[TestCase, str, list[str]]]) -> list[TestCase]:
        """Return the tests for which the reference's own answers are right."""
        found: list[TestCase] = []
        while waiting:
            tried = [
                (case.model_copy(update={"output": expected.pop(0)}), answer)
                for case, answer, expected in waiting
            ]
            left: list[tuple[TestCase, str, list[str]]] = []
            for (test, _), right, each in zip(tried, self._are_right(tried), waiting, strict=True):
                if right:
                    found.append(test)
                elif each[2]:
                    left.append(each)
                else:
                    why = "its own answer is not accepted as right"
                    self.unusable.append(Unusable(test.input, f"the first reference: {why}"))
            waiting = left
        return found

    def _are_right(self, pairs: Sequence[tuple[TestCase, str]]) -> list[bool]:
        if self.check is not None:
            return [said is None for said in self.check.compare(pairs)]
        rule = find_rule(self.problem.rule)
        return [_is_right(rule.value, test.output, answer) for test, answer in pairs]


def _is_right(rule: Rule, expected: str, answer: str) -> bool:
    try:
        return rule(expected, answer) is None
    except RuleError:  # the plug-in failed
        return False


def _detail(result: TestResult) -> str:
    if result.difference is not None:
        shown = result.difference
        return f"{_short(shown.expected)} by the first, {_short(shown.got)} by this one"
    return _short((result.error.strip().splitlines() or [""])[-1])


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= EXCERPT else json.dumps(line[:EXCERPT])[1:-1] + "…"
