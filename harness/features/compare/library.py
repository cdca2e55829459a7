"""`compare()`: compare runs given as directories or as results of `evaluate`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Unpack, cast

from rich.console import RenderableType

from harness.errors import UsageError
from harness.features.compare.answer import cost_each, shared_summary, title_words, tokens_each
from harness.features.compare.answer_screen import comparison_screen
from harness.features.compare.comparison import Comparison, compare_runs
from harness.features.compare.flips import Flip
from harness.features.compare.run_names import names_of
from harness.features.compare.spend_sentence import UNIT_WORDS
from harness.run.settings.python_signature import listing
from harness.run.summary.filters import Filters, read_filters
from harness.run.summary.loaded_run import Run, frame
from harness.terminal.notebook import NotebookView

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

FLIP_COLUMNS = (
    *("run", "against", "problem", "title", "difficulty", "outcome"),
    *("solved_before", "solved", "verdict_before", "verdict"),
)
CURVE_COLUMNS = (
    *("run", "name", "against", "way", "compared", "unit"),
    *("spend", "solved", "low", "high"),
)


def run_rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield a row per run, the baseline first."""
    names = names_of(comparison)
    by_label = {versus.label: versus for versus in comparison.versus}
    for side in sorted(comparison.runs, key=lambda side: side.label != comparison.baseline):
        rate, versus = shared_summary(side).pass_at_1, by_label.get(side.label)
        paired = versus.paired if versus else None
        yield {
            "run": side.label,
            "name": names[side.label],
            "path": side.path,
            "model": side.settings["model"],
            "mode": side.settings["mode"],
            "prompt": side.settings["prompt"],
            "problems": rate.problems if rate else 0,
            "solved": rate.value if rate else None,
            "low": rate.low if rate else None,
            "high": rate.high if rate else None,
            "difference": paired.difference if paired else None,
            "difference_low": paired.low if paired else None,
            "difference_high": paired.high if paired else None,
            "p": versus.p_holm if versus else None,
            "cost": cost_each(side),
            "tokens": tokens_each(side),
        }


def flip_rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield a row per problem whose outcome changed."""
    for versus in comparison.versus:
        for flip in versus.flips:
            yield {
                "run": versus.label,
                "against": versus.baseline,
                "problem": flip.problem,
                "title": flip.title,
                "difficulty": flip.difficulty or None,
                "outcome": "gained" if flip.better == versus.label else "lost",
                "solved_before": flip.a.solved / flip.a.samples,
                "solved": flip.b.solved / flip.b.samples,
                "verdict_before": str(flip.a.verdict),
                "verdict": str(flip.b.verdict),
                **_points(flip),
            }


def _points(flip: Flip) -> dict[str, float]:
    """Return the points of both samples; empty where the problem gives none."""
    if flip.a.score is None or flip.b.score is None:
        return {}
    return {"score_before": flip.a.score.points, "score": flip.b.score.points}


def curve_rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield a row per point of the equal-spend curves; none if no spend is known."""
    names = names_of(comparison)
    for versus in comparison.versus:
        for curve in versus.spend.curves if versus.spend else ():
            for point in curve.points:
                yield {
                    "run": curve.label,
                    "name": names[curve.label],
                    "against": versus.baseline,
                    "way": curve.way,
                    "compared": curve.compared,
                    "unit": versus.spend.unit if versus.spend else None,
                    "spend": point.spend,
                    "solved": point.solved,
                    "low": point.low,
                    "high": point.high,
                }


def spend_chart(comparison: Comparison) -> "alt.LayerChart":
    """Return the first comparison's curves with intervals, and pass@k dotted.

    Raises:
        UsageError: the runs' spend is unknown.
    """
    import altair as alt

    versus = comparison.versus[0]
    if versus.spend is None:
        raise UsageError("spend_chart(): it is not known what the runs spent")
    pair = {versus.baseline, versus.label}
    shown = [
        row
        for row in curve_rows(comparison.model_copy(update={"versus": (versus,)}))
        if row["run"] in pair and (row["compared"] or row["way"] == "any_right")
    ]
    unit = UNIT_WORDS.get(versus.spend.unit, "dollars")
    x = alt.X("spend:Q", title=f"{unit} a problem")
    share = alt.Axis(format="%")
    colour = alt.Color("name:N", title=None)
    main = alt.Chart(alt.Data(values=[row for row in shown if row["compared"]]))
    bound = alt.Chart(alt.Data(values=[row for row in shown if not row["compared"]]))
    chart = alt.layer(
        main.mark_area(opacity=0.18).encode(
            x=x, y=alt.Y("low:Q", title="solved", axis=share), y2="high:Q", color=colour
        ),
        main.mark_line().encode(x=x, y="solved:Q", color=colour),
        bound.mark_line(strokeDash=[2, 4]).encode(x=x, y="solved:Q", color=colour),
    )
    return cast("alt.LayerChart", chart)


# pyright: reportMissingTypeStubs=false


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
        return frame(run_rows(self))

    def problems(self) -> "pd.DataFrame":
        """Return a row per changed outcome, with both verdicts."""
        return frame(flip_rows(self), FLIP_COLUMNS)

    def spend(self) -> "pd.DataFrame":
        """Return the curves of solve rate over spend, a row per point.

        `run` is the run's letter and `against` the baseline's. `spend` is per problem, in `unit`:
        `dollars`, `tokens` or `calls`. `way` and `compared` are as in `harness compare --json`.
        """
        return frame(curve_rows(self), CURVE_COLUMNS)

    def spend_chart(self) -> "alt.LayerChart":
        """Return the equal-spend curves of the first comparison as an Altair chart.

        Raises:
            UsageError: the runs' spend is unknown.
        """
        return spend_chart(self)

    def __repr__(self) -> str:
        return f"<RunComparison: {title_words(self)}>"

    __str__ = __repr__


@listing(Filters)
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
    given = [_run_of(each) for each in (run_a, run_b, *others)]
    first = None if baseline is None else _run_of(baseline)
    comparison = compare_runs(given, first, _spends(at), read_filters(dict(filters)))
    return RunComparison.model_construct(**dict(comparison))


def _spends(at: object) -> list[float] | None:
    """Return spends as a list. Raises UsageError for anything but numbers."""
    if at is None:
        return None
    several = isinstance(at, Iterable) and not isinstance(at, str | bytes | Mapping)
    values: list[object] = [*cast("Iterable[object]", at)] if several else [at]
    wrong = [each for each in values if not several or not isinstance(each, Real)]
    if wrong:
        raise UsageError(
            f"compare(): at {'has' if several else 'is'} a {type(wrong[0]).__name__}; give a list "
            "of numbers, as at=[0.5, 1.0]"
        )
    return cast("list[float]", values)


def _run_of(given: Compared) -> Path | Run:
    if isinstance(given, str | Path):
        return Path(given)
    if isinstance(run := getattr(given, "run", None), Run):
        return run
    kind = type(given).__name__
    raise UsageError(
        f"compare(): a {kind} is not a run; give a directory or what evaluate or load_run returned"
    )
