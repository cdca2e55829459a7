"""Texts from models and data, made safe to show on a terminal."""

import re
import unicodedata
from collections.abc import Sequence

_HARMLESS = "\n\t"


def printable(text: str) -> str:
    """Escape control characters and other invisible characters.

    A terminal acts on escape sequences and direction marks; a reader must see them instead.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_visible, text))


def printable_line(text: str) -> str:
    """Escape a text like `printable`, including line breaks."""
    return printable(text).replace("\n", "\\n")


def _visible(letter: str) -> str:
    harmless = letter in _HARMLESS or letter.isprintable() or unicodedata.category(letter) == "Zs"
    return letter if harmless else letter.encode("unicode_escape").decode()


def first_few(names: Sequence[str], most: int = 5) -> str:
    """Return the first names, and how many more there are, on one line."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return printable_line(", ".join(names[:most])) + more


def writable(text: str) -> str:
    """Escape lone surrogates, which UTF-8 cannot encode."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def fenced(text: str, word: str = "") -> str:
    """Return a Markdown code block of a text, with a fence that does not occur in it.

    Args:
        text: the text.
        word: the word after the fence, which names a language.
    """
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{word}\n{text}\n{fence}"
