"""The live panel of an experiment: a line a variant, and the samples under way below them."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.segment import Segment

from harness.closing import Closing
from harness.features.experiment.stopping_goal import PAIR
from harness.features.experiment.variant_results import results_of
from harness.features.experiment.variants import Variant
from harness.figures import count, dollars, quantity
from harness.problem import Problem
from harness.run.plan.plan import Plan
from harness.run.store.directory import RunDirectory
from harness.run.summary.loaded_run import with_costs
from harness.terminal.columns import CHROME
from harness.terminal.live.live_frame import LiveFrame, box, meter, span
from harness.terminal.live.live_rows import LiveRows
from harness.terminal.live.tally import Tally
from harness.terminal.run_progress import RunProgress
from harness.terminal.sample_table import sample_table
from harness.terminal.terminal_text import fitted, middle_cut
from harness.text import printable_line

if TYPE_CHECKING:
    from harness.features.experiment.decision import Decision

ABOVE = 4
"""Lines left free above the frame for messages."""
LEAST_ROWS = 3
"""Smallest number of sample rows; a lower window shows only the variants."""
LONGEST_NAME = 26
LEAST_BAR, LONGEST_BAR = 8, 40


@dataclass(slots=True)
class VariantProgress:
    """A variant of the experiment and its progress.

    Attributes:
        planned: number of planned samples.
        shots: most samples of a problem.
        uneven: whether some problems have fewer, as the shots follow the agent's spend.
        tally: its scores; None before it has begun.
        busy: seconds that its earlier parts took in this process; `done` samples ended in them.
    """

    name: str
    planned: int
    shots: int
    tally: Tally | None = None
    uneven: bool = False
    busy: float = 0.0
    done: int = 0

    @property
    def ended(self) -> int:
        """Number of samples that are graded or failed."""
        return self.tally.ended if self.tally else 0


class ExperimentPanel(Closing):
    """The live display of an experiment on a terminal.

    Args:
        console: the terminal.
        heading: description of the experiment.
        arms: the variants, in the order in which they are shown.
        baseline: name of the variant with which the other of two variants is compared.
        clock: returns seconds.

    Attributes:
        decision: result so far, if the experiment may stop early.
    """

    def __init__(
        self,
        console: Console,
        heading: str,
        arms: Sequence[VariantProgress],
        baseline: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.decision: Decision | None = None
        self._console = console
        self._heading = printable_line(heading)
        self._arms = {arm.name: arm for arm in arms}
        self._baseline = baseline
        self._clock = clock
        self._began = clock()
        self._rows: LiveRows | None = None
        self._current: tuple[VariantProgress, float, int] | None = None
        self._ended = False
        self._expected: dict[str, int] = {}
        self._frame = LiveFrame(console, self.lines)

    @classmethod
    def on(
        cls, console: Console, variants: Sequence[tuple[Variant, Plan]], baseline: str, path: Path
    ) -> "ExperimentPanel | None":
        """Return the panel of the prepared variants of the experiment in `path`.

        It begins with the samples that are done. Returns None if the console is not a terminal.
        """
        if not console.is_terminal or console.is_dumb_terminal:
            return None
        arms = [
            VariantProgress(
                each.name,
                len(plan.samples),
                each.spec.samples_per_problem,
                _tally_of(path / each.name, len(plan.samples)),
            )
            for each, plan in variants
        ]
        spec, problems = variants[0][0].spec, len(variants[0][1].problems)
        heading = f"experiment   {count(len(arms), 'variant')} x {count(problems, 'problem')}"
        if spec.max_cost is not None:
            heading += f", budget ${spec.max_cost:,.2f}"
        elif spec.max_tokens_total is not None:
            heading += f", budget {quantity(spec.max_tokens_total)} tokens"
        return cls(console, heading, arms, baseline)

    def __enter__(self) -> Self:
        self._frame.start(refresh=True)
        return self

    def close(self) -> None:
        """Draw the panel for the last time."""
        self._ended = True
        self._frame.stop()

    def watch(self, plan: Plan, directory: RunDirectory) -> RunProgress:
        """Return the observer of a part of a variant, whose samples are shown at the bottom."""
        arm = self._arms[Path(directory.path).name]
        done = with_costs(directory.committed(), plan.price)
        arm.planned = max(len(done), self._expected.get(arm.name, len(plan.samples)))
        arm.shots = plan.spec.samples_per_problem

        def rows(tally: Tally) -> LiveRows:
            arm.tally = tally
            return _PartRows(self, arm, plan.problems, self._clock)

        return RunProgress(
            self._console,
            arm.planned,
            done,
            problems=plan.problems,
            table=rows,
            most_requests=plan.spec.concurrency,
        )

    def expect(self, name: str, samples: int) -> None:
        """Show this number of samples as planned, where it is not that of the run's settings."""
        self._expected[name] = self._arms[name].planned = samples
        self._arms[name].uneven = True

    def begin(self, arm: VariantProgress, rows: LiveRows) -> None:
        """A part of a variant begins."""
        self._rows, self._current = rows, (arm, self._clock(), arm.ended)

    def end(self) -> None:
        """It is over."""
        if self._current is not None:
            arm, since, before = self._current
            arm.busy += self._clock() - since
            arm.done += arm.ended - before
        self._current = None

    def lines(self) -> Iterator[list[Segment]]:
        """Yield the frame, a column narrower than the window, so that no line is folded."""
        console, options = self._console, self._console.options
        width, height = max(1, options.max_width - 1), options.size.height
        head = [*self._head(width - 4, max(1, (height - ABOVE) // 2 - 2), options)]
        if len(head) + 2 > height:
            yield from ([Segment(fitted(line, width))] for line in head[: max(1, height - 1)])
            return
        yield from box(head, width, options)
        room = height - ABOVE - 2 - len(head) - CHROME
        rows = self._rows
        if rows is not None and room >= LEAST_ROWS and not self._ended:
            newest = rows.newest(room)
            if newest:
                yield from sample_table(newest, width=width, timed=rows.timed).lines(
                    console, options
                )

    def _head(self, width: int, most: int, options: ConsoleOptions) -> Iterator[str]:
        """Yield the heading, a line for each variant, and the difference so far."""
        arms = [*self._arms.values()]
        yield _apart(self._heading, f"{span(self._clock() - self._began)} elapsed", width)
        current = arms.index(self._current[0]) if self._current else 0
        first = max(0, min(current - most // 2, len(arms) - most))
        shown = arms[first : first + most]
        table = [self._texts(arm) for arm in shown]
        widths = [max(map(cell_len, texts)) for texts in zip(*table, strict=True)]
        for arm, texts in zip(shown, table, strict=True):
            yield _arm_line(arm, texts, widths, width, options)
        if len(shown) < len(arms):
            yield f"  and {count(len(arms) - len(shown), 'more variant')}"
        if so_far := _apart(self._so_far(), self._left(), width):
            yield so_far

    def _texts(self, arm: VariantProgress) -> tuple[str, ...]:
        """Return a variant's name, progress, pass@1, spend and notes."""
        tally = arm.tally
        rate = tally.pass_at_1 if tally else None
        return (
            middle_cut(printable_line(arm.name), LONGEST_NAME),
            f"{arm.ended:,}/{arm.planned:,}",
            "" if rate is None else f"{100 * rate:.0f} %",
            "" if tally is None or not tally.ended else _spent(tally),
            ", ".join(_notes(arm, now=self._current is not None and self._current[0] is arm)),
        )

    def _so_far(self) -> str:
        """Return the difference of two variants so far; empty if there is none."""
        if self.decision is not None and self.decision.pairs:
            decision = self.decision
            return (
                f"  so far: {printable_line(decision.variant)} "
                f"{100 * decision.difference:+.0f} points "
                f"(e-value {decision.e_value:.2g}; stops at {1 / decision.level:g})"
            )
        if len(self._arms) != PAIR:
            return ""
        base = self._arms[self._baseline]
        other = next(arm for arm in self._arms.values() if arm is not base)
        if base.tally is None or other.tally is None:
            return ""
        one, two = base.tally.fractions(), other.tally.fractions()
        both = one.keys() & two.keys()
        if not both:
            return ""
        difference = math.fsum(two[problem] - one[problem] for problem in both) / len(both)
        return (
            f"  so far: {printable_line(other.name)} {100 * difference:+.0f} points "
            f"on {count(len(both), 'problem')}"
        )

    def _left(self) -> str:
        """Return an estimate of the time left, from the time per sample of each variant."""
        paces = {arm.name: pace for arm in self._arms.values() if (pace := self._pace(arm))}
        left = [(arm, arm.planned - arm.ended) for arm in self._arms.values()]
        if self._ended or not paces or not any(samples for _, samples in left):
            return ""
        usual = sum(paces.values()) / len(paces)
        seconds = sum(samples * paces.get(arm.name, usual) for arm, samples in left)
        return f"about {span(seconds)} left"

    def _pace(self, arm: VariantProgress) -> float | None:
        """Return the seconds per sample of a variant; None if none has ended here."""
        busy, done = arm.busy, arm.done
        if self._current is not None and self._current[0] is arm:
            _, since, before = self._current
            busy += self._clock() - since
            done += arm.ended - before
        return busy / done if done else None


def _tally_of(run: Path, planned: int) -> Tally | None:
    """Return the scores of the samples that are done; None if there are none."""
    done = results_of(run)
    tally = Tally(planned)
    for result in done:
        tally.count(result)
    return tally if done else None


class _PartRows(LiveRows):
    """Rows of a part of a variant, shown by the panel."""

    def __init__(
        self,
        panel: ExperimentPanel,
        arm: VariantProgress,
        problems: Sequence[Problem],
        clock: Callable[[], float],
    ) -> None:
        super().__init__(problems, several=arm.shots > 1, clock=clock)
        self._panel = panel
        self._arm = arm

    def start(self) -> None:
        """Show these rows in place of those of the part before."""
        self._panel.begin(self._arm, self)

    def stop(self) -> None:
        """Leave them, until the next part begins."""
        self._panel.end()


def _spent(tally: Tally) -> str:
    """Return US dollars, or tokens if the cost is unknown."""
    if tally.cost is None:
        return f"{quantity(tally.tokens)} tokens"
    return dollars(tally.cost)


def _notes(arm: VariantProgress, *, now: bool) -> Iterator[str]:
    left = arm.planned - arm.ended if arm.tally and not now else 0
    if arm.tally and arm.tally.failed:
        yield f"{arm.tally.failed:,} pending"
    if left:
        yield f"{left:,} left"
    if now and arm.tally and arm.tally.running:
        yield f"{arm.tally.running:,} running"
    elif arm.shots > 1:
        yield f"up to {arm.shots:,} shots each" if arm.uneven else f"{arm.shots:,} shots each"


def _arm_line(
    arm: VariantProgress,
    texts: Sequence[str],
    widths: Sequence[int],
    width: int,
    options: ConsoleOptions,
) -> str:
    """Return a variant's line; its bar takes the remaining width, if that is enough."""
    name, far, rate, spent, notes = (
        f"{text:<{room}}" if place in {0, 4} else f"{text:>{room}}"
        for place, (text, room) in enumerate(zip(texts, widths, strict=True))
    )
    rest = width - sum(widths) - 2 - 2 * (len(texts) - 1) - 2
    bar = (
        meter(arm.ended, arm.planned, min(rest, LONGEST_BAR), options) if rest >= LEAST_BAR else ""
    )
    parts = [name, far, rate, *([bar] if bar else []), spent, notes]
    return f"  {'  '.join(parts)}".rstrip()


def _apart(left: str, right: str, width: int) -> str:
    """Return two texts on one line, the second at its end; only the first if both do not fit."""
    gap = width - cell_len(left) - cell_len(right)
    return f"{left}{' ' * gap}{right}" if right and gap > 1 else left
