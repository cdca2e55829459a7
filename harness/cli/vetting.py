"""Examples read off statements, checked before a command lets them judge anybody."""

from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console

from harness.grading.example_check import OPTIONS, Memory, Vetting, VettingError, default_folder
from harness.problem import Problem
from harness.run.session.judging_session import Judging, judge_jobs
from harness.terminal.progress import dropped_examples
from harness.text import printable_line


def vet(problems: Sequence[Problem], judging: Judging, console: Console) -> tuple[Problem, ...]:
    """The problems, unchecked examples checked; it is said how many are wrong.

    Args:
        problems: those that a command is going to grade; where none is unchecked, nothing is done.
        judging: workers and isolation; the limits are each source's own.
        console: where it is said.

    Raises:
        VettingError: the sandbox failed.
        IsolationError: there is no sandbox that is strong enough.
        DataError: a problem's row cannot be read again.
        KeyboardInterrupt: it was interrupted; what was found until then is remembered.
    """
    if not any(problem.unchecked for problem in problems):
        return tuple(problems)
    memory = Memory(default_folder())
    vetting = Vetting(problems, memory)
    asked = replace(judging, options=OPTIONS)
    try:
        if judge_jobs(vetting.jobs, asked, console, "own solutions", vetting.keep):
            raise KeyboardInterrupt
    except* VettingError as errors:
        raise errors.exceptions[0] from None
    found = vetting.vetted()
    if found.dropped:
        console.print(dropped_examples(found), soft_wrap=True)
    if memory.warning:
        console.print(printable_line(memory.warning), soft_wrap=True)
    return found.problems
