"""Charts of efficiency: solutions among references, and speed by solve rate."""

from collections.abc import Sequence
from dataclasses import asdict

from harness.efficiency.labels import cpu_time, score
from harness.features.report.charts import (
    LABEL,
    Spec,
    faded_but,
    legend_pick,
    made,
    plotted,
    run_colour,
)
from harness.features.report.efficiency_figures import ReferenceRow, Standing

REFERENCE = "#77828f"
ROW = 22  # pixels for each problem
SQUARE = 300


def among_references(strips: Sequence[ReferenceRow], runs: Sequence[str], title: str) -> Spec:
    """Draw a line for each problem: strokes are references, diamonds are solutions."""
    import altair as alt

    picked = legend_pick()
    rows = alt.Y(
        "problem:N",
        sort=[strip.problem for strip in strips],
        title=None,
        axis=alt.Axis(labelLimit=LABEL, grid=True, domain=False, ticks=False),
    )
    along = alt.X(
        "time:Q",
        title="times the fastest reference",
        scale=alt.Scale(type="log", nice=False, padding=8),
        axis=alt.Axis(format="~g", labelOverlap=True, labelSeparation=8, tickCount=6),
    )
    references = plotted(
        [
            {"problem": strip.problem, "time": time, "what": "reference"}
            for strip in strips
            for time in strip.references
        ]
    ).mark_tick(thickness=1.5, size=14, color=REFERENCE, opacity=0.8)
    solutions = plotted(
        [
            {**asdict(mark), "problem": strip.problem}
            | {"cpu": cpu_time(mark.cpu_s), "b": score(mark.beyond)}
            for strip in strips
            for mark in strip.marks
        ]
    )
    diamonds = solutions.mark_point(filled=True, shape="diamond", size=90).encode(
        x=along,
        y=rows,
        color=run_colour(runs),
        opacity=faded_but(picked),
        tooltip=[
            alt.Tooltip("run:N"),
            alt.Tooltip("sample:N"),
            alt.Tooltip("time:Q", title="times the fastest", format=".3~g"),
            alt.Tooltip("low:Q", title="95 % from", format=".3~g"),
            alt.Tooltip("high:Q", title="to", format=".3~g"),
            alt.Tooltip("cpu:N", title="CPU time"),
            alt.Tooltip("b:N", title="Beyond"),
        ],
    )
    told = [alt.Tooltip("what:N"), alt.Tooltip("time:Q", title="times the fastest", format=".3~g")]
    chart = alt.layer(references.encode(x=along, y=rows, tooltip=told), diamonds.add_params(picked))
    return made(chart, title, height=max(60, ROW * len(strips)))


def fast_and_right(standings: Sequence[Standing], runs: Sequence[str], title: str) -> Spec:
    """Draw a point for each run, with the intervals of both rates."""
    import altair as alt

    picked = legend_pick()
    rows = [
        {
            "run": each.run,
            **{f"solved_{key}": getattr(each.solved, key) for key in ("value", "low", "high")},
            **{f"fast_{key}": getattr(each.fast, key) for key in ("value", "low", "high")},
        }
        for each in standings
    ]
    base = plotted(rows).encode(
        color=run_colour(runs),
        opacity=faded_but(picked),
        tooltip=[
            alt.Tooltip("run:N"),
            alt.Tooltip("solved_value:Q", title="pass@1", format=".1%"),
            alt.Tooltip("fast_value:Q", title="Beyond@1, passed", format=".3f"),
        ],
    )
    whole = alt.Scale(domain=[0, 1])

    def x(field: str) -> alt.X:
        axis = alt.Axis(format="%", tickCount=5)
        return alt.X(f"solved_{field}:Q", title="pass@1", scale=whole, axis=axis)

    def y(field: str) -> alt.Y:
        axis = alt.Axis(format=".1f", tickCount=5)
        return alt.Y(f"fast_{field}:Q", title="Beyond@1 of what passed", scale=whole, axis=axis)

    return made(
        alt.layer(
            base.mark_rule(strokeWidth=1.5).encode(x=x("low"), x2="solved_high:Q", y=y("value")),
            base.mark_rule(strokeWidth=1.5).encode(x=x("value"), y=y("low"), y2="fast_high:Q"),
            base.mark_point(filled=True, size=90)
            .encode(x=x("value"), y=y("value"))
            .add_params(picked),
        ),
        title,
        height=SQUARE,
    )
