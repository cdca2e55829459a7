"""Parsing of a time limit: CPU seconds, or a multiple of a reference's time."""

import math
from typing import Any

from pydantic_core import PydanticCustomError

LONGEST_SECONDS = 7 * 86_400
REFERENCE = "reference*"
"""Prefix of a time limit given as a multiple of a reference's time."""


def read_test_timeout(value: Any, *, by_reference: bool = True) -> float | str:
    """Parse a CPU time limit per test: seconds, or `reference*FACTOR` if allowed.

    Raises:
        ValueError: it is neither; the message says what to give.
    """
    if by_reference and isinstance(value, str) and value.strip().startswith("reference"):
        text = value.strip()
        if factor_of(text) is None:
            raise ValueError("give reference*FACTOR, as reference*4, with a factor of more than 0")
        return text
    try:
        seconds = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not 0 < seconds <= LONGEST_SECONDS:
        most = f"more than 0, at most {LONGEST_SECONDS:g}"
        other = ", or reference*FACTOR" if by_reference else ""
        raise ValueError(f"give CPU seconds, {most}{other}")
    return seconds


def factor_of(test_timeout: float | str | None) -> float | None:
    """Return the factor of `reference*FACTOR`; None for other limits."""
    if not isinstance(test_timeout, str) or not test_timeout.startswith(REFERENCE):
        return None
    try:
        factor = float(test_timeout.removeprefix(REFERENCE))
    except ValueError:
        return None
    return factor if 0 < factor < math.inf else None


def validated_timeout(value: Any) -> float | str | None:
    """Return a setting's time limit. Raises PydanticCustomError."""
    try:
        return None if value is None else read_test_timeout(value)
    except ValueError as error:
        raise PydanticCustomError("test_timeout", "{why}", {"why": str(error)}) from error
