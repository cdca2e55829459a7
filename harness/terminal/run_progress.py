"""Progress of a run on stderr: its scores so far; a live table on a terminal, else lines."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Self

from rich.console import Console, ConsoleOptions
from rich.segment import Segment

from harness.agent.events import Resumed, Retried
from harness.closing import Closing
from harness.efficiency.efficiency_summary import cpu_time, rank, score
from harness.problem import Problem
from harness.run.observer import Failure, Progress, Watch
from harness.run.plan.plan import Plan
from harness.run.store.directory import RunDirectory
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import with_costs
from harness.run.summary.summary import Summary
from harness.stats.rates import wilson
from harness.terminal.columns import CHROME, fitted
from harness.terminal.live_frame import LiveFrame, LiveRows, box, meter, span
from harness.terminal.sample_table import sample_table
from harness.text import dollars, interval, percent, printable_line

BOXES = 5
"""Lines besides scores and table: those of two boxes, and the bar."""
ABOVE = 4
"""Lines left free above the frame for messages."""
LEAST_HEIGHT, LEAST_WIDTH = 17, 28
"""Smallest window; a smaller one shows only the first scores and the bar."""


class Tally:
    """Scores of a run so far.

    Attributes:
        total: number of planned samples; `ended` of them are graded or stay pending, of which
            `failed` stay pending.
        solved, graded: number of samples.
        cost: US dollars; None as soon as any sample's cost is unknown.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.ended = self.solved = self.graded = self.failed = self.tokens = 0
        self.running = self.retries = 0
        self.cost: float | None = 0.0
        self._problems: dict[str, tuple[int, int]] = {}  # solved and graded samples
        self._fractions = 0.0
        self._beyond: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])

    def count(self, result: SampleResult) -> None:
        """Count a graded sample."""
        self.ended += 1
        self.tokens += result.usage.total_tokens if result.usage else 0
        self.cost = None if self.cost is None or result.cost is None else self.cost + result.cost
        if result.graded:
            self.solved += result.solved
            self.graded += 1
            self._add(result.problem_id, solved=result.solved)
        found = result.efficiency
        if result.graded and found is not None and found.beyond is not None:
            counts = self._beyond[result.problem_id]
            counts[0] += found.beyond
            counts[1] += 1

    def fail(self) -> None:
        """Count a sample that stays pending."""
        self.ended += 1
        self.failed += 1

    @property
    def pass_at_1(self) -> float | None:
        """Mean over problems of the solved fraction of each problem's samples."""
        return self._fractions / len(self._problems) if self._problems else None

    @property
    def beyond(self) -> float | None:
        """Beyond@1 so far; None if nothing conclusive was timed yet."""
        if not self._beyond:
            return None
        return sum(value / samples for value, samples in self._beyond.values()) / len(self._beyond)

    @property
    def interval(self) -> str:
        """Wilson interval of pass@1 in percent; empty if there is none yet."""
        value = self.pass_at_1
        if value is None:
            return ""
        low, high = wilson(min(1.0, max(0.0, value)), len(self._problems))
        return interval(low, high)

    def fractions(self) -> dict[str, float]:
        """Return the fraction of its graded samples that are solved, by problem."""
        counts = self._problems.copy()  # another thread may add to it meanwhile
        return {problem: solved / graded for problem, (solved, graded) in counts.items()}

    def _add(self, problem: str, *, solved: bool) -> None:
        before, samples = self._problems.get(problem, (0, 0))
        self._fractions -= before / samples if samples else 0.0
        self._problems[problem] = (before + solved, samples + 1)
        self._fractions += (before + solved) / (samples + 1)


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
        problems: Sequence[Problem],
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


class RunProgress(Closing):
    """An observer that shows the scores, the newest samples, and the time left.

    Args:
        console: a terminal, or another output for lines.
        total: number of samples of the run.
        done: results of samples that are already graded.
        problems: problems of the run, in order.
        heading: description of the run, in parts.
        table: makes the display of the samples; default: a live table of the run.
    """

    def __init__(
        self,
        console: Console,
        total: int,
        done: Iterable[SampleResult],
        *,
        problems: Sequence[Problem] = (),
        heading: Sequence[str] = (),
        table: Callable[[Tally], LiveRows] | None = None,
    ) -> None:
        self._console = console
        self._tally = Tally(total)
        earlier = list(done)
        for result in earlier:
            self._tally.count(result)
        self._live: LiveRows | None = None
        if table is not None:
            self._live = table(self._tally)
        elif console.is_terminal and not console.is_dumb_terminal:
            several = total > len(problems) > 0
            self._live = LiveTable(console, self._tally, heading, problems, several=several)
        if self._live:
            for result in earlier:
                self._live.graded(result)

    def begun(self, plan: Plan, left: int) -> None:
        """Do nothing: the table itself shows that the run has started."""

    def ended(self, summary: Summary, *, interrupted: bool) -> None:
        """Do nothing: the command prints the summary."""

    def broken(self, error: BaseException) -> None:
        """Do nothing: the command prints the error."""

    def started(self, sample: str) -> None:
        """Show that a sample was started."""
        self._tally.running += 1
        if self._live:
            self._live.begun(sample)

    def finished(self, result: SampleResult) -> None:
        """Show the result of a sample."""
        self._tally.running -= 1
        self._tally.count(result)
        if self._live:
            self._live.graded(result)
            return
        passed = result.public_passed + result.hidden_passed
        total = result.public_total + result.hidden_total
        self._tell(
            f"{result.sample}  {result.verdict.replace('_', ' ')}  tests {passed}/{total}  "
            f"calls {result.model_calls or result.tool_calls}  {result.seconds:.1f} s"
            f"{_timed(result)}"
        )

    def failed(self, failure: Failure) -> None:
        """Show that a sample stays pending."""
        self._tally.running -= 1
        self._tally.fail()
        if self._live:
            self._live.pending(failure.sample, shown=True)
            return
        cause = failure.cause.splitlines()[0][:300] if failure.cause else ""
        self._tell(f"{failure.sample}  {failure.verdict.replace('_', ' ')}, pending: {cause}")

    def resumed(self, sample: str, event: Resumed) -> None:
        """Show that a sample was resumed, or why it starts over."""
        if self._live and not event.cause:
            self._live.resumed(sample, event.turn)
        if event.cause:
            self._console.print(
                printable_line(f"{sample} begins again after turn {event.turn}: {event.cause}"),
                soft_wrap=True,
            )

    def put_off(self, sample: str) -> None:
        """Show that a sample was put off and stays pending."""
        self._tally.running -= 1
        if self._live:
            self._live.pending(sample, shown=False)

    def retried(self, sample: str, retry: Retried) -> None:
        """Show that a request failed and is retried; the table shows only the latest."""
        self._tally.retries += 1
        if self._live:
            self._live.retrying(sample, retry.turn, retry.cause)
            return
        line = f"{sample}  retry {retry.attempt} in {retry.wait_s:.1f} s: {retry.cause}"
        self._console.print(printable_line(line), soft_wrap=True)

    def progressed(self, sample: str, event: Progress) -> None:
        """Update the table after an answer of the model or a test run."""
        if self._live:
            self._live.progressed(sample, event)

    def _tell(self, line: str) -> None:
        place = f"[{self._tally.ended}/{self._tally.total}]"
        self._console.print(f"{place} {printable_line(line)}", soft_wrap=True)

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def close(self) -> None:
        """Draw the display for the last time."""
        if self._live:
            self._live.stop()


def run_progress(console: Console) -> Watch:
    """Return a function that makes the live table of a run.

    Args:
        console: a terminal, or another output for lines.
    """

    def watch(plan: Plan, directory: RunDirectory) -> RunProgress:
        done = with_costs(directory.committed(), plan.price)
        heading = (plan.model_name, plan.spec.mode, f"prompt {plan.prompt.name}")
        return RunProgress(
            console, len(plan.samples), done, problems=plan.problems, heading=heading
        )

    return watch


def _timed(result: SampleResult) -> str:
    """Return the efficiency of a solution that passed, if measured."""
    found = result.efficiency
    if found is None or found.cpu_s is None:
        return ""
    return f"  CPU {cpu_time(found.cpu_s)}  {rank(found.percentile)}  B@1 {score(found.beyond)}"
