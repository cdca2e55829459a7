"""What one test may use, and each source's defaults."""

from dataclasses import dataclass, replace

MEBIBYTE = 1 << 20
GRACE = 1.22
"""A program is let run for so many CPU limits: whether it missed one narrowly is to be seen."""
BESIDE = 0.02
"""The part of a limit that a test has in a process in which others ran before it."""
LEAST_BESIDE_S = 0.02
MOST_WAITING = 10
"""A program whose threads wait for a core is let run for so many wall limits."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one test.

    Attributes:
        cpu_s: CPU seconds of the process, all its threads together.
        memory_bytes: memory in use by the process; in a batch, by the solution.
        own_wall_s: wall seconds, where they are not to follow from the CPU seconds.
        output_bytes: each of stdout, stderr, a function's result, and any file it writes.
    """

    cpu_s: float = 10.0
    memory_bytes: int = 2048 * MEBIBYTE
    output_bytes: int = 128 * MEBIBYTE
    own_wall_s: float | None = None

    @property
    def wall_s(self) -> float:
        """Wall seconds: for sleepers only, since wall time grows with the machine's load."""
        return self.own_wall_s or max(3 * self.cpu_s, self.cpu_s + 5)

    @property
    def longest_s(self) -> float:
        """Wall seconds after which even a program that waits for a core is ended."""
        return MOST_WAITING * self.wall_s

    @property
    def beside_cpu_s(self) -> float:
        """CPU seconds that a test has in a process in which others ran before it.

        If it needs more, it is run again as the first of a process, with its whole limit: a test
        that does not end costs little more than its limit, and whatever others left behind is not
        held against it.
        """
        return max(BESIDE * self.cpu_s, LEAST_BESIDE_S)

    @property
    def beside_wall_s(self) -> float:
        """The same in wall seconds."""
        return max(5 * BESIDE * self.wall_s, 5 * LEAST_BESIDE_S)


_LEETCODE = Limits(cpu_s=6.0)
_BY_SOURCE = {
    "livecodebench": Limits(cpu_s=6.0),
    "leetcode": _LEETCODE,
    "leetcodedataset": _LEETCODE,
    "mercury": _LEETCODE,
    "fixture": Limits(cpu_s=6.0),
}


def limits_of(
    source: str,
    *,
    cpu_s: float | None = None,
    memory_bytes: int | None = None,
    wall_s: float | None = None,
) -> Limits:
    """What a test of a source may use: its defaults, under what the user says.

    APPS and a user's own problems have the general limits.
    """
    limits = replace(_BY_SOURCE.get(source, Limits()), own_wall_s=wall_s)
    if cpu_s is not None:
        limits = replace(limits, cpu_s=cpu_s)
    return limits if memory_bytes is None else replace(limits, memory_bytes=memory_bytes)
