"""Texts of models, providers and judged programs as a page may show them: visible, and bounded."""

from dataclasses import dataclass

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
