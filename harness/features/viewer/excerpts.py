"""Texts cut to a length that a page shows."""

from dataclasses import dataclass

from harness.text import printable

SHOWN = 6_000
"""Most characters of a text within a conversation; a link leads to the rest."""


PAGE = 100_000
"""Most characters of a text on its own page."""


FOLDED = 1_200
"""Characters above which an instruction or result is folded."""


FOLDED_LINES = 20


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


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A text, cut, and the name with which to request the rest."""

    text: str
    left: int
    name: str
    size: int

    @property
    def long(self) -> bool:
        """Whether the text should be folded."""
        return self.size > FOLDED or self.text.count("\n") >= FOLDED_LINES


def excerpt_of(text: str, name: str) -> Excerpt:
    """Return a text as far as it is shown; `name` is that with which to request the rest."""
    piece = cut(text.strip("\n"))
    return Excerpt(piece.text, piece.left, name, len(text))
