"""`compare`: runs side by side, from their directories or as they were evaluated."""

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
    """What `evaluate` and `load_run` return."""

    @property
    def run(self) -> Run:
        """The run, read."""
        ...


Compared = str | Path | HoldsRun
"""The directory of a run, or what `evaluate` or `load_run` returned."""


class RunComparison(NotebookView, Comparison):
    """What `harness compare --json` has: `runs`, and in `versus` each against the baseline.

    `model_dump_json()` is that JSON.
    """

    def view(self) -> RenderableType:
        """The answer of `harness compare`."""
        return comparison_screen(self)

    def to_pandas(self) -> "pd.DataFrame":
        """Return a row a run, the baseline first.

        Rates and their intervals are between 0 and 1; `difference`, `difference_low`,
        `difference_high` and `p` (corrected by Holm) are against the baseline, and missing for it;
        `cost` (US dollars) and `tokens` are a sample's mean, over the problems that all runs have.
        """
        return frame(list(run_rows(self)))

    def problems(self) -> "pd.DataFrame":
        """Return a row a changed outcome: the problem, who did better, and both verdicts."""
        return frame(list(flip_rows(self)))

    def spend(self) -> "pd.DataFrame":
        """Return the curves of solve rate over spend at equal spend, a row a point.

        `run` is a letter, `against` the baseline's; `unit` says what `spend` counts a problem:
        `dollars`, `tokens` or `calls`. `way` and `compared` are as in `harness compare --json`.
        """
        return frame(list(curve_rows(self)))

    def spend_chart(self) -> "alt.LayerChart":
        """Return the equal-spend curves of the first comparison as an Altair chart.

        Raises:
            UsageError: it is not known what the runs spent.
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
    """Pair runs by problem: rates, difference and test, equal spend, flips, tokens, cost and time.

    Args:
        run_a: a run; the baseline, unless that is said.
        run_b: another.
        others: more.
        baseline: which of them the others stand against, or one more, which then comes first.
        at: what both spend a problem where they are compared at equal spend, in US dollars, or in
            tokens or model calls where costs are unknown; what a sample of each run spends where
            not given. The result is `spend` in `versus`.
        filters: which problems count: `filter_difficulty`, `filter_platform`, `filter_tags`,
            `min_release_date`, `max_release_date`, `exclude_known_issues`, as of a run.

    Raises:
        RunDirectoryError: one is no run, or shares no graded problem with the baseline.
        NothingSelectedError: the filters leave no problem of a run.
        UsageError: there are too many, a filter is none, or a spend cannot be compared.
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
