"""What a run scored: the scores so far, the last screen, and the exit code of `--fail-under`."""

import json
import math
from collections import defaultdict
from pathlib import Path

from rich.console import Console

from harness.errors import INFRASTRUCTURE, MISSED, OK, UsageError
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import bracket_of, read_run
from harness.run.summary.summary import Summary
from harness.stats.rates import wilson
from harness.terminal.run_screen import hints, run_screen
from harness.terminal.summary_table import write_json
from harness.text import count, interval, percent

CLOSE = 1e-9
"""Tolerance for rounding errors in a mean of fractions."""


def read_rate(text: str | None) -> float | None:
    """Parse a rate such as 0.6 or 60%.

    Raises:
        UsageError: it is not between 0 and 1.
    """
    if text is None:
        return None
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise UsageError(f"--fail-under {text}: give a rate between 0 and 1, as 0.6 or 60%")
    return value


def gate(err: Console, path: Path, least: float | None) -> int:
    """Return the exit code of a run under `--fail-under`.

    The result is decided as soon as the ungraded samples can no longer change it.

    Args:
        err: where to print why the run does not pass.
        path: the run directory.
        least: the required pass@1; None to always pass.
    """
    if least is None:
        return OK
    run = read_run(path)
    open_, reached = bracket_of(run, selected=True), run.summary.pass_at_1
    wanted = f"--fail-under {percent(least)}"
    low, high = open_.if_failed or 0.0, open_.if_solved or 0.0
    if reached is not None and low >= least - CLOSE:
        return OK
    if reached is not None and high < least - CLOSE:
        most = f"at most {percent(high)}" if open_.pending else percent(high)
        err.print(f"{wanted}: missed, pass@1 is {most}", soft_wrap=True)
        return MISSED
    total = open_.graded + open_.pending
    err.print(
        f"{wanted}: not decided, {open_.pending:,} of {count(total, 'sample')} not graded: pass@1 "
        f"would be between {percent(low)} and {percent(high)}{_without_tests(run.summary)}",
        soft_wrap=True,
    )
    return INFRASTRUCTURE


def _without_tests(summary: Summary) -> str:
    if not summary.ungraded:
        return ""
    return f" ({count(summary.ungraded, 'sample')} without a test that was run)"


def print_summary(out: Console, summary: Summary, run: Path, *, as_json: bool) -> None:
    """Print the results and the run's path, or the summary as one JSON object."""
    if as_json:
        write_json(out, json.dumps({"run": str(run), **summary.model_dump(mode="json")}))
        return
    out.print(run_screen(read_run(run), summary))
    for line in hints(str(run)):
        out.print(line, crop=False)
    out.print(f"saved in {run}", soft_wrap=True)


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
