"""Texts of an exact width, with the characters and colors of a terminal."""

from collections.abc import Iterable

from rich.cells import cell_len, set_cell_size
from rich.color import ColorSystem
from rich.console import Console, ConsoleOptions
from rich.segment import Segment

_ASCII = str.maketrans("┃│━─╸┏┳┓┡╇┩└┴┘╭╮╰╯", "||---" + "+" * 13)
_COLOURS = {
    "standard": ColorSystem.STANDARD,
    "256": ColorSystem.EIGHT_BIT,
    "truecolor": ColorSystem.TRUECOLOR,
}


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
