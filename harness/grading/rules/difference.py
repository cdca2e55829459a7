"""Differences that rules report: a place, and bounded excerpts of both sides."""

from collections.abc import Callable

from harness.grading.verdict import Difference
from harness.text import around, writable

EXCERPT = 160
_LONGEST_FACTOR = 32
_LONGEST_EXTRA = 1 << 20


def difference(where: str, expected: str, got: str, position: int = 0) -> Difference:
    """Return a difference with excerpts of at most `EXCERPT` characters around a position."""
    return Difference(
        where=where,
        expected=writable(around(expected, position, EXCERPT)),
        got=writable(around(got, position, EXCERPT)),
    )


def first_difference(left: str, right: str) -> int:
    """Return the position of the first character that differs, by binary search."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def longest_right(expected: str) -> int:
    """Return the length, in characters or bytes, beyond which every output is wrong."""
    return _LONGEST_FACTOR * len(expected) + _LONGEST_EXTRA


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, as `1 line` or `3 lines`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


Same = Callable[[str, str], bool]


def first_unequal_line(expected: str, got: str, same: Same) -> Difference | None:
    """Return the first line that differs, comparing stripped lines of stripped texts.

    Args:
        expected: expected output.
        got: printed output.
        same: whether two stripped lines, the expected one first, count as equal.
    """
    wanted, printed = expected.strip(), got.strip()
    if wanted == printed:
        return None
    lines_wanted, lines_printed = wanted.count("\n") + 1, printed.count("\n") + 1
    first = _first_of_common(wanted, printed, min(lines_wanted, lines_printed), same)
    return with_counts(first, lines_wanted, lines_printed)


def with_counts(first: Difference | None, wanted: int, printed: int) -> Difference | None:
    """Add the numbers of expected and printed lines to a difference, if they differ."""
    if first is None or wanted == printed:
        return first
    counts = f"{counted(wanted, 'line')} expected, {printed} printed"
    return first.model_copy(update={"where": f"{first.where} ({counts})"})


def _first_of_common(wanted: str, printed: str, common: int, same: Same) -> Difference | None:
    """Return where the first `common` lines, or the next line of either text, differ."""
    # Split once more than that: the rest of the longer text stays in one piece.
    left_lines, right_lines = wanted.split("\n", common), printed.split("\n", common)
    pairs = zip(left_lines[:common], right_lines[:common], strict=True)
    for number, (left, right) in enumerate(pairs, 1):
        found = line_difference(number, left.strip(), right.strip(), same)
        if found is not None:
            return found
    if len(left_lines) == len(right_lines):
        return None
    left, right = _first_line(left_lines[common:]), _first_line(right_lines[common:])
    return difference(f"line {common + 1}, column 1", left, right)


def _first_line(rest: list[str]) -> str:
    return rest[0].partition("\n")[0].strip() if rest else ""


def line_difference(number: int, left: str, right: str, same: Same) -> Difference | None:
    """Return where two stripped lines first differ."""
    if left == right or same(left, right):
        return None
    column = first_difference(left, right)
    return difference(f"line {number}, column {column + 1}", left, right, column)
