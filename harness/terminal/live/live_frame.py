"""The frame of a live table.

Every frame is one write that overwrites the previous one, to avoid flicker. After a resize the
screen is cleared first, since terminals fold lines differently.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderResult
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType, Segment

from harness.terminal.terminal_text import drawn, fitted, painted

FRAMES_A_SECOND = 4


def box(texts: Sequence[str], width: int, options: ConsoleOptions) -> Iterator[list[Segment]]:
    """Yield the lines of a box around texts, each cut to its width."""
    yield [Segment(drawn(f"╭{'─' * (width - 2)}╮", options))]
    for text in texts:
        yield [Segment(f"{drawn('│', options)} {fitted(text, width - 4)} {drawn('│', options)}")]
    yield [Segment(drawn(f"╰{'─' * (width - 2)}╯", options))]


def span(seconds: float) -> str:
    """Return seconds as hours, minutes and seconds."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def meter(done: int, total: int, length: int, options: ConsoleOptions) -> str:
    """Return a bar of `length` columns that is filled as far as `done` is of `total`."""
    full = length * min(done, total) // total if total else 0
    return f"{drawn('━' * full, options)}{drawn('─' * (length - full), options)}"


class LiveFrame(Live):
    """Draws a frame over the previous one, without erasing that first.

    A frame is written as one text, since rich takes several times as long for separate segments.
    The cursor rests at the start of the last line, where the echo of Ctrl-C cannot cause a line
    break.

    Args:
        console: the terminal.
        lines: returns the frame as it is now; none of its lines is as wide as the window.
    """

    def __init__(self, console: Console, lines: Callable[[], Iterable[list[Segment]]]) -> None:
        super().__init__(console=console, refresh_per_second=FRAMES_A_SECOND)
        self._lines = lines
        self._size: tuple[int, int] | None = None
        self._height = 0

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """Return the frame, after any output to show above it."""
        console = self.console
        size = console.size.width, console.size.height
        resized, self._size = self._size not in {None, size}, size
        back = f"\r\x1b[{self._height - 1}A" if self._height > 1 else "\r"
        if resized:
            back = "\x1b[2J\x1b[H"
        lines = [painted(line, console) for line in self._lines()][: size[1]]
        self._height = len(lines)
        frame = "\r\n".join(lines)
        if all(isinstance(each, Control) for each in renderables):
            return [_Raw(f"{back}{frame}\x1b[J\r")]
        return [_Raw(f"{back}\x1b[J"), *renderables, _Raw(f"{frame}\r")]

    def stop(self) -> None:
        """Draw a final frame, and move below it."""
        was_shown = self.is_started
        super().stop()
        if was_shown and self._height:
            self.console.line()


class _Raw:
    """Raw text for the terminal."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the text as a control segment, which is not measured."""
        yield Segment(self._text, None, [(ControlType.CARRIAGE_RETURN,)])
