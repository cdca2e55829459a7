"""A table in a box, whose columns leave one by one where the window is too narrow for all.

It is drawn by hand: a live table is drawn several times a second, and a run may have ten thousand
rows, which takes rich's own tables seconds.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.color import ColorSystem
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style

CHROME = 4
"""Lines of a table that are no rows: its top, its head, the line below it, its bottom."""
_ASCII = str.maketrans("┃│━─╸┏┳┓┡╇┩└┴┘╭╮╰╯", "||---" + "+" * 13)
_PLAIN = Style()
_COLOURS = {
    "standard": ColorSystem.STANDARD,
    "256": ColorSystem.EIGHT_BIT,
    "truecolor": ColorSystem.TRUECOLOR,
}


class Cell(NamedTuple):
    """A text and its colour."""

    text: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        right: whether its cells stand to the right, as figures do.
        leaves: which column is left out first where there is no room; 0 for those that stay.
        least: cells that it can do with, where it is cut before any other leaves; None for one
            that is never cut.
        middle: whether a cell that is cut loses its middle, as what tells names apart is often at
            their ends.
    """

    name: str
    right: bool = False
    leaves: int = 0
    least: int | None = None
    middle: bool = False


def fit(columns: Sequence[Column], wanted: Sequence[int], width: int) -> list[tuple[int, int]]:
    """Which columns have room, by their places, and how wide each is.

    Args:
        columns: all of them.
        wanted: the width of each one's widest cell.
        width: of the whole table, borders included.
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
    for place in kept:  # a window for nobody: what can be cut is cut further
        if room < 0 and columns[place].least is not None:
            widths[place] = max(1, widths[place] + room)
    return list(widths.items())


def _least(column: Column, wanted: int) -> int:
    return wanted if column.least is None else min(wanted, max(column.least, len(column.name)))


def _width(kept: Sequence[int], widths: Sequence[int]) -> int:
    return sum(widths[place] + 3 for place in kept) + 1


class Grid:
    """Rows under a head.

    Args:
        columns: of every row.
        rows: cells whose texts are printable and of one line; one a column.
        expand: whether a column that can be cut takes all that is left of the width.
        width: of the whole; that of the window if not given.
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
        """Its lines."""
        for line in self.lines(console, options):
            yield from line
            yield Segment.line()

    def lines(self, console: Console, options: ConsoleOptions) -> Iterator[list[Segment]]:
        """Its lines, without their ends."""
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
    """A text in exactly so many cells; what is cut off leaves an ellipsis."""
    if not text.isascii() or len(text) > width:
        size = cell_len(text)
        if size > width:
            return set_cell_size(text, width - 1) + "…" if width > 1 else "…"[:width]
        return " " * (width - size) + text if right else text + " " * (width - size)
    return text.rjust(width) if right else text.ljust(width)


def middle_cut(text: str, width: int) -> str:
    """A text of at most so many letters: where it is longer, it loses its middle."""
    if len(text) <= width or width < 3:  # noqa: PLR2004 - a letter, the ellipsis, a letter
        return text
    tail = (width - 1) // 2
    return f"{text[: width - 1 - tail]}…{text[-tail:]}"


def drawn(text: str, options: ConsoleOptions) -> str:
    """Lines of boxes, as the terminal can show them."""
    return text.translate(_ASCII) if options.ascii_only else text


def painted(line: Iterable[Segment], console: Console) -> str:
    """A line as a terminal takes it, in the colours that it has."""
    colours = _COLOURS.get(console.color_system or "")
    parts: list[str] = []
    for text, style, _ in line:
        if style and colours is not None:
            kept = style.without_color if console.no_color else style
            parts.append(kept.render(text, color_system=colours))
        else:
            parts.append(text)
    return "".join(parts)
