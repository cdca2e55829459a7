"""`compare()`: compare runs given as directories or as results of `evaluate`."""

# pyright: reportMissingTypeStubs=false

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Unpack

from rich.console import RenderableType

from harness.errors import UsageError
from harness.features.compare.answer import title_words
from harness.features.compare.comparison import LABELS, Comparison, compare_read
from harness.features.compare.rows import curve_rows, flip_rows, run_rows, spend_chart
from harness.features.compare.screen import comparison_screen
from harness.run.summary.frames import frame
from harness.run.summary.loaded_run import Run, read_run
from harness.run.summary.result_filter import Filters, filtered, read_filters
from harness.terminal.notebook import NotebookView

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd


class HoldsRun(Protocol):
    """An object with a run, such as the result of `evaluate` or `load_run`."""

    @property
    def run(self) -> Run:
        """The loaded run."""
        ...


Compared = str | Path | HoldsRun
"""A run directory, or the result of `evaluate` or `load_run`."""


class RunComparison(NotebookView, Comparison):
    """The comparison: `runs`, and `versus` with each run against the baseline.

    `model_dump_json()` equals the output of `harness compare --json`.
    """

    def view(self) -> RenderableType:
        """Return the first screen of `harness compare`."""
        return comparison_screen(self)

    def to_pandas(self) -> "pd.DataFrame":
        """Return a row per run, the baseline first.

        Rates and their intervals are between 0 and 1. `difference`, `difference_low`,
        `difference_high` and `p` (corrected by Holm) are relative to the baseline, and missing for
        it. `cost` (US dollars) and `tokens` are means per sample over the problems all runs have.
        """
        return frame(list(run_rows(self)))

    def problems(self) -> "pd.DataFrame":
        """Return a row per changed outcome, with both verdicts."""
        return frame(list(flip_rows(self)))

    def spend(self) -> "pd.DataFrame":
        """Return the curves of solve rate over spend, a row per point.

        `run` is the run's letter and `against` the baseline's. `spend` is per problem, in `unit`:
        `dollars`, `tokens` or `calls`. `way` and `compared` are as in `harness compare --json`.
        """
        return frame(list(curve_rows(self)))

    def spend_chart(self) -> "alt.LayerChart":
        """Return the equal-spend curves of the first comparison as an Altair chart.

        Raises:
            UsageError: the runs' spend is unknown.
        """
        return spend_chart(self)

    def __repr__(self) -> str:
        return f"<RunComparison: {title_words(self)}>"


def compare(
    run_a: Compared,
    run_b: Compared,
    *others: Compared,
    baseline: Compared | None = None,
    at: Sequence[float] | None = None,
    **filters: Unpack[Filters],
) -> RunComparison:
    """Compare runs, paired by problem: rates, equal spend, flips, cost and time.

    Args:
        run_a: the first run; the baseline unless `baseline` is given.
        run_b: the second run.
        others: further runs.
        baseline: the run the others are compared with; if not among them, it is added first.
        at: mean spends per problem to compare at, in US dollars, or in tokens or model calls if
            costs are unknown. Default: the mean spend of a sample of each run. The result is
            `spend` in `versus`.
        filters: which problems count: `filter_difficulty`, `filter_platform`, `filter_tags`,
            `min_release_date`, `max_release_date`, `exclude_known_issues`, as for a run.

    Raises:
        RunDirectoryError: a path is not a run, or a run shares no graded problem with the baseline.
        NothingSelectedError: the filters leave no problem of a run.
        UsageError: there are too many runs, a filter is invalid, or a spend cannot be compared.
    """
    given: list[Compared] = [run_a, run_b, *others]
    place = _place(given, baseline)
    if place is None and baseline is not None:
        given, place = [baseline, *given], 0
    if len(given) > len(LABELS):
        raise UsageError(f"compare(): give {len(LABELS)} runs at most")
    only = read_filters(dict(filters))
    found = compare_read([filtered(_read(each), only) for each in given], place or 0, at)
    return RunComparison.model_construct(**dict(found))


def _place(given: Sequence[Compared], baseline: Compared | None) -> int | None:
    wanted = _key(baseline)
    return next((place for place, each in enumerate(given) if _key(each) == wanted), None)


def _key(given: Compared | None) -> object:
    return Path(given).resolve() if isinstance(given, str | Path) else id(given)


def _read(given: Compared) -> Run:
    if isinstance(given, str | Path):
        return read_run(Path(given))
    if isinstance(run := getattr(given, "run", None), Run):
        return run
    kind = type(given).__name__
    raise UsageError(
        f"compare(): a {kind} is no run; give a directory or what evaluate or load_run returned"
    )
