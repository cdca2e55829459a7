"""Expected output beside actual output, line by line."""

from dataclasses import dataclass
from itertools import zip_longest

from harness.text import printable

SHOWN = 6_000
"""Characters of one text within a conversation; the rest is a link away."""
PAGE = 100_000
"""Characters of a text on a page of its own."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The beginning of a text, or all of it.

    Attributes:
        text: with control and invisible characters spelled out.
        left: how many characters are left out after it.
    """

    text: str
    left: int = 0


def cut(text: str, most: int = SHOWN, start: int = 0) -> Cut:
    """So much of a text as a page shows, from a place on."""
    return Cut(printable(text[start : start + most]), max(0, len(text) - start - most))


MOST_LINES = 200
LONGEST_LINE = 2_000


@dataclass(frozen=True, slots=True)
class AlignedLine:
    """A line of both; None where one has no such line."""

    number: int
    expected: str | None
    got: str | None
    differs: bool


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Two texts side by side.

    Attributes:
        left: how many lines are left out.
        numbered: whether the numbers of the lines are those of the whole texts.
    """

    lines: tuple[AlignedLine, ...]
    left: int
    numbered: bool = True


def beside(expected: str, got: str, *, numbered: bool = True) -> SideBySide:
    """Two texts side by side, by the numbers of their lines; so are they judged."""
    here, there = expected.strip("\n").split("\n"), got.strip("\n").split("\n")
    pairs = list(zip_longest(here[:MOST_LINES], there[:MOST_LINES]))
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
    """A line without the spaces around it, which no rule minds."""
    return None if line is None else line.strip()
