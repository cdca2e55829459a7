"""Examples read off statements, checked before a command lets them judge anybody."""

from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console

from harness.cli.judging import Judging, judge_jobs
from harness.problem import Problem
from harness.report.text import count, printable_line
from harness.runs.vetting import OPTIONS, Memory, Vetted, Vetting, VettingError, default_folder


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
        console.print(_dropped(found), soft_wrap=True)
    if memory.warning:
        console.print(printable_line(memory.warning), soft_wrap=True)
    return found.problems


def _dropped(found: Vetted) -> str:
    """Such as: dropped 3 of 41 examples, which their own solutions fail (2 problems)."""
    of = count(found.shortened, "problem")
    if found.emptied:
        of += f", {found.emptied:,} of them left without tests"
    examples = count(found.examples, "example")
    return f"dropped {found.dropped:,} of {examples}, which their own solutions fail ({of})"
