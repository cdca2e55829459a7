"""A frame on a terminal that is drawn again and again, as long as something goes on.

Every frame is one write that draws over the last one, so that nothing flickers; after the window
was resized the screen is cleared first, as nobody knows how a terminal has folded what it held.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderResult
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType, Segment

from harness.terminal.columns import drawn, fitted, painted

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
    """Draws a frame over the last one, without erasing that first.

    A frame is handed to the terminal as one text: rich takes several times as long for each of its
    segments. The cursor rests at the beginning of its last line, where the echo of Ctrl-C cannot
    push it into another.

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
        """The frame after what is to stand above it."""
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
        """Draw a last frame, and go on below it."""
        was_shown = self.is_started
        super().stop()
        if was_shown:
            self.console.line()


class _Raw:
    """A text for the terminal, as it is."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Marked as one that moves the cursor, so that nobody measures it."""
        yield Segment(self._text, None, [(ControlType.CARRIAGE_RETURN,)])
