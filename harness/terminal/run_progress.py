"""Progress of a run on stderr: its scores so far; a live table on a terminal, else lines."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Self

from rich.console import Console, ConsoleOptions
from rich.segment import Segment

from harness.agent.events import Resumed, Retried
from harness.closing import Closing
from harness.figures import dollars, percent, score
from harness.problem import Problem
from harness.run.observer import Failure, Progress, Watch
from harness.run.plan.plan import Plan
from harness.run.reporter import VERBOSITY
from harness.run.store.directory import RunDirectory
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import with_costs
from harness.run.summary.summary import Summary
from harness.terminal.columns import CHROME
from harness.terminal.live.live_frame import LiveFrame, box, meter, span
from harness.terminal.live.live_rows import LiveRows
from harness.terminal.live.tally import Tally
from harness.terminal.live.waiting_lines import LONGEST_SILENCE_S, WaitingLines
from harness.terminal.part_view import shown_parts
from harness.terminal.sample_table import sample_table
from harness.terminal.terminal_text import fitted
from harness.text import printable_line

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
        stays: whether scores and bar are left on the screen at the end.
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
        stays: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(problems, several=several, clock=clock)
        self._tally = tally
        self._heading = [printable_line(part) for part in heading]
        self._began, self._before = clock(), tally.ended
        self._ended, self._stays = False, stays
        self._console = console
        self._live = LiveFrame(console, self.lines)

    def start(self) -> None:
        """Start the display."""
        self._live.start(refresh=True)

    def stop(self) -> None:
        """Stop the display, leaving no rows on the screen."""
        self._ended = True
        self._live.stop()

    def lines(self) -> Iterator[list[Segment]]:
        """Yield the frame, a column narrower than the window, so that no line is folded."""
        if self._ended and not self._stays:
            return
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
            table = sample_table(rows, width=width, parts=self.parts)
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
        counts = f"{tally.ended}/{tally.total}  {span(spent)}"
        if left > 0 and not self._ended:
            counts += f"  ETA {span(spent / ended * left)}" if ended else "  ETA -"
        length = max(0, width - len(counts) - 2)
        return f"{meter(tally.ended, tally.total, length, options)}  {counts}"


class RunProgress(Closing):
    """An observer that shows the scores, the newest samples, and the time left.

    Args:
        console: a terminal, or another output for lines.
        total: number of samples of the run.
        done: results of samples that are already graded.
        problems: problems of the run, in order.
        heading: description of the run, in parts.
        stays: whether the live table leaves its scores and bar on the screen.
        silence_s: longest time without a line, in seconds, where there is no display.
        most_requests: most requests in flight; None for no limit.
    """

    def __init__(
        self,
        console: Console,
        total: int,
        done: Iterable[SampleResult],
        *,
        problems: Sequence[Problem] = (),
        heading: Sequence[str] = (),
        stays: bool = True,
        silence_s: float = LONGEST_SILENCE_S,
        most_requests: int | None = None,
    ) -> None:
        self._console = console
        self._waiting = WaitingLines(self._tell, silence_s, most_requests)
        self._tally = Tally(total)
        earlier = list(done)
        for result in earlier:
            self._tally.count(result)
        self._live: LiveTable | None = None
        if VERBOSITY.progress and console.is_terminal and not console.is_dumb_terminal:
            several = total > len(problems) > 0
            self._live = LiveTable(
                console, self._tally, heading, problems, several=several, stays=stays
            )
        if self._live:
            for result in earlier:
                self._live.graded(result)

    def begun(self, plan: Plan, left: int) -> None:
        """Do nothing: the table shows that the run has started."""

    def ended(self, summary: Summary, *, interrupted: bool) -> None:
        """Do nothing: the command prints the summary."""

    def broken(self, error: BaseException) -> None:
        """Do nothing: the command prints the error."""

    def started(self, sample: str) -> None:
        """Show that a sample was started."""
        self._tally.running += 1
        self._waiting.begun(sample)
        if self._live:
            self._live.begun(sample)

    def finished(self, result: SampleResult) -> None:
        """Show the result of a sample."""
        self._tally.running -= 1
        self._tally.count(result)
        self._waiting.left(result.sample)
        if self._live:
            self._live.graded(result)
            return
        passed = result.public_passed + result.hidden_passed
        total = result.public_total + result.hidden_total
        self._tell(
            f"{result.sample}  {result.status.replace('_', ' ')}  tests {passed}/{total}  "
            f"calls {result.model_calls or result.tool_calls}  {result.seconds:.1f} s"
            f"{''.join(view.line(part) for _, view, part in shown_parts(result))}"
        )

    def failed(self, failure: Failure) -> None:
        """Show that a sample stays pending."""
        self._tally.running -= 1
        self._tally.fail()
        self._waiting.left(failure.sample)
        if self._live:
            self._live.pending(failure.sample, shown=True)
            return
        cause = failure.cause.splitlines()[0][:300] if failure.cause else ""
        self._tell(f"{failure.sample}  {failure.verdict.replace('_', ' ')}, pending: {cause}")

    def resumed(self, sample: str, event: Resumed) -> None:
        """Show that a sample was resumed, or why it starts over."""
        if self._live and not event.cause:
            self._live.resumed(sample, event.turn)
        if event.cause and VERBOSITY.notices:
            self._console.print(
                printable_line(f"{sample} begins again after turn {event.turn}: {event.cause}"),
                soft_wrap=True,
            )

    def put_off(self, sample: str) -> None:
        """Show that a sample was put off and stays pending."""
        self._tally.running -= 1
        self._waiting.left(sample)
        if self._live:
            self._live.pending(sample, shown=False)

    def retried(self, sample: str, retry: Retried) -> None:
        """Show that a request failed and is retried; the table shows only the latest.

        A server that is loading its model is asked many times, and told of once, by a warning.
        """
        self._tally.retries += 1
        self._waiting.retried(sample, retry)
        if self._live:
            self._live.retrying(sample, retry.turn, retry.cause)
            return
        if retry.loading or not VERBOSITY.progress:
            return
        line = f"{sample}  retry {retry.attempt} in {retry.wait_s:.1f} s: {retry.cause}"
        self._console.print(printable_line(line), soft_wrap=True)
        self._waiting.spoke()

    def progressed(self, sample: str, event: Progress) -> None:
        """Update the table after an answer of the model or a test run."""
        self._waiting.progressed(sample, event)
        if self._live:
            self._live.progressed(sample, event)

    def _tell(self, line: str) -> None:
        if not VERBOSITY.progress:
            return
        place = f"[{self._tally.ended}/{self._tally.total}]"
        self._console.print(f"{place} {printable_line(line)}", soft_wrap=True)
        self._waiting.spoke()

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        else:
            self._waiting.__enter__()
        return self

    def close(self) -> None:
        """Draw the display for the last time."""
        self._waiting.close()
        if self._live:
            self._live.stop()


def run_progress(console: Console, *, of_variant: bool = False) -> Watch:
    """Return a function that makes the live table of a run.

    Args:
        console: a terminal, or another output for lines.
        of_variant: whether the runs are parts of an experiment's variants. Their tables name the
            variant, and leave nothing on the screen: the next part follows.
    """

    def watch(plan: Plan, directory: RunDirectory) -> RunProgress:
        done = with_costs(directory.committed(), plan.price)
        heading = (plan.model_name, plan.spec.known_mode.announced, f"prompt {plan.prompt.name}")
        if of_variant:
            heading = (f"variant {directory.path.name}", plan.model_name)
        return RunProgress(
            console,
            len(plan.samples),
            done,
            problems=plan.problems,
            heading=heading,
            stays=not of_variant,
            most_requests=plan.spec.concurrency,
        )

    return watch
