"""The result of `evaluate`."""

# pyright: reportMissingTypeStubs=false

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from harness.run.observer import Failure
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run, samples_frame
from harness.run.summary.summary import Summary
from harness.stats.rates import Rate
from harness.terminal.notebook import NotebookView
from harness.terminal.run_screen import run_screen
from harness.text import count, printable_line

if TYPE_CHECKING:
    import pandas as pd


class Evaluation(NotebookView, Mapping[str, Any]):
    """Result of `evaluate`: a mapping of figures, with samples and summary.

    The keys are `pass_at_1` and `beyond_at_1` (between 0 and 1; NaN without usable samples), their
    95 % intervals `pass_at_1_ci95` and `beyond_at_1_ci95` (low, high), `beyond_at_1_passed` over
    passed samples only, `percentile` (0 to 100), `problems`, `samples`, `graded`, `pending`
    (ungraded samples, left out of all rates), `verdicts` (count of each), `tokens` and `cost` (US
    dollars; None if unknown), `model`, and `run` (the directory; None if none was kept).

    Attributes:
        summary: all figures, as in `harness run --json`.
        failures: samples not graded because infrastructure failed, with the cause.
    """

    def __init__(
        self, run: Run, summary: Summary, failures: Sequence[Failure], *, kept: bool
    ) -> None:
        self._run = run
        self.summary = summary
        self.failures = tuple(failures)
        self._path = run.path if kept else None

    @property
    def run(self) -> Run:
        """The loaded run, as comparisons and reports use it."""
        return self._run

    @property
    def path(self) -> Path | None:
        """The run directory; None if none was kept."""
        return self._path

    @property
    def results(self) -> tuple[SampleResult, ...]:
        """The graded samples, in the order in which they ended."""
        return self._run.results

    @property
    def pass_at_1(self) -> float:
        """The share of problems solved; NaN if none is graded."""
        return _value(self.summary.pass_at_1)

    @property
    def beyond_at_1(self) -> float:
        """Beyond@1 where references tell fast from slow; NaN without such problems."""
        return FIGURES["beyond_at_1"](self)

    def __getitem__(self, key: str) -> Any:
        return FIGURES[key](self)

    def __iter__(self) -> Iterator[str]:
        return iter(FIGURES)

    def __len__(self) -> int:
        return len(FIGURES)

    def to_pandas(self) -> "pd.DataFrame":
        """Return a row per sample: problem, verdict, tokens, cost (US dollars), seconds."""
        return samples_frame(self.run)

    def view(self) -> RenderableType:
        """Show the last screen of `harness run`, and why samples are pending."""
        shown = run_screen(self.run, self.summary)
        if not self.failures:
            return shown
        first = self.failures[0]
        lines = f"{count(len(self.failures), 'sample')} pending, the first because: {first.cause}"
        return Group(shown, Text(printable_line(lines)))

    def __repr__(self) -> str:
        return (
            f"<Evaluation of {self['model']}: pass@1 {self.pass_at_1:.4f}, "
            f"{self['graded']} of {self['samples']} samples graded>"
        )


def _value(rate: Rate | None) -> float:
    return math.nan if rate is None else rate.value


def _ends(rate: Rate | None) -> tuple[float, float]:
    return (math.nan, math.nan) if rate is None else (rate.low, rate.high)


def _tokens(summary: Summary) -> int | None:
    return None if summary.usage_unknown else summary.usage.total_tokens


def _timed(name: str) -> Callable[[Evaluation], Rate | None]:
    def rate(each: Evaluation) -> Rate | None:
        found = each.summary.efficiency
        return None if found is None else getattr(found, name)

    return rate


FIGURES: Mapping[str, Callable[[Evaluation], Any]] = {
    "pass_at_1": lambda each: _value(each.summary.pass_at_1),
    "pass_at_1_ci95": lambda each: _ends(each.summary.pass_at_1),
    "beyond_at_1": lambda each: _value(_timed("beyond")(each)),
    "beyond_at_1_ci95": lambda each: _ends(_timed("beyond")(each)),
    "beyond_at_1_passed": lambda each: _value(_timed("beyond_passed")(each)),
    "percentile": lambda each: 100 * _value(_timed("percentile")(each)),
    "problems": lambda each: each.summary.problems,
    "samples": lambda each: each.summary.planned,
    "graded": lambda each: each.summary.graded,
    "pending": lambda each: sum(each.summary.pending.values()),
    "verdicts": lambda each: dict(each.summary.verdicts),
    "tokens": lambda each: _tokens(each.summary),
    "cost": lambda each: each.summary.cost,
    "model": lambda each: each.run.spec["model"],
    "run": lambda each: each.path,
}
