"""Checkers of numbers that are right within a tolerance.

Each function returns a checker for one tolerance: AtCoder's statements take an absolute or a
relative error, LeetCode's an absolute one. The error is that from the data's own answer. One of
just the tolerance is right.
"""

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from collections.abc import Callable, Collection
from math import isfinite
from typing import Any

_EDGE = 1 + 1e-9
_FARTHEST = 1e300


def printed_within(
    tolerance: float, *, exactly: Collection[str] = ()
) -> Callable[[str, str, str], bool]:
    """Return a checker of printed numbers: as many lines as expected, as many numbers in each.

    Args:
        tolerance: the largest right error, absolute or relative.
        exactly: expected outputs that no other text may stand for.
    """

    def check(_given: str, expected: str, answer: str) -> bool:
        wanted = expected.strip().split("\n")
        lines = answer.strip().split("\n", len(wanted))
        if expected.strip() in exactly or answer.strip() in exactly:
            return answer.strip() == expected.strip()
        return len(lines) == len(wanted) and all(map(same_line, wanted, lines))

    def same_line(wanted: str, line: str) -> bool:
        numbers = wanted.split()
        tokens = line.split(None, len(numbers))
        return len(tokens) == len(numbers) and all(
            is_near(wanted, _number(token), tolerance * max(1.0, abs(wanted or 0)))
            for wanted, token in zip(map(_number, numbers), tokens, strict=True)
        )

    return check


def returned_within(tolerance: float) -> Callable[[Any, Any, Any], bool]:
    """Return a checker of a returned number, or of a list of numbers, nested or not.

    Args:
        tolerance: the largest right error, absolute.
    """

    def check(_arguments: Any, expected: Any, answer: Any) -> bool:
        if isinstance(expected, list):
            wanted: list[Any] = expected
            found: list[Any] = answer if isinstance(answer, list) else []
            return (
                isinstance(answer, list)
                and len(found) == len(wanted)
                and all(check(None, *pair) for pair in zip(wanted, found, strict=True))
            )
        return is_near(expected, answer, tolerance)

    return check


def is_near(wanted: Any, got: Any, error: float) -> bool:
    """Return whether both are finite numbers that differ by at most an error."""
    if not isinstance(wanted, int | float) or not isinstance(got, int | float):
        return False
    if not -_FARTHEST <= got <= _FARTHEST or not -_FARTHEST <= wanted <= _FARTHEST:
        return False  # NaN and infinity are here, too
    return abs(wanted - got) <= error * _EDGE


def _number(token: str) -> float | None:
    try:
        number = float(token)
    except ValueError:
        return None
    return number if isfinite(number) else None
