"""A solution among a problem's references: where a page draws each of them, on a line."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from harness.efficiency.labels import score_interval
from harness.efficiency.scale import Efficiency
from harness.text import figure

MOST_TICKS = 6
STEPS = (1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 7.0)
"""What a tick may stand at, but for powers of ten."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on the axis, in percent of its length, and what is written there."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class EfficiencyAxis:
    """What is drawn; places are in percent of the line's length, from fast to slow.

    Attributes:
        references: the place of each.
        mark: that of the solution; `low` and `high` those of its interval.
        ticks: times, in that of the fastest reference.
        told: the same in words, for who cannot see it.
    """

    references: tuple[float, ...]
    mark: float
    low: float
    high: float
    ticks: tuple[Tick, ...]
    told: str


def strip_of(found: Efficiency | None) -> EfficiencyAxis | None:
    """The strip of a solution; None where it was not timed, or there is no reference.

    The axis is of the logarithm of time.
    """
    if found is None or found.time is None or not found.references:
        return None
    ends = found.time_low or found.time, found.time_high or found.time
    known = (*found.references, found.time, *ends)
    if not all(0 < each < math.inf for each in known):
        return None
    fastest = found.references[0]
    times = [each / fastest for each in known]
    left, right = math.log(min(times)), math.log(max(times))
    room = max(right - left, math.log(1.1))

    def place(time: float) -> float:
        return round(100 * (math.log(time) - left) / room, 2)

    *references, own, low, high = map(place, times)
    slowest = found.references[-1] / fastest
    beside = f"{len(references)} references, the slowest of them {figure(slowest)} times"
    return EfficiencyAxis(
        references=tuple(references),
        mark=own,
        low=low,
        high=high,
        ticks=tuple(Tick(place(time), f"{time:g}") for time in _round_times(left, left + room)),
        told=f"{figure(times[-3])} times the time of the fastest of {beside}",
    )


def _round_times(left: float, right: float) -> Sequence[float]:
    """Round times between two logarithms: as many as there is room for, powers of ten first."""
    powers = range(math.floor(left / math.log(10)), math.ceil(right / math.log(10)) + 1)
    for steps in (STEPS, (1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
        found = [step * 10.0**power for power in powers for step in steps]
        within = [time for time in found if left - 1e-9 <= math.log(time) <= right + 1e-9]
        if len(within) <= MOST_TICKS:
            return within
    return within[:: math.ceil(len(within) / MOST_TICKS)]


def beyond_words(found: Efficiency) -> str:
    """A Beyond with its interval."""
    if found.beyond is None:
        return "none"
    if found.cpu_s is None:
        return f"{found.beyond:.3f}, not timed: it failed"
    if found.beyond_low is None or found.beyond_high is None:
        return f"{found.beyond:.3f}"
    return f"{found.beyond:.3f} ({score_interval(found.beyond_low, found.beyond_high)})"
