"""The sandboxes that a call from Python judges in, and examples checked in them beforehand."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from functools import cache

from harness.grading.example_check import OPTIONS, Memory, Vetting, default_folder
from harness.grading.jobs import judge_all
from harness.problem import Problem
from harness.run.plan.problem_loader import log
from harness.run.spec.spec import RunSpec
from harness.sandbox.executor import Executor
from harness.sandbox.isolation import Isolation, Level
from harness.sandbox.strongest import Choice, choose
from harness.terminal.progress import dropped_examples
from harness.text import printable_line


@cache
def isolate(least: Level, *, unsafe: bool) -> Choice:
    """The strongest sandbox that can be had, looked for once; what it lacks is logged once.

    Raises:
        IsolationError: there is none of that level or above.
    """
    choice = choose(least, unsafe=unsafe)
    if choice.notice:
        log.warning(printable_line(choice.notice))
    return choice


def open_pool(spec: RunSpec, isolation: Isolation) -> AbstractAsyncContextManager[Executor]:
    """Where a spec has the work done, to be entered."""
    return spec.where.open(isolation, lambda line: log.warning(printable_line(line)))


async def vetted(
    problems: Sequence[Problem], spec: RunSpec, isolation: Isolation
) -> tuple[Problem, ...]:
    """The problems, examples that were read off statements checked.

    Raises:
        VettingError: the sandbox failed.
    """
    if not any(problem.unchecked for problem in problems):
        return tuple(problems)
    async with open_pool(spec, isolation) as pool:
        return await vetted_in(pool, problems)


async def vetted_in(pool: Executor, problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """The same in sandboxes that are there."""
    memory = Memory(default_folder())
    vetting = Vetting(problems, memory)
    await judge_all(pool, vetting.jobs, OPTIONS, vetting.keep)
    found = vetting.vetted()
    if found.dropped:
        log.warning(dropped_examples(found))
    if memory.warning:
        log.warning(printable_line(memory.warning))
    return found.problems
