"""Tables whose columns fit the window.

It is drawn without rich's tables: a live table is drawn several times a second, and a run may have
ten thousand rows, for which rich takes seconds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style

from harness.terminal.terminal_text import drawn, fitted, middle_cut

CHROME = 4
"""Lines of a table that are not rows: top, head, the line below it, bottom."""
_PLAIN = Style()


class Cell(NamedTuple):
    """A text and its style."""

    text: str
    style: str = ""


class Column(NamedTuple):
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
class ColumnGrid:
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
