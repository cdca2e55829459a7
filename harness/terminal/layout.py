"""Parts of tables: columns of numbers, rates with intervals, named facts."""

from collections.abc import Iterable

from rich import box
from rich.table import Table
from rich.text import Text

from harness.stats.rates import Rate
from harness.text import interval, percent, printable_line


def figures_table(*columns: str) -> Table:
    """Return a table whose first column names what the others count.

    On a narrow terminal cells are folded, not cut: `1…` must not stand for 100 %.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        side = "left" if column == columns[0] else "right"
        table.add_column(column, justify=side, overflow="fold")
    return table


def rates_table(*rates: tuple[str, Rate | None]) -> Table:
    """Return a table of the main rate and the other rates that exist."""
    table = figures_table("", "rate", "95 % interval", "problems")
    for name, rate in rates:
        if rate is not None:
            table.add_row(name, *rate_cells(rate))
    return table


def rate_cells(rate: Rate) -> tuple[str, str, str]:
    """Return a rate, its interval and its number of problems."""
    return percent(rate.value), interval(rate.low, rate.high), str(rate.problems)


def words_table(columns: Iterable[str], rows: Iterable[Iterable[str]] = ()) -> Table:
    """Return a table of texts, which are folded where they are too long."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable_line(cell)) for cell in row))
    return table


def number_range(low: int, high: int) -> str:
    """Format a range of whole numbers, as one number if both ends are the same."""
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def facts(named: Iterable[tuple[str, str]]) -> Table:
    """Return names and values, to show below a table of rates."""
    table = Table.grid(padding=(0, 2))
    for name, figures in named:
        table.add_row(Text(name, style="bold"), Text(printable_line(figures)))
    return table
