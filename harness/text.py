"""Texts from models and data, made safe to show on a terminal."""

import codecs
import math
import re
import unicodedata
from collections.abc import Sequence

UNKNOWN = "unknown"
"""Displayed in place of an unknown value."""

_CENTS, SMALL = 2, 0.001
"""Decimals of a cost of a dollar or more; costs in dollars that get more than four decimals."""

_HARMLESS = "\n\t"
GAP = " … "
_NOTE = re.compile(r"[ \n]… (\d{1,12}) characters left out …[ \n]")
_LONGEST_EXCERPT = 1 << 16  # characters; longer texts are not themselves excerpts
_UTF8_BYTES = 4  # of a character, at most
_CONTINUES = 0b10  # first two bits of a byte that continues a character
_PIECE = 1 << 20
_LARGE = 1 << 20  # bytes; larger data is not decoded at once


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


def percent(value: float) -> str:
    """Format a rate in percent."""
    return f"{100 * value:.1f} %"


def interval(low: float, high: float) -> str:
    """Format the interval of a rate in percent."""
    return f"{100 * low:.1f} to {100 * high:.1f}"


def points(difference: float) -> str:
    """Format a difference of rates in percentage points, with its sign."""
    return f"{100 * difference:+.1f}"


def figure(value: float | None) -> str:
    """Format a quantity to three digits; `unknown` if it is None."""
    if value is None:
        return "unknown"
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}"  # noqa: PLR2004 - three digits


def quantity(number: float) -> str:
    """Format a large number in three digits: `512k`, `1.23M`."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= 0.9995 * size:
            value = number / size
            digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2  # noqa: PLR2004
            return f"{value:.{digits}f}{unit}"
    return f"{number:,.0f}"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def first_few(names: Sequence[str], most: int = 5) -> str:
    """Return the first names, and how many more there are, on one line."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return printable_line(", ".join(names[:most])) + more


def bad_rows(skipped: Sequence[Exception]) -> str:
    """Return the number of skipped rows, and why the first was skipped."""
    return f"{count(len(skipped), 'bad row')} skipped, the first: {printable(str(skipped[0]))}"


def dollars(cost: float | None, prices_as_of: str | None = None) -> str:
    """Format a cost, `unknown` if None; list prices get the date of the list.

    A small cost has two significant digits, so that it does not become 0.
    """
    if cost is None:
        return "unknown"
    dated = f" (prices of {printable_line(prices_as_of)})" if prices_as_of else ""
    digits = _CENTS if cost >= 1 else 4 if cost >= SMALL or cost <= 0 else _digits(cost)
    return f"${cost:,.{digits}f}{dated}"


def _digits(cost: float) -> int:
    """Return the decimals that show two significant digits of a small cost."""
    return 1 - math.floor(math.log10(float(f"{cost:.1e}")))


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


def writable(text: str) -> str:
    """Escape lone surrogates, which UTF-8 cannot encode."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
