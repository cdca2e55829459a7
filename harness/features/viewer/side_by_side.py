"""Expected and actual output side by side, line by line."""

from dataclasses import dataclass
from itertools import zip_longest

from harness.text import printable

SHOWN = 6_000
"""Most characters of a text within a conversation; a link leads to the rest."""
PAGE = 100_000
"""Most characters of a text on its own page."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The beginning of a text, or all of it.

    Attributes:
        text: the text with control and invisible characters spelled out.
        left: number of characters omitted after it.
    """

    text: str
    left: int = 0


def cut(text: str, most: int = SHOWN, start: int = 0) -> Cut:
    """Return a part of a text, from `start`, that is short enough to show."""
    return Cut(printable(text[start : start + most]), max(0, len(text) - start - most))


MOST_LINES = 200
LONGEST_LINE = 2_000


@dataclass(frozen=True, slots=True)
class AlignedLine:
    """A line of both texts; None for a text without that line."""

    number: int
    expected: str | None
    got: str | None
    differs: bool


@dataclass(frozen=True, slots=True)
class SideBySide:
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
    """Return a line without surrounding spaces, which all rules ignore."""
    return None if line is None else line.strip()
