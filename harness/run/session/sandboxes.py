"""Sandboxes for calls from Python, and the check of examples in them."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from harness.problem import Problem
from harness.run.reporter import LOG
from harness.run.session.judging_session import vetted_in
from harness.run.spec.spec import RunSpec
from harness.sandbox.executor import Executor
from harness.sandbox.isolation import Isolation
from harness.text import printable_line


def open_pool(spec: RunSpec, isolation: Isolation) -> AbstractAsyncContextManager[Executor]:
    """Return the spec's executor, not yet entered."""
    return spec.where.open(isolation, lambda line: LOG.notice(printable_line(line)))


async def vetted(
    problems: Sequence[Problem], spec: RunSpec, isolation: Isolation
) -> tuple[Problem, ...]:
    """Return the problems after checking examples that were taken from statements.

    Raises:
        VettingError: the sandbox failed.
    """
    if not any(problem.unchecked for problem in problems):
        return tuple(problems)
    async with open_pool(spec, isolation) as pool:
        return await vetted_in(pool, problems, LOG)
