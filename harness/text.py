"""Texts from models and data, made safe to show on a terminal."""

import codecs
import re
import unicodedata
from collections.abc import Sequence

UNKNOWN = "unknown"
"""What stands for a value that nobody knows, wherever it is shown."""

_HARMLESS = "\n\t"


def printable(text: str) -> str:
    """The text with control and other invisible characters spelled out.

    A terminal acts on escape sequences and direction marks; whoever reads a transcript must see
    what was written, not have it done to them.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_visible, text))


def printable_line(text: str) -> str:
    """The same of a text that is to stay on one line, so that it cannot pass for two."""
    return printable(text).replace("\n", "\\n")


def _visible(letter: str) -> str:
    harmless = letter in _HARMLESS or letter.isprintable() or unicodedata.category(letter) == "Zs"
    return letter if harmless else letter.encode("unicode_escape").decode()


def percent(value: float) -> str:
    """A rate as people write it."""
    return f"{100 * value:.1f} %"


def interval(low: float, high: float) -> str:
    """The interval of a rate, in percent."""
    return f"{100 * low:.1f} to {100 * high:.1f}"


def figure(value: float | None) -> str:
    """A quantity to three digits; `unknown` where there is none."""
    if value is None:
        return "unknown"
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}"  # noqa: PLR2004 - three digits


def quantity(number: float) -> str:
    """A large number in three digits: `512k`, `1.23M`."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= 0.9995 * size:
            value = number / size
            digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2  # noqa: PLR2004
            return f"{value:.{digits}f}{unit}"
    return f"{number:,.0f}"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number and its noun."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def bad_rows(skipped: Sequence[Exception]) -> str:
    """How many rows were passed over, and why the first was."""
    return f"{count(len(skipped), 'bad row')} skipped, the first: {printable(str(skipped[0]))}"


def dollars(cost: float | None, prices_as_of: str | None = None) -> str:
    """A cost; unknown is never zero. Prices from a list are told with its date."""
    if cost is None:
        return "unknown"
    dated = f" (prices of {printable_line(prices_as_of)})" if prices_as_of else ""
    return (f"${cost:.4f}" if cost < 1 else f"${cost:,.2f}") + dated


GAP = " … "
_NOTE = re.compile(r"[ \n]… (\d{1,12}) characters left out …[ \n]")
_LONGEST_EXCERPT = 1 << 16  # characters; no longer text is an excerpt itself
_UTF8_BYTES = 4  # of a character, at most
_CONTINUES = 0b10  # the first two bits of a byte that does not begin a character
_PIECE = 1 << 20
_LARGE = 1 << 20  # bytes; from so many on not all of them are decoded at once


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


def shorten_bytes(data: bytes, most: int, errors: str) -> str:
    """Return what `shorten` makes of the text that UTF-8 data hold, decoding little at a time.

    A text takes up to four times the memory of its data: a single emoji makes every character of it
    four bytes.

    Args:
        data: what a program wrote.
        most: characters of the result.
        errors: how bytes that are no UTF-8 are decoded.
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
    """Return the first characters of the text that UTF-8 data hold, at most so many."""
    if len(data) <= most:
        return data.decode("utf-8", errors)
    end = _UTF8_BYTES * (most + 1)
    decoder = codecs.getincrementaldecoder("utf-8")(errors)
    return decoder.decode(data[:end], final=end >= len(data))[:most]


def count_characters(data: bytes, errors: str) -> int:
    """Return how long the text is that UTF-8 data hold."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors)
    starts = range(0, len(data), _PIECE)
    whole = sum(len(decoder.decode(data[start : start + _PIECE])) for start in starts)
    return whole + len(decoder.decode(b"", final=True))


def character_start(data: bytes, at: int) -> int:
    """Return the next place from which UTF-8 data can be decoded as from their beginning."""
    for place in range(at, at + _UTF8_BYTES - 1):
        if data[place] >> 6 != _CONTINUES:
            return place
    return at + _UTF8_BYTES - 1


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
