"""What the flags say of how solutions are timed."""

from typing import cast, get_args

from harness.errors import UsageError
from harness.grading.efficiency.scale import Timing


def timing_of(word: str) -> Timing:
    """How, from a flag. Raises UsageError."""
    known = get_args(Timing)
    if word not in known:
        raise UsageError(f"--timing {word}: known are {', '.join(known)}")
    return cast("Timing", word)
