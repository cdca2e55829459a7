"""A cache of problems with decoded tests."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

from harness.errors import HarnessError
from harness.features.serve.requests import Refusal
from harness.problem import Problem, TestSuite
from harness.sandbox.executor import Shared
from harness.sources.problem_names import Names

KEPT_BYTES = 512 << 20
"""Most bytes of decoded tests that are kept, of the most recently used problems."""


class Ready(NamedTuple):
    """A problem whose solutions can be judged.

    Attributes:
        problem: the problem, with its examples checked.
        tests: all tests, public ones first; always the same object, so that another machine
            receives
            them only once.
        bytes: size of all inputs and outputs.
    """

    problem: Problem
    tests: Shared[TestSuite]
    bytes: int

    @classmethod
    def of(cls, problem: Problem) -> "Ready":
        """Decode a problem's tests. Raises DataError."""
        tests = problem.tests.all()
        size = sum(len(test.input) + len(test.output) for test in tests)
        return cls(problem, Shared(TestSuite(tests)), size)


class ProblemCache:
    """Cache of problems with decoded tests.

    Args:
        problems: problems that the server has.
        kept_bytes: most bytes of decoded tests; the most recently used problem is always kept.
    """

    def __init__(self, problems: Sequence[Problem], kept_bytes: int = KEPT_BYTES) -> None:
        self._names = Names(problems)
        self._kept_bytes = kept_bytes
        self._tasks: OrderedDict[str, asyncio.Task[Ready]] = OrderedDict()

    def find(self, name: str) -> Problem:
        """Return the problem of a name. Raises Refusal: 422."""
        try:
            return self._names.find(name)
        except HarnessError as error:
            raise Refusal(422, str(error)) from None

    async def ready(self, problem: Problem) -> Ready:
        """Return a problem with its tests decoded.

        Raises:
            DataError: the problem's row cannot be read.
        """
        task = self._tasks.get(problem.id)
        if task is None:
            decoding = asyncio.to_thread(Ready.of, problem)
            task = self._tasks[problem.id] = asyncio.create_task(decoding)
        self._tasks.move_to_end(problem.id)
        try:
            problems = await asyncio.shield(task)
        except BaseException:
            if task.done() and (task.cancelled() or task.exception() is not None):
                self._tasks.pop(problem.id, None)
            raise
        self._forget()
        return problems

    def _forget(self) -> None:
        """Drop the least recently used problems beyond the limit."""
        done = {name: task.result().bytes for name, task in self._tasks.items() if _is_good(task)}
        total = sum(done.values())
        for name in [*done][:-1]:
            if total <= self._kept_bytes:
                return
            total -= done[name]
            del self._tasks[name]


def _is_good(task: "asyncio.Task[Ready]") -> bool:
    return task.done() and not task.cancelled() and task.exception() is None
