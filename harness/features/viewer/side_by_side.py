"""Two texts side by side, line by line."""

from dataclasses import dataclass
from itertools import zip_longest

from harness.features.viewer.excerpts import cut

MOST_ROWS = 200


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
