"""How a rule says what differs: a place, and bounded excerpts of both sides."""

from harness.grading.excerpts import around, writable
from harness.grading.verdict import Difference

EXCERPT = 160
_LONGEST_FACTOR = 32
_LONGEST_EXTRA = 1 << 20


def difference(where: str, expected: str, got: str, position: int = 0) -> Difference:
    """A difference with excerpts, at most `EXCERPT` characters, around a position."""
    return Difference(
        where=where,
        expected=writable(around(expected, position, EXCERPT)),
        got=writable(around(got, position, EXCERPT)),
    )


def first_difference(left: str, right: str) -> int:
    """The position of the first character that differs, found by halving."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def longest_right(expected: str) -> int:
    """Return beyond which length, in characters or bytes, no output is compared: it is wrong."""
    return _LONGEST_FACTOR * len(expected) + _LONGEST_EXTRA


def counted(count: int, noun: str) -> str:
    """A number of things, as `1 line` or `3 lines`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
