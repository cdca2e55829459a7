"""The problems of a server, their hidden tests decoded when they are first asked for."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import HarnessError
from harness.features.serve.refusal import Refusal
from harness.problem import Problem, TestSuite
from harness.run.reporter import LOG
from harness.run.session.judging_session import vetted_in
from harness.sandbox.executor import Executor, Shared
from harness.sources.problem_names import Names

KEPT_BYTES = 512 << 20
"""Of decoded tests, of the problems that were asked for last."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A problem whose solutions can be judged.

    Attributes:
        problem: its examples checked, where nobody had checked them.
        tests: all of them, public ones first; the same object each time, so that another machine
            is sent them once.
        bytes: of inputs and outputs.
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
    """Problems by their names.

    Args:
        problems: that the server has.
        kept_bytes: of decoded tests; those of the problem asked for last stay in any case.
    """

    def __init__(self, problems: Sequence[Problem], kept_bytes: int = KEPT_BYTES) -> None:
        self._names = Names(problems)
        self._kept_bytes = kept_bytes
        self._tasks: OrderedDict[str, asyncio.Task[Ready]] = OrderedDict()

    def find(self, name: str) -> Problem:
        """Return the one problem that a name means. Raises Refusal: 422."""
        try:
            return self._names.find(name)
        except HarnessError as error:
            raise Refusal(422, str(error)) from None

    async def ready(self, problem: Problem, pool: Executor) -> Ready:
        """Return a problem with its tests decoded.

        Raises:
            DataError: its row cannot be read.
            SandboxError: its examples could not be checked.
        """
        task = self._tasks.get(problem.id)
        if task is None:
            task = self._tasks[problem.id] = asyncio.create_task(_made_ready(problem, pool))
        self._tasks.move_to_end(problem.id)
        try:
            found = await asyncio.shield(task)
        except BaseException:
            if task.done() and (task.cancelled() or task.exception() is not None):
                self._tasks.pop(problem.id, None)
            raise
        self._forget()
        return found

    def _forget(self) -> None:
        """Let go of what was not asked for lately, beyond the limit."""
        done = {name: task.result().bytes for name, task in self._tasks.items() if _is_good(task)}
        total = sum(done.values())
        for name in [*done][:-1]:
            if total <= self._kept_bytes:
                return
            total -= done[name]
            del self._tasks[name]


def _is_good(task: "asyncio.Task[Ready]") -> bool:
    return task.done() and not task.cancelled() and task.exception() is None


async def _made_ready(problem: Problem, pool: Executor) -> Ready:
    if problem.unchecked:
        (problem,) = await vetted_in(pool, [problem], LOG)
    return await asyncio.to_thread(Ready.of, problem)
