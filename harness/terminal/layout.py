"""What tables are made of: columns of figures, rates with their intervals, named facts."""

from collections.abc import Iterable

from rich import box
from rich.table import Table
from rich.text import Text

from harness.stats.rates import Rate
from harness.text import interval, percent, printable_line


def figures_table(*columns: str) -> Table:
    """A table whose first column names what the others count.

    On a narrow terminal cells are folded, never cut: `1…` is no way to write 100 %.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        side = "left" if column == columns[0] else "right"
        table.add_column(column, justify=side, overflow="fold")
    return table


def rates_table(*rates: tuple[str, Rate | None]) -> Table:
    """The headline rate and those beside it that there are."""
    table = figures_table("", "rate", "95 % interval", "problems")
    for name, rate in rates:
        if rate is not None:
            table.add_row(name, *rate_cells(rate))
    return table


def rate_cells(rate: Rate) -> tuple[str, str, str]:
    """A rate, its interval and of how many problems it is."""
    return percent(rate.value), interval(rate.low, rate.high), str(rate.problems)


def facts(named: Iterable[tuple[str, str]]) -> Table:
    """Names and their figures, below a table of rates."""
    table = Table.grid(padding=(0, 2))
    for name, figures in named:
        table.add_row(Text(name, style="bold"), Text(printable_line(figures)))
    return table
