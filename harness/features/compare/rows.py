"""A comparison as rows of data frames, and its equal-spend curves as a chart."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from harness.errors import UsageError
from harness.features.compare.answer import cost_each, names_of, shared_summary, tokens_each
from harness.features.compare.comparison import Comparison
from harness.features.compare.spend_sentence import UNIT_WORDS

if TYPE_CHECKING:
    import altair as alt


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
            }


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
