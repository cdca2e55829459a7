"""Bounds on JSON texts, checked before they are parsed."""

import re

MOST_OUTSIDE = 1 << 20
"""Largest number of bytes outside of strings in a text of tests; about 40 per test."""


MOST_VALUES = 4 << 20
"""Largest number of values in a test's input or output."""


_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)


def check_mostly_strings(text: bytes) -> None:
    """Raise ValueError for a text that expands greatly when parsed: `[{},{},{}...]`.

    A string takes about the memory of its text. Text outside of strings takes up to 24 times its
    size: 45 MB of empty objects, which compress to 58 KB, take 1.2 GB.

    Raises:
        ValueError: more than `MOST_OUTSIDE` bytes of it are outside of strings.
    """
    outside = len(text)
    if outside <= MOST_OUTSIDE:
        return
    end = outside = 0
    for match in _STRING.finditer(text):
        outside += match.start() - end
        end = match.end()
        if outside > MOST_OUTSIDE:
            break
    if outside + (len(text) - end) > MOST_OUTSIDE:
        raise ValueError(f"more than {MOST_OUTSIDE:,} bytes of it are outside of strings")


def has_too_many_values(text: str) -> bool:
    """Return whether a text may hold more than `MOST_VALUES` values."""
    return len(text) > MOST_VALUES and sum(map(text.count, ",[{")) > MOST_VALUES
