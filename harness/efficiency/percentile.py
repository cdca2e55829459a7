"""The percentile of a solution's time among the references."""

import math
from collections.abc import Sequence


def percentile(seconds: float, references: Sequence[float], doubt: float = 0.0) -> float | None:
    """Return the percentage of references slower than a solution; ties count half.

    This is the percentile rank by mid-ranks. A reference ties if its time differs by no more than
    the doubt.

    Args:
        seconds: time of the solution.
        references: time of each reference.
        doubt: half the width of the interval of the logarithm of the solution's time.

    Returns:
        Between 0 and 100; None where there is no reference.
    """
    if not references:
        return None
    ratio = math.exp(doubt)
    slower = sum(each > seconds * ratio for each in references)
    tied = sum(seconds / ratio <= each <= seconds * ratio for each in references)
    return 100 * (slower + tied / 2) / len(references)
