"""Differences that rules report, and comparison of printed output as bytes.

As text an output takes up to four times its memory, since a single emoji makes every character four
bytes; each strip and split is another copy. So a large output is compared as bytes, a line at a
time. One that is far longer than the expected text is wrong without comparison.
"""

import re
from collections.abc import Callable, Iterator

from harness.excerpts import around, character_start, decode_head
from harness.grading.verdict import Difference
from harness.text import writable

EXCERPT = 160
_LONGEST_FACTOR = 32
_LONGEST_EXTRA = 1 << 20
ERRORS = "surrogateescape"
"""Error handler for decoding bytes that are not UTF-8."""
_PIECE = 1 << 16
# The characters that `str.strip` removes, in UTF-8.
_BLANK = re.compile(
    rb"(?:[\t-\r\x1c- ]|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]"
    rb"|\xe2\x81\x9f|\xe3\x80\x80)*+"
)


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


def never(_wanted: str, _printed: str) -> bool:
    """Count no two different lines as equal."""
    return False


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
        unlike = line_difference(number, left.strip(), right.strip(), same)
        if unlike is not None:
            return unlike
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


def of_bytes(
    rule: Callable[[str, str], Difference | None],
) -> Callable[[str, bytes], Difference | None]:
    """Return a rule that takes the output as bytes, from one that needs it as text.

    Args:
        rule: rule that accepts whatever equals the expected text but for white space around it.
    """

    def printed(expected: str, got: bytes) -> Difference | None:
        start, end = bounds(got)
        if _is(expected.strip(), got, start, end):
            return None
        if end - start > longest_right(expected):
            return _too_long(expected.strip(), got, start, end)
        return rule(expected, got.decode("utf-8", ERRORS))

    return printed


def first_unequal_printed(expected: str, got: bytes, same: Same) -> Difference | None:
    """Do `first_unequal_line` for an output as bytes.

    Unlike it, an output longer than `longest_right` of the expected text is wrong, and so is a line
    longer than that of the expected line.
    """
    wanted = expected.strip()
    start, end = bounds(got)
    if _is(wanted, got, start, end):
        return None
    if end - start > longest_right(expected):
        return _too_long(wanted, got, start, end)
    lines_wanted = wanted.count("\n") + 1
    lines_printed = got.count(b"\n", start, end) + 1
    unequal = _first_unequal(wanted, got, start, end, same)
    if unequal is None and lines_wanted != lines_printed:
        unequal = _after_common(wanted, got, start, end, min(lines_wanted, lines_printed))
    return with_counts(unequal, lines_wanted, lines_printed)


def _first_unequal(wanted: str, got: bytes, start: int, end: int, same: Same) -> Difference | None:
    """Return where the lines that both texts have first differ."""
    pairs = zip(_lines(wanted), _slices(got, start, end), strict=False)
    for number, (line, (at, stop)) in enumerate(pairs, 1):
        left = line.strip()
        if stop - at > longest_right(left):
            right = decode_head(got[at : at + longest_right(left)], longest_right(left), ERRORS)
            column = first_difference(left, right.lstrip())
            return difference(f"line {number}, column {column + 1}", left, right.lstrip(), column)
        right = got[at:stop].decode("utf-8", ERRORS).strip()
        unlike = line_difference(number, left, right, same)
        if unlike is not None:
            return unlike
    return None


def _after_common(wanted: str, got: bytes, start: int, end: int, common: int) -> Difference:
    """Return the first line that only one of the texts has."""
    left = next((line for n, line in enumerate(_lines(wanted)) if n == common), "")
    spans = (span for n, span in enumerate(_slices(got, start, end)) if n == common)
    at, stop = next(spans, (end, end))
    right = decode_head(got[at : min(stop, at + _PIECE)], _PIECE, ERRORS)
    return difference(f"line {common + 1}, column 1", left.strip(), right.strip())


def _too_long(wanted: str, got: bytes, start: int, end: int) -> Difference:
    """Return where an output that is far too long first differs."""
    head = decode_head(got[start : start + longest_right(wanted)], longest_right(wanted), ERRORS)
    at = first_difference(wanted, head)
    line, column = head.count("\n", 0, at) + 1, at - head.rfind("\n", 0, at)
    where = f"line {line}, column {column} ({end - start:,} bytes printed, too many to be right)"
    return difference(where, wanted, head, at)


def _is(wanted: str, got: bytes, start: int, end: int) -> bool:
    """Return whether the decoded bytes at this place are the text."""
    if not len(wanted) <= end - start <= 4 * len(wanted):
        return False
    try:
        data = wanted.encode()
    except UnicodeEncodeError:  # lone surrogates, which decoded text cannot contain
        return False
    return len(data) == end - start and got.startswith(data, start)


def bounds(data: bytes) -> tuple[int, int]:
    """Return the bounds of the text that `str.strip` would leave of UTF-8 data."""
    match = _BLANK.match(data)
    start = match.end() if match else 0
    end = len(data)
    while end > start:
        at = start if end - start <= _PIECE else character_start(data, end - _PIECE)
        kept = data[at:end].decode("utf-8", ERRORS).rstrip()
        if kept:
            return start, at + len(kept.encode("utf-8", ERRORS))
        end = at
    return start, start


def _lines(text: str) -> Iterator[str]:
    at = 0
    while (stop := text.find("\n", at)) >= 0:
        yield text[at:stop]
        at = stop + 1
    yield text[at:]


def _slices(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each line of a part of some data."""
    while (stop := data.find(b"\n", start, end)) >= 0:
        yield start, stop
        start = stop + 1
    yield start, end
