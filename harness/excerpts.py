"""Excerpts of long texts and outputs."""

import codecs
import re

GAP = " … "
_NOTE = re.compile(r"[ \n]… (\d{1,12}) characters left out …[ \n]")
_LONGEST_EXCERPT = 1 << 16  # characters; longer texts are not themselves excerpts
_UTF8_BYTES = 4  # of a character, at most
_CONTINUES = 0b10  # first two bits of a byte that continues a character
_PIECE = 1 << 20
_LARGE = 1 << 20  # bytes; larger data is not decoded at once


def shorten(text: str, most: int) -> str:
    """Return head and tail of a text, and the omitted count, in `most` characters.

    If the text is already an excerpt, the characters it omits are counted as well.
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


def shorten_bytes(data: bytes, most: int, errors: str) -> str:
    """Return `shorten` of UTF-8 data, decoding little at a time.

    A text takes up to four times the memory of its data: a single emoji makes every character of
    it four bytes.

    Args:
        data: output of a program.
        most: characters of the result.
        errors: how to decode invalid UTF-8.
    """
    if len(data) <= _LARGE:
        return shorten(data.decode("utf-8", errors), most)
    characters = count_characters(data, errors)
    kept = max(0, most - len(f"{GAP}{characters} characters left out{GAP}"))
    head = decode_head(data, kept * 2 // 3, errors)
    last = kept - len(head)
    tail = data[character_start(data, len(data) - _UTF8_BYTES * (last + 1)) :]
    shown = tail.decode("utf-8", errors)[-last:] if last else ""
    return f"{head}{GAP}{characters - kept} characters left out{GAP}{shown}"


def decode_head(data: bytes, most: int, errors: str) -> str:
    """Return the first `most` characters of UTF-8 data."""
    if len(data) <= most:
        return data.decode("utf-8", errors)
    end = _UTF8_BYTES * (most + 1)
    decoder = codecs.getincrementaldecoder("utf-8")(errors)
    return decoder.decode(data[:end], final=end >= len(data))[:most]


def count_characters(data: bytes, errors: str) -> int:
    """Return the number of characters in UTF-8 data."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors)
    starts = range(0, len(data), _PIECE)
    whole = sum(len(decoder.decode(data[start : start + _PIECE])) for start in starts)
    return whole + len(decoder.decode(b"", final=True))


def character_start(data: bytes, at: int) -> int:
    """Return the next position at which a character of UTF-8 data starts."""
    for place in range(at, at + _UTF8_BYTES - 1):
        if data[place] >> 6 != _CONTINUES:
            return place
    return at + _UTF8_BYTES - 1


def _left_out(text: str) -> int:
    """Return how many more characters an excerpt omits than its notes are long."""
    if len(text) > _LONGEST_EXCERPT:
        return 0
    return sum(max(0, int(note[1]) - len(note[0])) for note in _NOTE.finditer(text))


def around(text: str, position: int, most: int) -> str:
    """Return at most `most` characters around a position, with dots at cut ends."""
    start = max(0, min(position - most // 3, len(text) - most))
    end = start + most
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")
