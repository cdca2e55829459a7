"""The sandbox that a command runs judged programs in, chosen before anything else happens."""

from functools import cache

from rich.console import Console

from harness.errors import UsageError
from harness.sandbox.isolation import Level
from harness.sandbox.strongest import Choice, choose
from harness.text import printable_line


def level(name: str) -> Level:
    """A level by its name; UsageError where there is none."""
    try:
        return Level(name)
    except ValueError as error:
        known = ", ".join(Level)
        raise UsageError(f"--require-isolation {name}: known are {known}") from error


@cache
def isolate(console: Console, least: Level, *, unsafe: bool) -> Choice:
    """The strongest sandbox that can be had, looked for once; what it lacks is said once.

    Args:
        console: where that is said.
        least: the level beneath which there shall be none.
        unsafe: do without where none can be had.

    Raises:
        IsolationError: there is none so strong.
    """
    choice = choose(least, unsafe=unsafe)
    if choice.notice:
        console.print(printable_line(choice.notice))
    return choice
