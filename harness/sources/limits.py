"""Limits of a test that a data set sets: which values count, for all readers."""

import math

from harness.errors import DataError

MOST_SECONDS = 3_600
"""Most CPU seconds of a test: more is a mistake, and one solution would hold a worker for days."""
LEAST_SECONDS = 0.001
MOST_MEBIBYTES = 1 << 20


def seconds(value: object, where: str, field: str) -> float:
    """Return a limit of CPU seconds. Raises DataError."""
    return number(value, LEAST_SECONDS, MOST_SECONDS, where, field)


def mebibytes(value: object, where: str, field: str, most: int = MOST_MEBIBYTES) -> int:
    """Return a limit given in whole MiB, in bytes. Raises DataError."""
    given = number(value, 1, most, where, field)
    if given != int(given):
        raise DataError(where, field, f"{value!r:.60} is not a whole number of MiB")
    return int(given) << 20


def number(value: object, least: float, most: float, where: str, field: str) -> float:
    """Return a number within bounds; YAML makes texts of some numbers, such as 1e3.

    Raises:
        DataError: it is none, or outside of them.
    """
    given = math.nan
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            given = float(value)
        except (ValueError, OverflowError):
            given = math.nan
    if not least <= given <= most:
        what = f"{value!r:.60} is not a number from {least:g} to {most:,}"
        raise DataError(where, field, what)
    return given
