"""Resource limits of one test, and the defaults of each source."""

from dataclasses import dataclass, replace

from harness.registry import SIX_SECONDS

MEBIBYTE = 1 << 20
GRACE = 1.22
"""Multiple of the CPU limit a program may run, to see if it missed it narrowly."""
BESIDE = 0.02
"""Part of its limits a test gets in a process in which other tests ran before."""
LEAST_BESIDE_S = 0.02
MOST_WAITING = 10
"""Multiple of the wall limit a program may run while its threads wait for a core."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one test.

    Attributes:
        cpu_s: CPU seconds of the process, summed over its threads.
        memory_bytes: memory in use by the process; in a batch, by the solution.
        output_bytes: size of each of stdout, stderr, a function's result, and any file it writes.
        own_wall_s: wall seconds; None to derive them from the CPU seconds.
    """

    cpu_s: float = 10.0
    memory_bytes: int = 2048 * MEBIBYTE
    output_bytes: int = 128 * MEBIBYTE
    own_wall_s: float | None = None

    @property
    def wall_s(self) -> float:
        """Wall seconds: meant for sleeping programs, since wall time grows with load."""
        return self.own_wall_s or max(3 * self.cpu_s, self.cpu_s + 5)

    @property
    def longest_s(self) -> float:
        """Wall seconds after which even a program that waits for a core is ended."""
        return MOST_WAITING * self.wall_s

    @property
    def beside_cpu_s(self) -> float:
        """CPU seconds of a test in a process in which other tests ran before.

        If it needs more, it runs again as the first test of a process, with its full limit: a test
        that does not end costs little more than its limit, and state left by other tests is not
        held against it.
        """
        return max(BESIDE * self.cpu_s, LEAST_BESIDE_S)

    @property
    def beside_wall_s(self) -> float:
        """Wall seconds of a test in a process in which other tests ran before."""
        return max(5 * BESIDE * self.wall_s, 5 * LEAST_BESIDE_S)


def limits_of(
    source: str,
    *,
    cpu_s: float | None = None,
    memory_bytes: int | None = None,
    output_bytes: int | None = None,
    wall_s: float | None = None,
) -> Limits:
    """Return the limits of a source's tests: its defaults with the user's changes.

    APPS and a user's own problems have the general limits.
    """
    limits = Limits(own_wall_s=wall_s)
    if cpu_s is not None or source in SIX_SECONDS:
        limits = replace(limits, cpu_s=6.0 if cpu_s is None else cpu_s)
    if output_bytes is not None:
        limits = replace(limits, output_bytes=output_bytes)
    return limits if memory_bytes is None else replace(limits, memory_bytes=memory_bytes)
