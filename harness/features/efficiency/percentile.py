"""The percentile of a solution's time among the references."""

import math
from collections.abc import Sequence

from harness.features.efficiency.beyond_interval import UncertainTime


def percentile(solution: UncertainTime, references: Sequence[UncertainTime]) -> float | None:
    """Return the percentage of references slower than a solution; ties count half.

    This is the percentile rank by mid-ranks. A reference ties if the 95 % interval of the
    difference of both logarithms holds 0.

    Args:
        solution: time of the solution.
        references: time of each reference.

    Returns:
        Between 0 and 100; None where there is no reference.
    """
    if not references:
        return None
    slower = 0.0
    for each in references:
        ratio = math.exp(math.hypot(each.doubt, solution.doubt))
        is_tied = solution.seconds / ratio <= each.seconds <= solution.seconds * ratio
        slower += 0.5 if is_tied else float(each.seconds > solution.seconds)
    return 100 * slower / len(references)
