"""Bounded pieces of texts of any size."""

import re

GAP = " … "
_NOTE = re.compile(r"[ \n]… (\d{1,12}) characters left out …[ \n]")
_LONGEST_EXCERPT = 1 << 16  # characters; no longer text is an excerpt itself


def shorten(text: str, most: int) -> str:
    """Return head and tail of a text, at most `most` characters, and how many are left out.

    A text that is an excerpt already says how many it lacks; those are counted as well.
    """
    if len(text) <= most:
        return text
    before = _left_out(text)
    longest_note = f"{GAP}{len(text) + before} characters left out{GAP}"
    kept = max(0, most - len(longest_note))
    head = kept * 2 // 3
    tail = text[len(text) - kept + head :]
    left_out = len(text) - kept + _left_out(text[head : len(text) - len(tail)])
    return f"{text[:head]}{GAP}{left_out} characters left out{GAP}{tail}"


def _left_out(text: str) -> int:
    """How many characters more were left out than the notes in an excerpt are long."""
    if len(text) > _LONGEST_EXCERPT:
        return 0
    return sum(max(0, int(note[1]) - len(note[0])) for note in _NOTE.finditer(text))


def around(text: str, position: int, most: int) -> str:
    """At most `most` characters of a text around a position, dots where it goes on."""
    start = max(0, min(position - most // 3, len(text) - most))
    end = start + most
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")


def writable(text: str) -> str:
    """The text with what UTF-8 cannot carry, lone surrogates, written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()
