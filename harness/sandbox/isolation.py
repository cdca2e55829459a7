"""How well a sandbox holds: its levels, and what each of them promises."""

from dataclasses import dataclass
from enum import StrEnum

from harness.errors import UsageError


class Level(StrEnum):
    """From the weakest to the strongest; each promises what the one before does."""

    NONE = "none"
    SECCOMP = "seccomp"
    LANDLOCK = "landlock"
    NAMESPACES = "namespaces"

    @property
    def rank(self) -> int:
        """Its place in that order, from 0."""
        return tuple(Level).index(self)


_EVERYWHERE = frozenset({"environment", "descriptors", "limits", "working directory"})
_WITH_SECCOMP = _EVERYWHERE | {"seccomp", "no new privileges", "own user"}
PROMISED = {
    Level.NONE: _EVERYWHERE,
    Level.SECCOMP: _WITH_SECCOMP,
    Level.LANDLOCK: _WITH_SECCOMP | {"landlock", "files"},
    Level.NAMESPACES: _WITH_SECCOMP
    | {"files", "user namespace", "process namespace", "mount namespace"}
    | {"network namespace", "ipc namespace"},
}
"""The layers that must hold where a level is in force."""

MISSING = {
    Level.LANDLOCK: "no namespaces; programs may see that others run",
    Level.SECCOMP: "no namespaces, no Landlock; programs can read and write what their user can",
    Level.NONE: "no sandbox; programs can do whatever their user can",
}
"""What a level leaves open."""


@dataclass(frozen=True, slots=True)
class Isolation:
    """A level, and what it is made with.

    Attributes:
        means: what makes the namespaces: `bubblewrap`, or `direct` for our own calls; None where
            there are none.
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
"""What is tried, in this order."""

UNSAFE = Isolation(Level.NONE)


@dataclass(frozen=True, slots=True)
class Findings:
    """What a sandbox said of itself when it started.

    Attributes:
        isolation: what was tried.
        layers: layer -> what got through it; empty where it held.
        failure: why there is no sandbox at all; empty where there is.
        copies: whether a process there can make a sibling, so that a program is compiled once.
    """

    isolation: Isolation
    layers: dict[str, str]
    failure: str = ""
    copies: bool = True

    @property
    def holds(self) -> bool:
        """Whether it keeps what its level promises."""
        return not self.broken

    @property
    def broken(self) -> str:
        """What of that it does not keep; empty where it keeps all."""
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
    """No sandbox that is strong enough can be made here."""
