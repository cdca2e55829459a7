"""The live table of a run: its scores, newest samples, progress and time left."""

import time
from collections.abc import Callable, Iterator, Sequence

from rich.console import Console, ConsoleOptions
from rich.segment import Segment

from harness.efficiency.labels import score
from harness.terminal.columns import CHROME, fitted
from harness.terminal.live_frame import LiveFrame, box, meter, span
from harness.terminal.live_rows import LiveRows, Named
from harness.terminal.sample_table import sample_table
from harness.terminal.tally import Tally
from harness.text import dollars, percent, printable_line

BOXES = 5
"""Lines besides scores and table: those of two boxes, and the bar."""
ABOVE = 4
"""Lines left free above the frame for messages."""
LEAST_HEIGHT, LEAST_WIDTH = 17, 28
"""Smallest window; a smaller one shows only the first scores and the bar."""


class LiveTable(LiveRows):
    """The live display of a run on a terminal.

    Args:
        console: the terminal.
        tally: the scores; must be updated before this table.
        heading: description of the run, in parts.
        problems: problems of the run, in order.
        several: whether there are several samples per problem.
        clock: returns seconds.
    """

    def __init__(
        self,
        console: Console,
        tally: Tally,
        heading: Sequence[str],
        problems: Sequence[Named],
        *,
        several: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(problems, several=several, clock=clock)
        self._tally = tally
        self._heading = [printable_line(part) for part in heading]
        self._began, self._before = clock(), tally.ended
        self._ended = False
        self._console = console
        self._live = LiveFrame(console, self.lines)

    def start(self) -> None:
        """Start the display."""
        self._live.start(refresh=True)

    def stop(self) -> None:
        """Stop the display, leaving scores and bar on the screen, but no rows."""
        self._ended = True
        self._live.stop()

    def lines(self) -> Iterator[list[Segment]]:
        """Yield the frame, a column narrower than the window, so that no line is folded."""
        console, options = self._console, self._console.options
        width = max(1, options.max_width - 1)
        low = options.size.height < LEAST_HEIGHT or width < LEAST_WIDTH
        head = list(self._head(width - (0 if low else 4)))
        if low:
            yield [Segment(fitted(head[0], width))]
            yield [Segment(fitted(self._bar(width, options), width))]
            return
        room = options.size.height - ABOVE - BOXES - len(head) - CHROME
        rows = [] if self._ended else self.newest(room)
        yield from box(head, width, options)
        if rows:
            table = sample_table(rows, width=width, timed=self.timed)
            yield from table.lines(console, options)
        yield from box([self._bar(width - 4, options)], width, options)

    def _head(self, width: int) -> Iterator[str]:
        """Yield the scores, in as many lines as necessary."""
        tally, parts = self._tally, [*self._heading]
        rate = tally.pass_at_1
        if rate is not None:
            parts.append(f"pass@1 {percent(rate)} ({tally.interval})")
        if tally.beyond is not None:
            parts.append(f"Beyond@1 {score(tally.beyond)}")
        parts.append(f"solved {tally.solved} of {tally.graded}")
        parts.append(f"running {tally.running}")
        if tally.failed:
            parts.append(f"pending {tally.failed}")
        if tally.ended:
            parts.append(f"tokens {tally.tokens:,}")
            parts.append(f"cost {dollars(tally.cost)}")
        if tally.retries:
            parts.append(f"retries {tally.retries}, the last: {self.retry}"[: max(20, width)])
        line = ""
        for part in parts:
            if line and len(line) + 3 + len(part) > width:
                yield line
                line = part
            else:
                line = f"{line}   {part}" if line else part
        yield line

    def _bar(self, width: int, options: ConsoleOptions) -> str:
        tally = self._tally
        spent = self._clock() - self._began
        ended = tally.ended - self._before
        left = tally.total - tally.ended
        told = f"{tally.ended}/{tally.total}  {span(spent)}"
        if left > 0 and not self._ended:
            told += f"  ETA {span(spent / ended * left)}" if ended else "  ETA -"
        length = max(0, width - len(told) - 2)
        return f"{meter(tally.ended, tally.total, length, options)}  {told}"
