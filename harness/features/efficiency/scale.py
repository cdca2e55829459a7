"""Time scale of a problem's references, and a solution's place on it."""

from typing import Self

from harness.features.efficiency.beyond import UncertainTime, beyond, beyond_half_width, percentile
from harness.frozen import Frozen
from harness.run.settings.execution_settings import Timing

PROTOCOL = 2
"""Version of the measurement, to be raised when it changes; scales of two do not compare."""

TELLING = 0.1
"""Largest half-width of a Beyond's interval at which a problem's references count as distinct."""


class ReferenceTime(Frozen):
    """Reference that passes all tests.

    Attributes:
        code_hash: hash of its code.
        time: time of one pass over all tests, in the unit of its scale.
        doubt: half the width of the 95 % interval of the time's logarithm.
        branches: Python branches of one pass; None where the interpreter cannot count them.
    """

    code_hash: str
    time: float
    doubt: float
    branches: int | None = None


class Scale(Frozen):
    """References of a problem, measured on one machine.

    Attributes:
        protocol: `PROTOCOL` when it was made.
        timing: timing method; times of different methods must not be compared.
        unit_s: CPU seconds of one unit, when it was made. The unit of paired times is the median
            anchor; Mercury's is the second.
        references: references that pass, the fastest first.
        failed: number of references that failed, when judged or when timed.
        anchors: indexes of the fastest, the median and the slowest reference of the first
            measurement, without duplicates; a solution takes turns with them.
        apart: whether each test needs a turn of its own.
    """

    protocol: int = PROTOCOL
    timing: Timing = "paired"
    unit_s: float
    references: tuple[ReferenceTime, ...]
    failed: int = 0
    anchors: tuple[int, ...] = ()
    apart: bool = True

    @property
    def times(self) -> tuple[float, ...]:
        """Times of the references, the fastest first."""
        return tuple(reference.time for reference in self.references)

    @property
    def ends(self) -> tuple[UncertainTime, UncertainTime] | None:
        """The fastest and the slowest time; None where there are fewer than two references."""
        if len(self.references) < 2:  # noqa: PLR2004 - a scale has two ends
            return None
        fastest, slowest = self.references[0], self.references[-1]
        return UncertainTime(fastest.time, fastest.doubt), UncertainTime(
            slowest.time, slowest.doubt
        )

    @property
    def lack(self) -> str:
        """Reason why it gives no Beyond; empty where it does."""
        if self.ends is None:
            return "no reference passes" if not self.references else "one reference passes"
        fastest, slowest = self.ends
        if fastest.seconds >= slowest.seconds:
            return "all references take the same time"
        between = UncertainTime((fastest.seconds * slowest.seconds) ** 0.5, fastest.doubt)
        if beyond_half_width(between, fastest, slowest) > TELLING:
            return "the references differ by less than the noise"
        return ""


class Efficiency(Frozen):
    """Speed of a solution relative to a problem's references.

    Attributes:
        timing: timing method.
        protocol: `PROTOCOL` when it was measured; 1 in results that do not state it.
        cpu_s: CPU seconds of one pass over all tests; None where it was not timed.
        time, time_low, time_high: the same time in the unit of the references' scale, and its 95 %
            interval.
        beyond, beyond_low, beyond_high: Beyond and its interval: 1 as fast as the fastest
            reference, 0 as slow as the slowest or wrong; None where there is none, see `lack`.
        percentile: percentage of references that it is faster than; ties count half.
        pairs: number of pairs of turns, or iterations, measured.
        references: times of the references, the fastest first.
        branches, beyond_branches: number of branches and the Beyond by it, which does not count
            work done in C; None where the interpreter cannot count branches.
        lack: reason why there is no Beyond.
        remark: remark on how it was measured.
    """

    timing: Timing
    protocol: int = 1
    cpu_s: float | None = None
    time: float | None = None
    time_low: float | None = None
    time_high: float | None = None
    beyond: float | None = None
    beyond_low: float | None = None
    beyond_high: float | None = None
    percentile: float | None = None
    pairs: int = 0
    references: tuple[float, ...] = ()
    branches: int | None = None
    beyond_branches: float | None = None
    lack: str = ""
    remark: str = ""

    @classmethod
    def of_failure(cls, scale: Scale, remark: str = "") -> Self:
        """Return the efficiency of a solution that failed a test: 0, where there is a Beyond."""
        zero = None if scale.lack else 0.0
        return cls(
            timing=scale.timing,
            protocol=scale.protocol,
            beyond=zero,
            beyond_low=zero,
            beyond_high=zero,
            references=_rounded(scale.times),
            lack=scale.lack,
            remark=remark,
        )

    @classmethod
    def of(
        cls,
        scale: Scale,
        time: float,
        low: float,
        high: float,
        doubt: float,
        *,
        cpu_s: float,
        pairs: int,
        branches: int | None = None,
        remark: str = "",
    ) -> Self:
        """Return the efficiency of a solution from its time.

        Args:
            scale: scale of the problem.
            time: time of the solution, in the scale's unit.
            low: lower end of its interval.
            high: upper end of its interval.
            doubt: half the width of the interval of the time's logarithm.
            cpu_s: the time in CPU seconds.
            pairs: number of pairs of turns, or iterations, measured.
            branches: number of branches of one pass.
            remark: remark on how it was measured.
        """
        value: float | None = None
        ends: list[float | None] = [None, None]
        if not scale.lack and scale.ends is not None:
            fastest, slowest = scale.ends
            value = beyond(time, scale.times)
            half = beyond_half_width(UncertainTime(time, doubt), fastest, slowest)
            centre = (slowest.seconds - time) / (slowest.seconds - fastest.seconds)  # not clipped
            ends = [round(min(1.0, max(0.0, end)), 4) for end in (centre - half, centre + half)]
        others = [UncertainTime(each.time, each.doubt) for each in scale.references]
        rank = percentile(UncertainTime(time, doubt), others)
        counted = [each.branches for each in scale.references if each.branches is not None]
        by_branches = None
        if branches is not None and len(counted) == len(scale.references):
            by_branches = beyond(branches, counted)
        return cls(
            timing=scale.timing,
            protocol=scale.protocol,
            cpu_s=_round(cpu_s),
            time=_round(time),
            time_low=_round(low),
            time_high=_round(high),
            beyond=None if value is None else round(value, 4),
            beyond_low=ends[0],
            beyond_high=ends[1],
            percentile=None if rank is None else round(rank, 1),
            pairs=pairs,
            references=_rounded(scale.times),
            branches=branches,
            beyond_branches=None if by_branches is None else round(by_branches, 4),
            lack=scale.lack,
            remark=remark,
        )


def _round(value: float) -> float:
    return float(f"{value:.6g}")


def _rounded(values: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(map(_round, values))
