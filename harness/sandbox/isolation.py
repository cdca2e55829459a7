"""Isolation levels of a sandbox and the layers each of them promises."""

from enum import StrEnum
from typing import NamedTuple

from harness.errors import UsageError

_EVERYWHERE = frozenset({"environment", "descriptors", "limits", "working directory"})
_WITH_SECCOMP = _EVERYWHERE | {"seccomp", "no new privileges", "own user"}


class Level(StrEnum):
    """Isolation levels, weakest first; each includes the layers of the previous one."""

    NONE = "none"
    SECCOMP = "seccomp"
    LANDLOCK = "landlock"
    NAMESPACES = "namespaces"

    @property
    def rank(self) -> int:
        """The level's rank, from 0 for the weakest."""
        return tuple(Level).index(self)


PROMISED = {
    Level.NONE: _EVERYWHERE,
    Level.SECCOMP: _WITH_SECCOMP,
    Level.LANDLOCK: _WITH_SECCOMP | {"landlock", "files"},
    Level.NAMESPACES: _WITH_SECCOMP
    | {"files", "user namespace", "process namespace", "mount namespace"}
    | {"network namespace", "ipc namespace"},
}
"""The layers that must hold at each level."""

MISSING = {
    Level.LANDLOCK: "no namespaces; programs may see that others run",
    Level.SECCOMP: "no namespaces, no Landlock; programs can read and write what their user can",
    Level.NONE: "no sandbox; programs can do whatever their user can",
}
"""What each level fails to protect."""


class Isolation(NamedTuple):
    """A level and the means of achieving it.

    Attributes:
        level: the isolation level.
        means: what makes the namespaces: `bubblewrap`, or `direct` for direct system calls; None
            without namespaces.
    """

    level: Level
    means: str | None = None

    def __str__(self) -> str:
        return self.level if self.means is None else f"{self.level} ({self.means})"


CANDIDATES = (
    Isolation(Level.NAMESPACES, "bubblewrap"),
    Isolation(Level.NAMESPACES, "direct"),
    Isolation(Level.LANDLOCK),
    Isolation(Level.SECCOMP),
)
"""The isolations to try, in this order."""

UNSAFE = Isolation(Level.NONE)


class Findings(NamedTuple):
    """A sandbox's report on itself at start.

    Attributes:
        isolation: the isolation that was tried.
        layers: layer -> what got through it; empty if it held.
        failure: why there is no sandbox at all; empty if there is one.
        copies: whether a process inside can fork a sibling, so that a program is compiled only
            once.
    """

    isolation: Isolation
    layers: dict[str, str]
    failure: str = ""
    copies: bool = True

    @property
    def holds(self) -> bool:
        """Whether it keeps its level's promises."""
        return not self.broken

    @property
    def broken(self) -> str:
        """The promised layers that do not hold, and why; empty if all hold."""
        if self.failure:
            return self.failure
        promised = PROMISED[self.isolation.level]
        broken = {layer: self.layers.get(layer, "it is not there") for layer in sorted(promised)}
        return "; ".join(f"{layer}: {why}" for layer, why in broken.items() if why)

    @property
    def in_force(self) -> list[str]:
        """The layers that held."""
        return [layer for layer, escape in self.layers.items() if not escape]


class IsolationError(UsageError):
    """No sufficiently strong sandbox is available."""
