"""Names of problems: full ids, native ids and aliases, in any case."""

import difflib
from collections.abc import Sequence

from harness.errors import UsageError
from harness.problem import Problem

_SOME = 3
_SHOWN = 20  # values in a message; data may have thousands


def listed(values: Sequence[str]) -> str:
    """Return the first of some values, for a message."""
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return ", ".join(values[:_SHOWN]) + more


class Names:
    """Names of some problems.

    Args:
        problems: the problems.
        owner: name of the class that was given them, for messages; empty for a command.
    """

    def __init__(self, problems: Sequence[Problem], owner: str = "") -> None:
        self._owner = owner
        self._exact = {problem.id: problem for problem in problems}
        self._ids: dict[str, list[Problem]] = {}
        self._short: dict[str, list[Problem]] = {}
        for problem in problems:
            self._ids.setdefault(problem.id.casefold(), []).append(problem)
            for name in {name.casefold() for name in (problem.native_id, *problem.aliases)}:
                self._short.setdefault(name, []).append(problem)

    def candidates(self, name: str) -> list[Problem]:
        """Return the problems that a name may mean; a full id means only its own problem."""
        if name in self._exact:
            return [self._exact[name]]
        wanted = name.strip().casefold()
        return self._ids.get(wanted) or self._short.get(wanted) or []

    def find(self, task: str) -> Problem:
        """Return the only problem that a name means.

        Raises:
            UsageError: there is none, or more than one.
        """
        found = self.candidates(task)
        if self._owner and not self._exact:
            raise UsageError(
                f"{self._owner}() was given no problems, so that it knows no {task!r}: give it a "
                f"benchmark, as {self._owner}('fixture'), or name a problem by a Problem"
            )
        if not found:
            raise UsageError(f"no problem is called {task!r}{self._near(task.strip().casefold())}")
        if len(found) > 1:
            names = listed([problem.id for problem in found])
            raise UsageError(f"task {task!r} could be any of {names}; give one of these in full")
        return found[0]

    def _near(self, wanted: str) -> str:
        names = self._short | self._ids
        near = difflib.get_close_matches(wanted, names, n=3)
        ids = dict.fromkeys(problem.id for name in near for problem in names[name])
        if ids:
            return f"; did you mean {listed(list(ids))}?"
        some = [*self._exact][:_SOME]
        more = len(self._exact) - len(some)
        return f"; there are {', '.join(some)}{f' and {more:,} more' if more else ''}" * bool(some)
