"""The live table of a run: its scores, newest samples, progress and time left.

Every frame is one write that overwrites the previous one, to avoid flicker. After a resize the
screen is cleared first, since terminals fold lines differently.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderResult
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType, Segment

from harness.agent.events import Response
from harness.efficiency.labels import score
from harness.run.observer import Progress
from harness.run.store.results import SampleResult
from harness.terminal.columns import CHROME, drawn, fitted, painted
from harness.terminal.sample_table import Numbers, SampleRow, result_row, sample_table
from harness.terminal.tally import Tally
from harness.text import dollars, percent, printable_line

FRAMES_A_SECOND = 4
KEPT = 200
"""Number of graded samples kept: more lines than any window has."""
BOXES = 5
"""Lines besides scores and table: those of two boxes, and the bar."""
ABOVE = 4
"""Lines left free above the frame for messages."""
FOR_GRADED = 3
"""A window shows at least one graded sample per this many rows."""
LEAST_HEIGHT, LEAST_WIDTH = 17, 28
"""Smallest window; a smaller one shows only the first scores and the bar."""


@dataclass(frozen=True, slots=True)
class Named:
    """Facts about a problem before it is solved."""

    id: str
    title: str
    difficulty: str


@dataclass(slots=True)
class _UnderWay:
    row: SampleRow
    since: float
    status: str = "running"
    turn: int | None = None
    tokens: int | None = 0
    tests: str = ""

    def now(self, moment: float) -> SampleRow:
        row = self.row
        return SampleRow(
            number=row.number,
            sample=row.sample,
            problem=row.problem,
            title=row.title,
            index=row.index,
            difficulty=row.difficulty,
            status=self.status,
            tests=self.tests,
            turns=self.turn,
            tokens=self.tokens or None,
            seconds=moment - self.since,
        )

    def see(self, event: Progress) -> None:
        """Update the row after an answer of the model or a test run."""
        self.status, self.turn = "running", event.turn
        if isinstance(event, Response):
            usage = event.response.usage
            known = self.tokens is not None and usage is not None
            self.tokens = (self.tokens or 0) + usage.total_tokens if known and usage else None
        elif event.tests is not None:
            self.tests = f"{event.tests.passed}/{event.tests.total} tests"


class LiveTable:
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
        self._tally = tally
        self._heading = [printable_line(part) for part in heading]
        self._problems = {problem.id: problem for problem in problems}
        self._numbers = Numbers(self._problems)
        self._several = several
        self._clock = clock
        self._began, self._before = clock(), tally.ended
        self._graded: deque[SampleRow] = deque(maxlen=KEPT)
        self._under_way: dict[str, _UnderWay] = {}
        self._timed = False
        self._retry = ""
        self._lock = Lock()
        self._ended = False
        self._console = console
        self._live = _Steady(self, console)

    def start(self) -> None:
        """Start the display."""
        self._live.start(refresh=True)

    def stop(self) -> None:
        """Stop the display, leaving scores and bar on the screen, but no rows."""
        self._ended = True
        self._live.stop()

    def begun(self, sample: str) -> None:
        """Add a row for a sample that was started."""
        problem, _, index = sample.rpartition("#")
        named = self._problems.get(problem) or Named(problem, "", "")
        row = SampleRow(
            number=self._numbers.of(problem, int(index)),
            sample=sample,
            problem=problem,
            title=named.title,
            index=int(index) if self._several else None,
            difficulty=named.difficulty,
            status="running",
        )
        with self._lock:
            self._under_way[sample] = _UnderWay(row, self._clock())

    def retrying(self, sample: str, turn: int, why: str) -> None:
        """Show that a request of a sample failed and is retried."""
        with self._lock:
            self._retry = printable_line(why)
            if sample in self._under_way:
                self._under_way[sample].status = "retrying"
                self._under_way[sample].turn = turn

    def progressed(self, sample: str, event: Progress) -> None:
        """Update a sample's row after an answer of the model or a test run."""
        with self._lock:
            if sample in self._under_way:
                self._under_way[sample].see(event)

    def resumed(self, sample: str, turn: int) -> None:
        """Show that a sample resumes after a turn; its earlier token count is unknown."""
        with self._lock:
            if sample in self._under_way:
                self._under_way[sample].turn = turn
                self._under_way[sample].tokens = None

    def graded(self, result: SampleResult) -> None:
        """Replace a sample's row by its result."""
        number = self._numbers.of(result.problem_id, result.index)
        row = result_row(result, number, several=self._several)
        with self._lock:
            self._timed = self._timed or result.efficiency is not None
            self._under_way.pop(result.sample, None)
            self._graded.append(row)

    def pending(self, sample: str, *, shown: bool) -> None:
        """Remove a sample that stays pending; `shown`: keep a row if it was tried."""
        with self._lock:
            left = self._under_way.pop(sample, None)
            if left is not None and shown:
                left.status = "pending"
                self._graded.append(left.now(self._clock()))

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
        rows = [] if self._ended else self._rows(room)
        yield from _box(head, width, options)
        if rows:
            table = sample_table(rows, width=width, timed=self._timed)
            yield from table.lines(console, options)
        yield from _box([self._bar(width - 4, options)], width, options)

    def _rows(self, room: int) -> list[SampleRow]:
        """Return the newest rows that fit, including running samples, in the run's order."""
        with self._lock:
            moment = self._clock()
            # running ones come first, since the longest may be blocking
            under_way = [each.now(moment) for each in self._under_way.values()]
            newest = [*self._graded][-max(room, 1) :]
        fair = max(room - len(newest), room - max(1, room // FOR_GRADED))
        under_way = under_way[: max(0, min(room, fair))]
        left = room - len(under_way)
        rows = [*(newest[-left:] if left > 0 else []), *under_way]
        return sorted(rows, key=lambda row: row.number)

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
            parts.append(f"retries {tally.retries}, the last: {self._retry}"[: max(20, width)])
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
        told = f"{tally.ended}/{tally.total}  {_span(spent)}"
        if left > 0 and not self._ended:
            told += f"  ETA {_span(spent / ended * left)}" if ended else "  ETA -"
        length = max(0, width - len(told) - 2)
        done = length * tally.ended // tally.total if tally.total else 0
        return f"{drawn('━' * done, options)}{drawn('─' * (length - done), options)}  {told}"


def _box(texts: Sequence[str], width: int, options: ConsoleOptions) -> Iterator[list[Segment]]:
    yield [Segment(drawn(f"╭{'─' * (width - 2)}╮", options))]
    for text in texts:
        yield [Segment(f"{drawn('│', options)} {fitted(text, width - 4)} {drawn('│', options)}")]
    yield [Segment(drawn(f"╰{'─' * (width - 2)}╯", options))]


def _span(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


class _Steady(Live):
    """Draws a frame over the previous one, without erasing that first.

    A frame is written as one text, since rich takes several times as long for separate segments.
    The cursor rests at the start of the last line, where the echo of Ctrl-C cannot cause a line
    break.
    """

    def __init__(self, table: LiveTable, console: Console) -> None:
        super().__init__(console=console, refresh_per_second=FRAMES_A_SECOND)
        self._table = table
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
        lines = [painted(line, console) for line in self._table.lines()][: size[1]]
        self._height = len(lines)
        frame = "\r\n".join(lines)
        if all(isinstance(each, Control) for each in renderables):
            return [_Raw(f"{back}{frame}\x1b[J\r")]
        return [_Raw(f"{back}\x1b[J"), *renderables, _Raw(f"{frame}\r")]

    def stop(self) -> None:
        """Draw a final frame, and move below it."""
        was_shown = self.is_started
        super().stop()
        if was_shown:
            self.console.line()


class _Raw:
    """Raw text for the terminal."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the text as a control segment, which is not measured."""
        yield Segment(self._text, None, [(ControlType.CARRIAGE_RETURN,)])
