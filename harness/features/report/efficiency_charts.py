"""Charts of efficiency: percentiles among references, and speed by solve rate."""

from collections.abc import Sequence

from harness.features.report.charts import (
    LINES_HEIGHT,
    Spec,
    faded_but,
    legend_pick,
    made,
    plotted,
    run_colour,
)
from harness.features.report.efficiency_figures import FasterShare, Standing

REFERENCE = "#77828f"
SQUARE = 300


def faster_than_references(shares: Sequence[FasterShare], runs: Sequence[str], title: str) -> Spec:
    """Draw a line for each run: the share of solutions faster than a percentage of references.

    A dashed line shows the shares of references drawn at random.
    """
    import altair as alt

    picked = legend_pick()
    along = alt.X(
        "percentile:Q",
        title="faster than this percentage of references",
        scale=alt.Scale(domain=[0, 100]),
        axis=alt.Axis(tickCount=5),
    )

    def share(field: str) -> alt.Y:
        axis = alt.Axis(format="%", tickCount=5)
        return alt.Y(f"{field}:Q", title="solutions", axis=axis, scale=alt.Scale(domain=[0, 1]))

    base = plotted(
        [
            {"run": each.run, "percentile": each.percentile}
            | {key: getattr(each.share, key) for key in ("value", "low", "high", "problems")}
            for each in shares
        ]
    ).encode(x=along, color=run_colour(runs))
    alike = plotted([{"percentile": 0, "value": 1.0}, {"percentile": 100, "value": 0.0}])
    return made(
        alt.layer(
            alike.mark_line(strokeDash=[4, 4], strokeWidth=1.5, color=REFERENCE).encode(
                x=along, y=share("value")
            ),
            base.mark_area(opacity=0.15).encode(y=share("low"), y2="high:Q"),
            base.mark_line(strokeWidth=2)
            .encode(
                y=share("value"),
                opacity=faded_but(picked),
                tooltip=[
                    alt.Tooltip("run:N"),
                    alt.Tooltip("percentile:Q", title="faster than, % of references"),
                    alt.Tooltip("value:Q", title="solutions", format=".1%"),
                    alt.Tooltip("low:Q", title="95 % from", format=".1%"),
                    alt.Tooltip("high:Q", title="to", format=".1%"),
                    alt.Tooltip("problems:Q"),
                ],
            )
            .add_params(picked),
        ),
        title,
        height=LINES_HEIGHT,
    )


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
