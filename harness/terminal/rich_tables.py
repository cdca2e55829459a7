"""Small tables: figures, rates with intervals, texts, named facts."""

from collections.abc import Iterable

from rich import box
from rich.table import Table
from rich.text import Text

from harness.figures import UNKNOWN, interval, percent
from harness.stats.rates import Rate
from harness.text import printable_line


def figures_table(*columns: str, rows: Iterable[Iterable[str | Text]] = ()) -> Table:
    """Return a table whose first column names what the others count.

    On a narrow terminal cells are folded, not cut: `1…` must not stand for 100 %.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        side = "left" if column == columns[0] else "right"
        table.add_column(column, justify=side, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def rates_table(*rates: tuple[str, Rate | None], title: str = "") -> Table:
    """Return a table of the rates that exist, with their intervals."""
    table = figures_table(title, "rate", "95 % interval", "problems")
    for name, rate in rates:
        if rate is not None:
            ends = interval(rate.low, rate.high)
            cells = percent(rate.value), ends, str(rate.problems)
            table.add_row(printable_line(name) or UNKNOWN, *cells)
    return table


def words_table(columns: Iterable[str], rows: Iterable[Iterable[str]] = ()) -> Table:
    """Return a table of texts, which are folded where they are too long."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable_line(cell)) for cell in row))
    return table


def facts(named: Iterable[tuple[str, str]]) -> Table:
    """Return names and values, to show below a table of rates."""
    table = Table.grid(padding=(0, 2))
    for name, figures in named:
        table.add_row(Text(name, style="bold"), Text(printable_line(figures)))
    return table
