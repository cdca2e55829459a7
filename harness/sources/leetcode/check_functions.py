"""Texts of the assertions of a `check` function."""

import re
from itertools import pairwise

from harness.sources.literals import (
    UnreadableError,
)

_HEAD = re.compile(r"\s*def check\(candidate\):[ \t]*(?:#[^\n]*)?\r?\n")


_START = re.compile(r"^[ \t]+assert\b", re.MULTILINE)


def split_check(source: str) -> tuple[str, ...]:
    """Split a `check` function into the texts of its assertions, without parsing them.

    An assertion starts with a line and ends before the next one that starts with `assert`. Any
    other text in between becomes part of it and makes it unreadable.

    Raises:
        UnreadableError: the text does not start as such a function does.
    """
    head = _HEAD.match(source)
    if head is None:
        raise UnreadableError("not a function check(candidate)")
    starts = [match.start() for match in _START.finditer(source, head.end())]
    bounds = [*starts, len(source)]
    before = source[head.end() : bounds[0]].strip()
    if before and (starts or before != "pass"):
        raise UnreadableError(f"{before[:60]!r} is not an assertion")
    return tuple(source[start:end].strip() for start, end in pairwise(bounds))
