"""The plot of a solution's time among the references: positions on a logarithmic axis."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from harness.features.efficiency.scale import Efficiency
from harness.figures import figure

MOST_TICKS = 6


STEPS = (1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 7.0)
"""Values of ticks, times powers of ten."""


class Tick(NamedTuple):
    """A tick: its position in percent of the axis, and its text."""

    at: float
    text: str


class EfficiencyAxis(NamedTuple):
    """Positions to draw, in percent of the axis, from fast to slow.

    Attributes:
        references: positions of the references.
        mark, low, high: positions of the solution and of its interval's ends.
        ticks: times, relative to the fastest reference.
        description: description for screen readers.
    """

    references: tuple[float, ...]
    mark: float
    low: float
    high: float
    ticks: tuple[Tick, ...]
    description: str


def strip_of(efficiency: Efficiency | None) -> EfficiencyAxis | None:
    """Return a solution's plot; None if it was not timed, or there is no reference.

    The axis is logarithmic in time.
    """
    if efficiency is None or efficiency.time is None or not efficiency.references:
        return None
    ends = efficiency.time_low or efficiency.time, efficiency.time_high or efficiency.time
    known = (*efficiency.references, efficiency.time, *ends)
    if not all(0 < each < math.inf for each in known):
        return None
    fastest = efficiency.references[0]
    times = [each / fastest for each in known]
    left, right = math.log(min(times)), math.log(max(times))
    room = max(right - left, math.log(1.1))

    def place(time: float) -> float:
        return round(100 * (math.log(time) - left) / room, 2)

    *references, own, low, high = map(place, times)
    slowest = efficiency.references[-1] / fastest
    beside = f"{len(references)} references, the slowest of them {figure(slowest)} times"
    return EfficiencyAxis(
        references=tuple(references),
        mark=own,
        low=low,
        high=high,
        ticks=tuple(Tick(place(time), f"{time:g}") for time in _round_times(left, left + room)),
        description=f"{figure(times[-3])} times the time of the fastest of {beside}",
    )


def _round_times(left: float, right: float) -> Sequence[float]:
    """Return round times between two logarithms that fit, powers of ten first."""
    powers = range(math.floor(left / math.log(10)), math.ceil(right / math.log(10)) + 1)
    for steps in (STEPS, (1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
        numbers = [step * 10.0**power for power in powers for step in steps]
        within = [time for time in numbers if left - 1e-9 <= math.log(time) <= right + 1e-9]
        if len(within) <= MOST_TICKS:
            return within
    return within[:: math.ceil(len(within) / MOST_TICKS)]
