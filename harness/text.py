"""Texts from models and data, made safe to show on a terminal."""

import unicodedata
from collections.abc import Sequence

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
    """A quantity to three digits; `n/a` where there is none."""
    if value is None:
        return "n/a"
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}"  # noqa: PLR2004 - three digits


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
