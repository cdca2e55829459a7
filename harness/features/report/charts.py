"""Altair charts of the report.

Axes and texts have the page's colours, so that charts follow dark mode and print. Marks have
colours that contrast with both backgrounds (a test computes the contrast).
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from harness.features.report.figures import (
    FAILED_PUBLIC,
    OVERFIT,
    SOLVED,
    GroupRate,
    Part,
    Quantile,
    Solved,
)

if TYPE_CHECKING:
    import altair as alt

PALETTE = ("#2b7bba", "#c8611a", "#2e8b57", "#a65fb0", "#9a7b00", "#c2477f", "#14888f", "#77777f")
"""Colours of runs; they repeat if there are more runs."""
OUTCOMES = {SOLVED: "#2e8b57", OVERFIT: "#b17a00", FAILED_PUBLIC: "#cf4a4a"}
CUTOFF = "#cf4a4a"
BAND, LINES_HEIGHT = 17, 260  # pixels: height of a bar, and of a line chart
LABEL = 145  # pixels of a name; the table has the whole name
MOST_MONTHS = 120
FONT = "system-ui, sans-serif"
SIZES = {"labelFontSize": 12, "titleFontSize": 12}

Spec = dict[str, Any]
"""A Vega-Lite chart with its data."""


def group_rates(rows: Sequence[GroupRate], runs: Sequence[str], title: str) -> Spec:
    """Draw a point with its interval for each run, one below another in each group."""
    import altair as alt

    order, picked = list(dict.fromkeys(row.group for row in rows)), legend_pick()
    base = plotted([_rate_row(row) for row in rows]).encode(
        y=alt.Y("group:N", sort=order, title=None, axis=alt.Axis(labelLimit=LABEL)),
        yOffset=alt.YOffset("run:N", sort=list(runs)),
        color=run_colour(runs),
        opacity=faded_but(picked),
        tooltip=_rate_tooltip("group"),
    )
    whiskers = base.mark_rule(strokeWidth=2).encode(x=share_along("low", "solved"), x2="high:Q")
    points = base.mark_point(filled=True, size=70).encode(x=share_along("value", "solved"))
    points = points.add_params(picked)
    return made(alt.layer(whiskers, points), title, height=_bands(len(order), len(runs)))


def months(rows: Sequence[GroupRate], runs: Sequence[str], cutoff: str | None, title: str) -> Spec:
    """Draw rates by month, with a line at the end of training.

    Args:
        rows: rates grouped by month, such as `2024-05`.
        runs: names of the runs.
        cutoff: last month of the models' training; the line is at its end.
        title: a sentence that says what the chart shows.
    """
    import altair as alt

    shown = all_months([row.group for row in rows] + ([cutoff] if cutoff else []))
    scale, picked = alt.Scale(domain=shown), legend_pick()
    axis = alt.Axis(labelAngle=-45, labelOverlap=True)
    base = plotted([_rate_row(row) for row in rows]).encode(
        x=alt.X("group:O", title=None, axis=axis, scale=scale),
        xOffset=alt.XOffset("run:N", sort=list(runs)),
        color=run_colour(runs),
        opacity=faded_but(picked),
        tooltip=_rate_tooltip("group"),
    )
    layers: list[Any] = [
        base.mark_line(strokeWidth=1, strokeDash=[2, 3]).encode(y=share_up("value")),
        base.mark_rule(strokeWidth=2).encode(y=share_up("low"), y2="high:Q"),
        base.mark_point(filled=True, size=60).encode(y=share_up("value")).add_params(picked),
    ]
    if cutoff is not None:
        late = shown.index(cutoff) * 2 > len(shown)
        mark = plotted([{"month": cutoff, "what": "training ends"}]).encode(
            x=alt.X("month:O", bandPosition=1)
        )
        layers += [
            mark.mark_rule(strokeDash=[6, 4], strokeWidth=2, color=CUTOFF),
            mark.mark_text(align="right" if late else "left", y=-11).encode(text="what:N"),
        ]
    return made(alt.layer(*layers), title, height=LINES_HEIGHT)


def all_months(some: Sequence[str]) -> list[str]:
    """Return all months from the first to the last of `some`, to show gaps in time.

    If that would be more than `MOST_MONTHS`, return only those given.
    """
    ends = [int(month[:4]) * 12 + int(month[5:]) - 1 for month in (min(some), max(some))]
    if ends[1] - ends[0] >= MOST_MONTHS:
        return sorted(set(some))
    return [f"{at // 12:04}-{at % 12 + 1:02}" for at in range(ends[0], ends[1] + 1)]


def solved_within(
    rows: Sequence[Solved], runs: Sequence[str], axis: str, title: str, *, whole: bool = False
) -> Spec:
    """Draw the share solved within an amount: turns (`whole`), else on a log axis."""
    import altair as alt

    numbers = (
        alt.Axis(tickMinStep=1, format="d")
        if whole
        else alt.Axis(
            values=sorted({row.within for row in rows if row.within > 0}),
            labelOverlap="greedy",
            labelSeparation=8,
        )
    )
    scale = alt.Scale(zero=False, nice=False) if whole else alt.Scale(type="log", nice=False)
    picked = legend_pick()
    lines = (
        plotted([asdict(row) for row in rows if whole or row.within > 0])
        .mark_line(interpolate="step-after", strokeWidth=2, point={"size": 40, "filled": True})
        .encode(
            x=alt.X("within:Q", title=axis, axis=numbers, scale=scale),
            y=share_up("solved"),
            color=run_colour(runs),
            opacity=faded_but(picked),
            tooltip=[
                alt.Tooltip("run:N"),
                alt.Tooltip("within:Q", title=axis, format=",.6~g"),
                alt.Tooltip("solved:Q", format=".1%"),
            ],
        )
    )
    return made(lines.add_params(picked), title, height=LINES_HEIGHT)


def parts(rows: Sequence[Part], runs: Sequence[str], title: str) -> Spec:
    """Draw bars of each run's share of each kind, one below another."""
    import altair as alt

    order, picked = list(dict.fromkeys(row.kind for row in rows)), legend_pick()
    bars = (
        plotted([asdict(row) for row in rows])
        .mark_bar()
        .encode(
            y=alt.Y("kind:N", sort=order, title=None, axis=alt.Axis(labelLimit=LABEL)),
            yOffset=alt.YOffset("run:N", sort=list(runs)),
            x=share_along("share", "of the samples", upto=None),
            color=run_colour(runs),
            opacity=faded_but(picked),
            tooltip=_part_tooltip(),
        )
    )
    return made(bars.add_params(picked), title, height=_bands(len(order), len(runs)))


def outcomes(rows: Sequence[Part], runs: Sequence[str], title: str) -> Spec:
    """Draw one bar for each run, divided by results on public and hidden tests."""
    import altair as alt

    kinds = list(OUTCOMES)
    ranked = [asdict(row) | {"rank": kinds.index(row.kind)} for row in rows]
    bars = (
        plotted(ranked)
        .mark_bar()
        .encode(
            y=alt.Y("run:N", sort=list(runs), title=None, axis=alt.Axis(labelLimit=LABEL)),
            x=alt.X(
                "samples:Q",
                stack="normalize",
                title="of the samples",
                axis=alt.Axis(format="%", tickCount=5, labelOverlap=True, labelSeparation=6),
            ),
            order=alt.Order("rank:Q"),
            color=alt.Color(
                "kind:N",
                scale=alt.Scale(domain=kinds, range=list(OUTCOMES.values())),
                legend=_legend(columns=1),
            ),
            tooltip=_part_tooltip(),
        )
    )
    return made(bars, title, height=_bands(len(runs), 1, 26))


def quantiles(rows: Sequence[Quantile], runs: Sequence[str], axis: str, title: str) -> Spec:
    """Draw cumulative shares of samples by the amount that a sample took."""
    import altair as alt

    picked = legend_pick()
    lines = (
        plotted([asdict(row) for row in rows if row.amount > 0])
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X(
                "amount:Q",
                title=axis,
                scale=alt.Scale(type="log", nice=False),
                axis=alt.Axis(labelOverlap="greedy", labelSeparation=8),
            ),
            y=share_up("share", "samples that took no more"),
            color=run_colour(runs),
            opacity=faded_but(picked),
            order=alt.Order("share:Q"),
            tooltip=[
                alt.Tooltip("run:N"),
                alt.Tooltip("amount:Q", title=axis, format=",.4~g"),
                alt.Tooltip("share:Q", title="samples", format=".0%"),
            ],
        )
    )
    return made(lines.add_params(picked), title, height=LINES_HEIGHT)


def legend_pick() -> "alt.Parameter":
    """Return a selection: the run clicked in the legend, or all runs."""
    import altair as alt

    return alt.selection_point(name="picked", fields=["run"], bind="legend")


def faded_but(picked: "alt.Parameter") -> Any:
    """Return an opacity that fades all but the picked run."""
    import altair as alt

    return alt.when(picked).then(alt.value(1)).otherwise(alt.value(0.12))


def plotted(rows: list[dict[str, Any]]) -> "alt.Chart":
    """Return a chart of rows that are embedded in the page."""
    import altair as alt

    return alt.Chart(alt.Data(values=rows))


def _rate_row(row: GroupRate) -> dict[str, Any]:
    rate = row.rate
    return {
        "run": row.run,
        "group": row.group,
        "value": rate.value,
        "low": rate.low,
        "high": rate.high,
        "problems": rate.problems,
    }


def run_colour(runs: Sequence[str]) -> "alt.Color":
    """Return the colour by run, with a legend if there are several runs."""
    import altair as alt

    colors = [PALETTE[number % len(PALETTE)] for number in range(len(runs))]
    legend = _legend(columns=2) if len(runs) > 1 else None
    return alt.Color("run:N", scale=alt.Scale(domain=list(runs), range=colors), legend=legend)


def _legend(columns: int) -> "alt.Legend":
    import altair as alt

    return alt.Legend(orient="top", title=None, columns=columns, labelLimit=240, symbolOpacity=1)


def share_along(field: str, title: str, upto: float | None = 1) -> "alt.X":
    """Return a horizontal axis of shares."""
    import altair as alt

    scale = alt.Undefined if upto is None else alt.Scale(domain=[0, upto])
    axis = alt.Axis(format="%", tickCount=5, labelOverlap=True, labelSeparation=6)
    return alt.X(f"{field}:Q", title=title, axis=axis, scale=scale)


def share_up(field: str, title: str = "solved") -> "alt.Y":
    """Return a vertical axis of shares."""
    import altair as alt

    axis = alt.Axis(format="%", tickCount=5)
    return alt.Y(f"{field}:Q", title=title, axis=axis, scale=alt.Scale(domain=[0, 1]))


def _rate_tooltip(group: str) -> list["alt.Tooltip"]:
    import altair as alt

    return [
        alt.Tooltip("run:N"),
        alt.Tooltip(f"{group}:N", title="of"),
        alt.Tooltip("value:Q", title="solved", format=".1%"),
        alt.Tooltip("low:Q", title="95 % from", format=".1%"),
        alt.Tooltip("high:Q", title="to", format=".1%"),
        alt.Tooltip("problems:Q"),
    ]


def _part_tooltip() -> list["alt.Tooltip"]:
    import altair as alt

    return [
        alt.Tooltip("run:N"),
        alt.Tooltip("kind:N", title="which"),
        alt.Tooltip("samples:Q", format=","),
        alt.Tooltip("share:Q", format=".1%"),
    ]


def _bands(groups: int, runs: int, band: int = BAND) -> int:
    """Return the height of groups of bars, with a gap between groups, in pixels."""
    return max(60, groups * (runs * band + 8))


def made(chart: Any, title: str, *, height: int) -> Spec:
    """Return the chart's spec: full width, with a description for screen readers."""
    spec: Spec = chart.to_dict()
    shape = {"width": "container", "height": height, "description": title}
    look = {"background": "transparent", "font": FONT, "axis": SIZES, "legend": SIZES}
    return spec | shape | {"config": look | {"view": {"stroke": None}, "text": {"fontSize": 12}}}
