"""Figures as text: rates, quantities, counts, dollars."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness.text import printable, printable_line

if TYPE_CHECKING:
    from harness.stats.rates import Rate

UNKNOWN = "unknown"
"""Displayed in place of an unknown value."""

MINUTE, HOUR = 60, 3_600
SMALL = 0.001
"""US dollars below which a cost has more than four decimals."""


def percent(value: float) -> str:
    """Format a rate in percent."""
    return f"{100 * value:.1f} %"


def interval(low: float, high: float) -> str:
    """Format the interval of a rate in percent."""
    return f"{100 * low:.1f} to {100 * high:.1f}"


def rate_words(rate: "Rate | None") -> str:
    """Format a rate and its interval in percent; `unknown` if it is None."""
    return f"{percent(rate.value)} ({interval(rate.low, rate.high)})" if rate else UNKNOWN


def points(difference: float) -> str:
    """Format a difference of rates in percentage points, with its sign."""
    return f"{100 * difference:+.1f}"


def p_value(value: float) -> str:
    """Format a p-value: `0.0012`, or `< 0.001`."""
    return "< 0.001" if value < 0.001 else f"{value:.2g}"  # noqa: PLR2004


def p_words(value: float) -> str:
    """Format a p-value after the letter p: `= 0.0012`, or `< 0.001`."""
    text = p_value(value)
    return text if text.startswith("<") else f"= {text}"


def score(value: float | None) -> str:
    """Return a score between 0 and 1 with three decimals; a dash if there is none."""
    return "-" if value is None else f"{value:.3f}"


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


def clock(seconds: float) -> str:
    """Format a duration: `8.3 s`, `4:05`, `1:02:03`."""
    if seconds < MINUTE:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), MINUTE)
    if seconds < HOUR:
        return f"{minutes}:{rest:02}"
    return f"{minutes // MINUTE}:{minutes % MINUTE:02}:{rest:02}"


def counts(numbers: Mapping[str, int]) -> str:
    """Return the numbers of several kinds in one line."""
    return ", ".join(f"{words(name)} {number:,}" for name, number in numbers.items())


def words(name: str) -> str:
    """Return a verdict, a rule or a reason in words."""
    return name.replace("_", " ")


def dollars(cost: float | None, prices_as_of: str | None = None) -> str:
    """Format a cost, `unknown` if None; list prices get the date of the list.

    A small cost has two significant digits, so that it does not become 0.
    """
    if cost is None:
        return "unknown"
    dated = f" (prices of {printable_line(prices_as_of)})" if prices_as_of else ""
    digits = 2 if cost >= 1 else 4 if cost >= SMALL or cost <= 0 else _digits(cost)
    return f"${cost:,.{digits}f}{dated}"


def _digits(cost: float) -> int:
    """Return the decimals that show two significant digits of a small cost."""
    return 1 - math.floor(math.log10(float(f"{cost:.1e}")))


def bad_rows(skipped: Sequence[Exception]) -> str:
    """Return the number of skipped rows, and why the first was skipped."""
    return f"{count(len(skipped), 'bad row')} skipped, the first: {printable(str(skipped[0]))}"


def number_range(low: int, high: int) -> str:
    """Format a range of whole numbers, as one number if both ends are the same."""
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
