"""Comparison of a program's output as bytes, without a copy of it as text.

As text an output takes up to four times its memory, since a single emoji makes every character four
bytes; each strip and split is another copy. So a large output is compared as bytes, a line at a
time. One that is far longer than the expected text is wrong without comparison.
"""

import re
from collections.abc import Callable, Iterator

from harness.grading.rules.difference import (
    Same,
    difference,
    first_difference,
    line_difference,
    longest_right,
    with_counts,
)
from harness.grading.verdict import Difference
from harness.text import character_start, decode_head

ERRORS = "surrogateescape"
"""Error handler for decoding bytes that are not UTF-8."""

_PIECE = 1 << 16
# The characters that `str.strip` removes, in UTF-8.
_BLANK = re.compile(
    rb"(?:[\t-\r\x1c- ]|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]"
    rb"|\xe2\x81\x9f|\xe3\x80\x80)*+"
)


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
    found = _first_unequal(wanted, got, start, end, same)
    if found is None and lines_wanted != lines_printed:
        found = _after_common(wanted, got, start, end, min(lines_wanted, lines_printed))
    return with_counts(found, lines_wanted, lines_printed)


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
        found = line_difference(number, left, right, same)
        if found is not None:
            return found
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
