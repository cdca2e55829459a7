"""The paths that a user's agent may read, checked."""

from collections.abc import Iterable
from pathlib import Path

from harness.errors import UsageError


def checked_shows(shows: Iterable[str], hides: Iterable[str]) -> tuple[str, ...]:
    """Return the paths to show to an agent, as absolute paths.

    Raises:
        UsageError: a path does not exist, or lies in hidden data.
    """
    covered = [Path(path) for path in hides]
    made: list[str] = []
    for shown in shows:
        path = Path(shown).expanduser().absolute()
        if not path.exists():
            raise UsageError(f"--agent-read {shown}: there is nothing")
        real = path.resolve()
        within = next((each for each in covered if real == each or each in real.parents), None)
        if within is not None:
            raise UsageError(
                f"--agent-read {shown}: it lies in {within}, which holds data of the harness; an "
                "agent is not shown that"
            )
        made.append(str(path))
    return tuple(made)
