"""How many of a sample's written tests are wrong: a solution that is known to be right fails them.

That solution is the sample's own, if it passes all tests of its problem, else the problem's first
reference. Without either nothing is known.
"""

import asyncio

from harness.agent.attempt import Attempt
from harness.agent.written_tests import runner_of
from harness.errors import DataError
from harness.grading.jobs import Options
from harness.grading.verdict import Grade
from harness.problem import Problem
from harness.run.store.results import WrittenTestCounts
from harness.sandbox.executor import Executor


async def count_written_tests(
    problem: Problem, attempt: Attempt, grade: Grade, options: Options, pool: Executor
) -> WrittenTestCounts:
    """Return the number of written tests that could be used, and of wrong ones.

    Raises:
        SandboxError: the tests could not be run.
    """
    tests = attempt.written_tests
    if not tests:
        return WrittenTestCounts(total=0)
    right = attempt.code if grade.solved else await asyncio.to_thread(_reference, problem)
    if not right:
        return WrittenTestCounts(total=len(tests))
    ran = await runner_of(problem, options, pool).run(right, tests)
    return WrittenTestCounts(
        total=len(tests),
        checked=len(tests),
        wrong=ran.passed.count(False),
        checked_by="solution" if grade.solved else "reference",
    )


def _reference(problem: Problem) -> str:
    try:
        return next(iter(problem.programs()), "")
    except DataError:
        return ""
