"""Tables and their parts: columns that fit the window, rates with intervals, named facts.

It is drawn without rich's tables: a live table is drawn several times a second, and a run may have
ten thousand rows, for which rich takes seconds.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.color import ColorSystem
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text

from harness.stats.rates import Rate
from harness.text import interval, percent, printable_line

CHROME = 4
"""Lines of a table that are not rows: top, head, the line below it, bottom."""
_ASCII = str.maketrans("┃│━─╸┏┳┓┡╇┩└┴┘╭╮╰╯", "||---" + "+" * 13)
_PLAIN = Style()
_COLOURS = {
    "standard": ColorSystem.STANDARD,
    "256": ColorSystem.EIGHT_BIT,
    "truecolor": ColorSystem.TRUECOLOR,
}


class Cell(NamedTuple):
    """A text and its style."""

    text: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        name: the heading.
        right: whether cells are aligned to the right, as numbers are.
        leaves: order in which the column is dropped if there is no room; 0 for never.
        least: smallest width in characters, to which it is cut before any column is dropped; None
            if it is never cut.
        middle: whether cells are cut in the middle, since names often differ at their ends.
    """

    name: str
    right: bool = False
    leaves: int = 0
    least: int | None = None
    middle: bool = False


def fit(columns: Sequence[Column], wanted: Sequence[int], width: int) -> list[tuple[int, int]]:
    """Return the index and width of each column that fits.

    Args:
        columns: all columns.
        wanted: width of each column's widest cell.
        width: width of the table, including borders.
    """
    kept = list(range(len(columns)))
    cut = [_least(column, wanted[place]) for place, column in enumerate(columns)]
    for place in sorted(kept, key=lambda place: columns[place].leaves):
        if columns[place].leaves and _width(kept, cut) > width:
            kept.remove(place)
    room = width - _width(kept, cut)
    widths = {place: cut[place] for place in kept}
    for place in kept:
        more = min(max(0, room), wanted[place] - cut[place])
        widths[place] += more
        room -= more
    for place in kept:  # the window is too narrow: cut further where possible
        if room < 0 and columns[place].least is not None:
            widths[place] = max(1, widths[place] + room)
    return list(widths.items())


def _least(column: Column, wanted: int) -> int:
    return wanted if column.least is None else min(wanted, max(column.least, len(column.name)))


def _width(kept: Sequence[int], widths: Sequence[int]) -> int:
    return sum(widths[place] + 3 for place in kept) + 1


class Grid:
    """Rows below a heading.

    Args:
        columns: the columns.
        rows: a cell per column, with printable text in one line.
        expand: whether a column that can be cut takes all remaining width.
        width: width of the table; default: the window's.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        rows: Iterable[Sequence[Cell]],
        *,
        expand: bool = False,
        width: int | None = None,
    ) -> None:
        self._columns = columns
        self._rows = list(rows)
        self._expand = expand
        self._width = width

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines."""
        for line in self.lines(console, options):
            yield from line
            yield Segment.line()

    def lines(self, console: Console, options: ConsoleOptions) -> Iterator[list[Segment]]:
        """Yield the lines, without line ends."""
        width = self._width or options.max_width
        placed = fit(self._columns, self._wanted(width), width)
        heads = [Cell(self._columns[place].name, "bold") for place, _ in placed]
        dim = console.get_style("dim")

        def rule(left: str, middle: str, right: str, line: str) -> list[Segment]:
            text = left + middle.join(line * (size + 2) for _, size in placed) + right
            return [Segment(drawn(text, options), dim)]

        def row(cells: Sequence[Cell], border: str) -> list[Segment]:
            border = drawn(border, options)
            parts = [Segment(f"{border} ", dim)]
            for number, ((place, size), cell) in enumerate(zip(placed, cells, strict=True), 1):
                style = console.get_style(cell.style) if cell.style else _PLAIN
                column = self._columns[place]
                cut = middle_cut(cell.text, size) if column.middle else cell.text
                text = fitted(cut, size, right=column.right)
                parts.append(Segment(text, style))
                parts.append(Segment(f" {border}{' ' if number < len(placed) else ''}", dim))
            return parts

        yield rule("┏", "┳", "┓", "━")
        yield row(heads, "┃")
        yield rule("┡", "╇", "┩", "━")
        for cells in self._rows:
            yield row([cells[place] for place, _ in placed], "│")
        yield rule("└", "┴", "┘", "─")

    def _wanted(self, width: int) -> list[int]:
        wanted = [
            max((cell_len(row[place].text) for row in self._rows), default=0)
            for place in range(len(self._columns))
        ]
        wanted = [
            max(size, len(column.name)) for size, column in zip(wanted, self._columns, strict=True)
        ]
        if not self._expand:
            return wanted
        return [
            width if column.least is not None else size
            for size, column in zip(wanted, self._columns, strict=True)
        ]


def fitted(text: str, width: int, *, right: bool = False) -> str:
    """Return a text of exactly `width` characters; an ellipsis marks what is cut off."""
    if not text.isascii() or len(text) > width:
        size = cell_len(text)
        if size > width:
            return set_cell_size(text, width - 1) + "…" if width > 1 else "…"[:width]
        return " " * (width - size) + text if right else text + " " * (width - size)
    return text.rjust(width) if right else text.ljust(width)


def middle_cut(text: str, width: int) -> str:
    """Return a text of at most `width` characters, cut in the middle if longer."""
    if len(text) <= width or width < 3:  # noqa: PLR2004 - a character on both sides of the ellipsis
        return text
    tail = (width - 1) // 2
    return f"{text[: width - 1 - tail]}…{text[-tail:]}"


def drawn(text: str, options: ConsoleOptions) -> str:
    """Return lines of boxes in characters that the terminal can display."""
    return text.translate(_ASCII) if options.ascii_only else text


def painted(line: Iterable[Segment], console: Console) -> str:
    """Return a line with escape codes for the colors of the terminal."""
    colours = _COLOURS.get(console.color_system or "")
    parts: list[str] = []
    for text, style, _ in line:
        if style and colours is not None:
            kept = style.without_color if console.no_color else style
            parts.append(kept.render(text, color_system=colours))
        else:
            parts.append(text)
    return "".join(parts)


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
