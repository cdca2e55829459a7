"""Tables and their parts: columns that fit the window, rates with intervals, named facts.

It is drawn without rich's tables: a live table is drawn several times a second, and a run may have
ten thousand rows, for which rich takes seconds.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from decimal import Decimal
from typing import NamedTuple

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.color import ColorSystem
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text

from harness.run.summary.iteration import Curve
from harness.stats.rates import Rate
from harness.text import UNKNOWN, interval, percent, printable_line

CHROME = 4
"""Lines of a table that are not rows: top, head, the line below it, bottom."""
_ASCII = str.maketrans("┃│━─╸┏┳┓┡╇┩└┴┘╭╮╰╯", "||---" + "+" * 13)
_PLAIN = Style()
_COLOURS = {
    "standard": ColorSystem.STANDARD,
    "256": ColorSystem.EIGHT_BIT,
    "truecolor": ColorSystem.TRUECOLOR,
}
MOST_ROWS = 6  # per kind; all are in summary.json
BAR = 20  # characters for 100 %
ROOM_FOR_BARS = 70  # columns
EIGHTHS = " ▏▎▍▌▋▊▉"


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


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows below a heading.

    Args:
        columns: the columns.
        rows: a cell per column, with printable text in one line.
        expand: whether a column that can be cut takes all remaining width.
        width: width of the table; default: the window's.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    _: KW_ONLY
    expand: bool = False
    width: int | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines."""
        for line in self.lines(console, options):
            yield from line
            yield Segment.line()

    def lines(self, console: Console, options: ConsoleOptions) -> Iterator[list[Segment]]:
        """Yield the lines, without line ends."""
        width = self.width or options.max_width
        placed = fit(self.columns, self._wanted(width), width)
        heads = [Cell(self.columns[place].name, "bold") for place, _ in placed]
        dim = console.get_style("dim")

        def rule(left: str, middle: str, right: str, line: str) -> list[Segment]:
            text = left + middle.join(line * (size + 2) for _, size in placed) + right
            return [Segment(drawn(text, options), dim)]

        def row(cells: Sequence[Cell], border: str) -> list[Segment]:
            border = drawn(border, options)
            parts = [Segment(f"{border} ", dim)]
            for number, ((place, size), cell) in enumerate(zip(placed, cells, strict=True), 1):
                style = console.get_style(cell.style) if cell.style else _PLAIN
                column = self.columns[place]
                cut = middle_cut(cell.text, size) if column.middle else cell.text
                text = fitted(cut, size, right=column.right)
                parts.append(Segment(text, style))
                parts.append(Segment(f" {border}{' ' if number < len(placed) else ''}", dim))
            return parts

        yield rule("┏", "┳", "┓", "━")
        yield row(heads, "┃")
        yield rule("┡", "╇", "┩", "━")
        for cells in self.rows:
            yield row([cells[place] for place, _ in placed], "│")
        yield rule("└", "┴", "┘", "─")

    def _wanted(self, width: int) -> list[int]:
        wanted = [
            max((cell_len(row[place].text) for row in self.rows), default=0)
            for place in range(len(self.columns))
        ]
        wanted = [
            max(size, len(column.name)) for size, column in zip(wanted, self.columns, strict=True)
        ]
        if not self.expand:
            return wanted
        return [
            width if column.least is not None else size
            for size, column in zip(wanted, self.columns, strict=True)
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


def number_range(low: int, high: int) -> str:
    """Format a range of whole numbers, as one number if both ends are the same."""
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def facts(named: Iterable[tuple[str, str]]) -> Table:
    """Return names and values, to show below a table of rates."""
    table = Table.grid(padding=(0, 2))
    for name, figures in named:
        table.add_row(Text(name, style="bold"), Text(printable_line(figures)))
    return table


Row = tuple[str, float | None, float]
"""A row's name, rate passing the public tests, and rate solved."""


@dataclass(frozen=True)
class CurveView:
    """The table, with bars if the terminal is wide enough.

    Args:
        curve: curve of a run with several revisions per sample.
    """

    curve: Curve

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        bars = options.max_width >= ROOM_FOR_BARS
        yield self._table(bars=bars, ascii_only=options.ascii_only)

    def _table(self, *, bars: bool, ascii_only: bool) -> Table:
        table = figures_table("so far", "passed public", "solved")
        if bars:
            table.add_column("", no_wrap=True)
        for rows in _kinds(self.curve):
            for name, public, solved in _telling(rows):
                cells = [name, "" if public is None else percent(public), percent(solved)]
                table.add_row(*cells, *([bar(solved, ascii_only=ascii_only)] if bars else []))
            table.add_section()
        return table


def bar(share: float, *, ascii_only: bool = False) -> str:
    """Return a bar of up to `BAR` characters, precise to an eighth of one.

    Args:
        share: length, between 0 and 1.
        ascii_only: whether to use only ASCII characters, and whole ones.
    """
    if ascii_only:
        return "#" * round(share * BAR)
    whole, eighths = divmod(round(share * BAR * 8), 8)
    return "█" * whole + EIGHTHS[eighths].strip()


def _kinds(curve: Curve) -> Iterator[list[Row]]:
    yield [(f"test run {p.test_run}", p.passed_public, p.solved) for p in curve.by_test_run]
    yield [(f"turn {point.turn}", None, point.solved) for point in curve.by_turn]
    yield [(f"{point.within:,} tokens", None, point.solved) for point in curve.by_tokens or ()]
    yield [(_dollars(point.within), None, point.solved) for point in curve.by_dollars or ()]


def _telling(rows: Sequence[Row]) -> list[Row]:
    """Return the last row and those with rising rates; if too many, only every n-th."""
    before = [(0.0, 0.0), *((public or 0.0, solved) for _, public, solved in rows)]
    rising = [
        row
        for row, then in zip(rows, before, strict=False)
        if (row[1] or 0.0, row[2]) != then or row is rows[-1]
    ]
    every = -(-len(rising) // MOST_ROWS) or 1
    return rising[::-1][::every][::-1]


def _dollars(amount: float) -> str:
    """Return an amount, however small, without an exponent."""
    return f"${Decimal(str(amount)):,f}"
