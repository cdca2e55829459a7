"""A problem's references on a scale of time, and a solution's place on it."""

from typing import Self

from pydantic import BaseModel, ConfigDict

from harness.efficiency.beyond import Timed, beyond, beyond_half_width, percentile
from harness.efficiency.timing_names import Timing

PROTOCOL = 1
"""Scales of another protocol are not comparable: to be raised when what is measured changes."""

TELLING = 0.1
"""A problem tells fast from slow where half a Beyond's interval is no wider than this."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class ReferenceTime(_Frozen):
    """A reference that passes all tests.

    Attributes:
        code_hash: of its code.
        time: of one pass over all tests, in the unit of its scale.
        doubt: half the width of the 95 % interval of the time's logarithm.
        branches: of Python code in a pass; None where the interpreter cannot count them.
    """

    code_hash: str
    time: float
    doubt: float
    branches: int | None = None


class Scale(_Frozen):
    """The references of a problem, measured on one machine.

    Attributes:
        protocol: `PROTOCOL` when it was made.
        timing: how; times of one are never compared with those of the other.
        unit_s: CPU seconds of one unit, when it was made. Paired times have the anchor in the
            middle for their unit; Mercury's are seconds.
        references: those that pass, the fastest first.
        failed: how many do not, or not when they are timed.
        anchors: the fastest, the middle and the slowest of them by a first look, where they are not
            the same: what a solution takes turns with; by index.
        apart: whether each test needs a namespace of its own.
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
        """Of the references, the fastest first."""
        return tuple(reference.time for reference in self.references)

    @property
    def ends(self) -> tuple[Timed, Timed] | None:
        """The fastest and the slowest; None where there are not two."""
        if len(self.references) < 2:  # noqa: PLR2004 - a scale has two ends
            return None
        fastest, slowest = self.references[0], self.references[-1]
        return Timed(fastest.time, fastest.doubt), Timed(slowest.time, slowest.doubt)

    @property
    def lack(self) -> str:
        """Why it gives no Beyond; empty where it does."""
        if self.ends is None:
            return "no reference passes" if not self.references else "one reference passes"
        fastest, slowest = self.ends
        if fastest.seconds >= slowest.seconds:
            return "all references take the same time"
        between = Timed((fastest.seconds * slowest.seconds) ** 0.5, fastest.doubt)
        if beyond_half_width(between, fastest, slowest) > TELLING:
            return "the references differ by less than the noise"
        return ""


class Efficiency(_Frozen):
    """How fast a solution is among a problem's references.

    Attributes:
        timing: how it was measured.
        cpu_s: CPU seconds of one pass over all tests; None where it was not timed.
        time, time_low, time_high: the same in the unit of the references' scale, and its 95 %
            interval.
        beyond, beyond_low, beyond_high: 1 as the fastest reference, 0 as the slowest or wrong; None
            where the references do not tell, see `lack`.
        percentile: percentage of references that it is faster than; ties count half.
        pairs: ratios, or iterations, that it is measured by.
        references: their times, the fastest first.
        branches, beyond_branches: the second clock, which does not see what is done in C; None
            where the interpreter has none.
        lack: why there is no Beyond.
        remark: what is to be known of how it was measured.
    """

    timing: Timing
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
        """Of a solution that failed a test: 0, wherever there is a Beyond."""
        zero = None if scale.lack else 0.0
        return cls(
            timing=scale.timing,
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
        """Of a solution that took a time, in the scale's unit, known by an interval.

        Args:
            scale: of the problem.
            time: of the solution.
            low: end of its interval.
            high: the other.
            doubt: half the width of the interval of the time's logarithm.
            cpu_s: the time in seconds.
            pairs: what it was measured by.
            branches: that it takes.
            remark: as above.
        """
        value = half = None
        if not scale.lack and scale.ends is not None:
            value = beyond(time, scale.times)
            half = beyond_half_width(Timed(time, doubt), *scale.ends)
        rank = percentile(time, scale.times, doubt)
        counted = [each.branches for each in scale.references if each.branches is not None]
        by_branches = None
        if branches is not None and len(counted) == len(scale.references):
            by_branches = beyond(branches, counted)
        return cls(
            timing=scale.timing,
            cpu_s=_round(cpu_s),
            time=_round(time),
            time_low=_round(low),
            time_high=_round(high),
            beyond=None if value is None else round(value, 4),
            beyond_low=_end(scale, time, half, -1),
            beyond_high=_end(scale, time, half, +1),
            percentile=None if rank is None else round(rank, 1),
            pairs=pairs,
            references=_rounded(scale.times),
            branches=branches,
            beyond_branches=None if by_branches is None else round(by_branches, 4),
            lack=scale.lack,
            remark=remark,
        )


def _end(scale: Scale, time: float, half: float | None, sign: int) -> float | None:
    """An end of Beyond's interval: that of the value before it is cut off, cut off."""
    if half is None or scale.ends is None:
        return None
    fastest, slowest = scale.ends
    value = (slowest.seconds - time) / (slowest.seconds - fastest.seconds)
    return round(min(1.0, max(0.0, value + sign * half)), 4)


def _round(value: float) -> float:
    return float(f"{value:.6g}")


def _rounded(values: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(map(_round, values))
