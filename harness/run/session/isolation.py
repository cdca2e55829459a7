"""The sandbox of a session: the strongest one, determined and reported once."""

from functools import cache

from harness.errors import UsageError
from harness.run.reporter import Reporter
from harness.sandbox.isolation import Level
from harness.sandbox.strongest import ChosenSandbox, choose
from harness.text import printable_line


def level(name: str) -> Level:
    """Return the level of a name; UsageError if there is none."""
    try:
        return Level(name)
    except ValueError as error:
        known = ", ".join(Level)
        raise UsageError(f"--require-isolation {name}: known are {known}") from error


@cache
def isolate(reporter: Reporter, least: Level, *, unsafe: bool) -> ChosenSandbox:
    """Return the strongest available sandbox; it is determined and reported once.

    Args:
        reporter: shows what the sandbox lacks.
        least: the lowest acceptable level.
        unsafe: whether to continue without a sandbox if none is available.

    Raises:
        IsolationError: no sandbox of that level is available.
    """
    choice = choose(least, unsafe=unsafe)
    if choice.notice:
        reporter.notice(printable_line(choice.notice))
    return choice
