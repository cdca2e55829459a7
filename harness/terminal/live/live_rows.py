"""The newest samples of a run: running and newly graded ones."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Lock

from harness.agent.events import Response, SampleEnd
from harness.problem import Problem
from harness.run.observer import Progress
from harness.run.store.results import SampleResult
from harness.terminal.sample_table import Numbers, SampleRow, result_row
from harness.text import printable_line

KEPT = 200
"""Number of graded samples kept: more lines than any window has."""

FOR_GRADED = 3
"""A window shows at least one graded sample per this many rows."""


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
            figures={
                "turns": self.turn,
                "tokens": self.tokens or None,
                "seconds": moment - self.since,
            },
        )

    def see(self, event: Progress) -> None:
        """Update the row after an answer of the model, a test run, or the attempt's end."""
        if isinstance(event, SampleEnd):
            self.status = "grading"
            return
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
        parts: features that added to any result.
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
        self.parts = set[str]()
        self.retry = ""
        self._lock = Lock()

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
            self.parts.update(row.parts)
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
