"""A live table: its frame, and its rows of running and newly graded samples.

Every frame is one write that overwrites the previous one, to avoid flicker. After a resize the
screen is cleared first, since terminals fold lines differently.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from threading import Lock

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderResult
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType, Segment

from harness.agent.events import Response
from harness.problem import Problem
from harness.run.observer import Progress
from harness.run.store.results import SampleResult
from harness.terminal.sample_table import Numbers, SampleRow, result_row
from harness.terminal.terminal_text import drawn, fitted, painted
from harness.text import printable_line

FRAMES_A_SECOND = 4
KEPT = 200
"""Number of graded samples kept: more lines than any window has."""

FOR_GRADED = 3
"""A window shows at least one graded sample per this many rows."""


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
        if was_shown:
            self.console.line()


class _Raw:
    """Raw text for the terminal."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the text as a control segment, which is not measured."""
        yield Segment(self._text, None, [(ControlType.CARRIAGE_RETURN,)])


@dataclass(slots=True)
class _UnderWay:
    row: SampleRow
    since: float
    status: str = "running"
    turn: int | None = None
    tokens: int | None = 0
    tests: str = ""

    def now(self, moment: float) -> SampleRow:
        return replace(
            self.row,
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


class LiveRows:
    """The newest samples of a run; safe to read from another thread.

    Args:
        problems: problems of the run, in order.
        several: whether there are several samples per problem.
        clock: returns seconds.

    Attributes:
        timed: whether any solution was timed.
        retry: why the last request that was sent again had failed.
    """

    def __init__(
        self, problems: Sequence[Problem], *, several: bool, clock: Callable[[], float]
    ) -> None:
        self._problems = {problem.id: problem for problem in problems}
        self._numbers = Numbers(self._problems)
        self._several = several
        self._clock = clock
        self._graded: deque[SampleRow] = deque(maxlen=KEPT)
        self._under_way: dict[str, _UnderWay] = {}
        self.timed = False
        self.retry = ""
        self._lock = Lock()

    def start(self) -> None:
        """Do nothing: the panel shows the rows."""

    def stop(self) -> None:
        """Do nothing: the panel shows the rows."""

    def begun(self, sample: str) -> None:
        """Add a row for a sample that was started."""
        problem, _, index = sample.rpartition("#")
        named = self._problems.get(problem)
        row = SampleRow(
            number=self._numbers.of(problem, int(index)),
            sample=sample,
            problem=problem,
            title=named.title if named else "",
            index=int(index) if self._several else None,
            difficulty=(named and named.difficulty) or "",
            status="running",
        )
        with self._lock:
            self._under_way[sample] = _UnderWay(row, self._clock())

    def retrying(self, sample: str, turn: int, why: str) -> None:
        """Show that a request of a sample failed and is retried."""
        with self._lock:
            self.retry = printable_line(why)
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
            self.timed = self.timed or result.efficiency is not None
            self._under_way.pop(result.sample, None)
            self._graded.append(row)

    def pending(self, sample: str, *, shown: bool) -> None:
        """Remove a sample that stays pending; `shown`: keep a row if it was tried."""
        with self._lock:
            left = self._under_way.pop(sample, None)
            if left is not None and shown:
                left.status = "pending"
                self._graded.append(left.now(self._clock()))

    def newest(self, room: int) -> list[SampleRow]:
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
