"""Where two curves of solve rate over spend cross."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.stats.paired import CONFIDENCE
from harness.stats.rates import exact, student_quantile, tail_share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CrossingPoint:
    """Largest spend at which two curves cross.

    Attributes:
        at: mean spend at the crossing.
        low, high: ends of its 95 % interval; None where it is open, because the curves may not
            cross on that side at all.
        above: 1 where the second curve is higher above the crossing, -1 where the first is.
    """

    at: float
    low: float | None
    high: float | None
    above: int


def crossing(
    at: Sequence[float],
    difference: Sequence[float],
    drawn: "Floats",
    problems: int,
    confidence: float = CONFIDENCE,
) -> CrossingPoint | None:
    """Return where the difference of two curves changes its sign for the last time.

    Its interval reaches on either side to the nearest spend at which the curves differ
    significantly: E. C. Fieller's interval of a zero (Journal of the Royal Statistical Society B
    16, 1954, 175-185). It also holds the share `confidence` of the crossings in the resamples. A
    resample without a crossing has one before all spends, or after all, by the sign of its end.

    Args:
        at: mean spends, rising.
        difference: second curve minus first, at each spend.
        drawn: the same difference in each resample.
        problems: number of problems.
        confidence: coverage of the interval.

    Returns:
        None where the difference is 0 at the end, or has one sign throughout.
    """
    import numpy as np

    end = np.sign(exact(difference[-1]))
    if not end:
        return None
    above = np.array(difference) * end
    place = float(_last_below(at, above[None, :])[0])
    if not math.isfinite(place):
        return None
    tail = tail_share(problems, confidence)
    low, high = np.quantile(_last_below(at, drawn * end), (tail, 1 - tail), method="nearest")
    quantile = student_quantile(0.5 + confidence / 2, problems - 1)
    ends = quantile * math.sqrt(problems / (problems - 1)) * drawn.std(axis=0)
    spends = np.array(at)
    worse = spends[(above < -ends) & (spends <= place)]
    better = spends[(above > ends) & (spends >= place)]
    low = min(float(low), float(worse[-1]) if len(worse) else -math.inf)
    high = max(float(high), float(better[0]) if len(better) else math.inf)
    return CrossingPoint(
        place,
        low if math.isfinite(low) else None,
        high if math.isfinite(high) else None,
        int(end),
    )


def _last_below(at: Sequence[float], rows: "Floats") -> "Floats":
    """Return the last zero of each row, interpolated between spends; infinite if there is none."""
    import numpy as np

    spends = np.array(at)
    below = rows < -1e-12  # noqa: PLR2004 - rounding error of sums
    last = rows.shape[1] - 1 - below[:, ::-1].argmax(axis=1)
    crossings = np.full(len(rows), -np.inf)
    some = below.any(axis=1)
    at_end = some & (last == rows.shape[1] - 1)
    crossings[at_end] = np.inf
    inside = np.flatnonzero(some & ~at_end)
    here = last[inside]
    left, right = rows[inside, here], rows[inside, here + 1]
    share = left / (left - np.maximum(right, 0))
    crossings[inside] = spends[here] + share * (spends[here + 1] - spends[here])
    return crossings
