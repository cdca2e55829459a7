"""The changes between two programs, as lines, and two texts side by side."""

import difflib
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from harness.features.viewer.excerpts import cut
from harness.text import printable

MOST_LINES = 1_000
"""Most lines of each program that is compared."""


LONGEST_COMPARED = 60_000


CONTEXT = 3
MOST_ROWS = 200
LONGEST_LINE = 2_000


class DiffLine(NamedTuple):
    """A line of a difference.

    Attributes:
        kind: `same`, `added`, `removed`, or `gap` for omitted lines.
        number: line number in the newer program; None if it is not in it.
    """

    kind: str
    number: int | None
    text: str


def difference(old: str, new: str) -> tuple[DiffLine, ...] | None:
    """Return the changes between two programs, with a few lines of context.

    Returns:
        The lines; None if the programs are too long to compare, empty if they are the same.
    """
    if max(len(old), len(new)) > LONGEST_COMPARED:
        return None
    before, after = printable(old).split("\n"), printable(new).split("\n")
    if max(len(before), len(after)) > MOST_LINES:
        return None
    return tuple(_lines(before, after))


def _lines(before: list[str], after: list[str]) -> Iterator[DiffLine]:
    matcher = difflib.SequenceMatcher(None, before, after)
    for number, group in enumerate(matcher.get_grouped_opcodes(CONTEXT)):
        if number:
            yield DiffLine("gap", None, "⋯")
        for word, old_from, old_to, new_from, new_to in group:
            if word == "equal":
                for at in range(new_from, new_to):
                    yield DiffLine("same", at + 1, after[at])
                continue
            for at in range(old_from, old_to):
                yield DiffLine("removed", None, before[at])
            for at in range(new_from, new_to):
                yield DiffLine("added", at + 1, after[at])


class AlignedLine(NamedTuple):
    """A line of both texts; None for a text without that line."""

    number: int
    expected: str | None
    got: str | None
    differs: bool


class SideBySide(NamedTuple):
    """Two texts side by side.

    Attributes:
        left: number of lines omitted.
        numbered: whether line numbers are those of the whole texts.
    """

    lines: tuple[AlignedLine, ...]
    left: int
    numbered: bool = True


def beside(expected: str, got: str, *, numbered: bool = True) -> SideBySide:
    """Align two texts by line number, as they are judged."""
    here, there = expected.strip("\n").split("\n"), got.strip("\n").split("\n")
    pairs = list(zip_longest(here[:MOST_ROWS], there[:MOST_ROWS]))
    lines = tuple(
        AlignedLine(number, _shown(one), _shown(other), _bare(one) != _bare(other))
        for number, (one, other) in enumerate(pairs, 1)
    )
    return SideBySide(lines, max(len(here), len(there)) - len(lines), numbered)


def _shown(line: str | None) -> str | None:
    if line is None:
        return None
    piece = cut(line, LONGEST_LINE)
    return f"{piece.text} … {piece.left:,} more characters" if piece.left else piece.text


def _bare(line: str | None) -> str | None:
    """Return a line without surrounding spaces, which all rules ignore."""
    return None if line is None else line.strip()
