"""Proof that no right solution passes a changed test: by the rule, and by the references."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from harness.features.impossible.changed_tests import TestChange
from harness.grading.jobs import Judgement, Options
from harness.grading.rules import find_rule
from harness.grading.stop import Stop
from harness.grading.verdict import Grade, Verdict
from harness.languages import PYTHON
from harness.problem import Problem, Reference, TestCase, TestSuite
from harness.sandbox.executor import Executor, Shared

MOST_REFERENCES = 100
"""References of a problem that are run; data sets have up to thousands."""


class Proof(StrEnum):
    """What the references say about a changed test.

    `holds`: every reference that passes the test before fails it now, or there is none.
    `passed`: a reference passes the changed test.
    `doubtful`: a reference fails the test before by a wrong answer, or none passes it.
    """

    HOLDS = "holds"
    PASSED = "passed"
    DOUBTFUL = "doubtful"


def rule_refuses(problem: Problem, options: Options, before: str, after: str) -> bool:
    """Whether the problem's rule judges neither output as right where the other is expected."""
    rule = find_rule(options.rule_of(problem))
    compare = rule.output if problem.entry_point is None else rule.value
    crossed = (compare(before, after), compare(after, before))
    return compare(before, before) is None and None not in crossed


@dataclass(frozen=True, slots=True)
class ReferenceRuns:
    """Runs the references of problems in the sandbox."""

    pool: Executor
    options: Options

    async def proof(self, problem: Problem, change: TestChange) -> Proof:
        """Return what a problem's references say about a change of its tests.

        Raises:
            DataError: the references cannot be decoded.
            SandboxError: they could not be run.
        """
        languages = {PYTHON, self.options.language}
        known = await asyncio.to_thread(problem.load_references)
        programs = [each for each in known if each.language in languages][:MOST_REFERENCES]
        if not programs:
            return Proof.HOLDS
        place = change.test - (change.kind == "conflicting")
        tests = both_tests(problem.tests.public[place], change)
        grades = await asyncio.gather(*(self._judged(problem, each, tests) for each in programs))
        return judged_proof(grades)

    async def _judged(
        self, problem: Problem, reference: Reference, tests: Sequence[TestCase]
    ) -> Grade:
        task = self.options.task(problem, reference.code, (), reference.language)
        task = replace(task, stop=Stop.NEVER)
        return await self.pool.call(Judgement(task, Shared(TestSuite(tuple(tests)))))


def both_tests(test: TestCase, change: TestChange) -> tuple[TestCase, TestCase]:
    """Return a test as it was and as it is now."""
    return test, test.model_copy(update={"output": change.after})


def judged_proof(grades: Sequence[Grade]) -> Proof:
    """Return what the grades of references on `both_tests` say."""
    pairs = [[test.verdict for test in grade.tests] for grade in grades]
    if any(len(pair) > 1 and pair[1] is Verdict.ACCEPTED for pair in pairs):
        return Proof.PASSED
    wrong = any(pair[:1] == [Verdict.WRONG_ANSWER] for pair in pairs)
    right = any(pair == [Verdict.ACCEPTED, Verdict.WRONG_ANSWER] for pair in pairs)
    return Proof.HOLDS if right and not wrong else Proof.DOUBTFUL
