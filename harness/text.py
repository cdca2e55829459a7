"""Texts from models and data, made safe to show on a terminal."""

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from pydantic import BaseModel

M = TypeVar("M", bound="BaseModel")

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


def writable_copy(model: M) -> M:
    """Return a model with the lone surrogates of all its texts escaped."""
    return type(model).model_validate(_writable_value(model.model_dump(by_alias=True)))


def _writable_value(value: Any) -> Any:
    match value:
        case str() if type(value) is str:  # enumerations are texts too
            return writable(value)
        case dict():
            items = cast("dict[Any, Any]", value).items()
            return {_writable_value(name): _writable_value(each) for name, each in items}
        case list() | tuple():
            return [_writable_value(each) for each in cast("Sequence[Any]", value)]
        case _:
            return value


def fenced(text: str, word: str = "") -> str:
    """Return a Markdown code block of a text, with a fence that does not occur in it.

    Args:
        text: the text.
        word: the word after the fence, which names a language.
    """
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{word}\n{text}\n{fence}"
