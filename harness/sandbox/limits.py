"""What one test may use, and each source's defaults."""

from dataclasses import dataclass

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one test.

    Attributes:
        cpu_s: CPU seconds of the process, all its threads together.
        memory_bytes: address space of the process; in a batch, of the solution.
        output_bytes: each of stdout, stderr, a function's result, and any file it writes.
    """

    cpu_s: float = 10.0
    memory_bytes: int = 2048 * MEBIBYTE
    output_bytes: int = 128 * MEBIBYTE

    @property
    def wall_s(self) -> float:
        """Wall seconds: for sleepers only, since wall time grows with the machine's load."""
        return max(3 * self.cpu_s, self.cpu_s + 5)


_BY_SOURCE = {"livecodebench": Limits(cpu_s=6.0), "fixture": Limits(cpu_s=6.0)}


def default_limits(source: str) -> Limits:
    """What a test of a source may use; a user's own source gets the general limits."""
    return _BY_SOURCE.get(source, Limits())
