"""Altair charts of the report.

Axes and texts have the page's colours, so that charts follow dark mode and print. Marks have
colours that contrast with both backgrounds (a test computes the contrast).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.features.report.figures import (
    FAILED_PUBLIC,
    OVERFIT,
    SOLVED,
    Part,
    Quantile,
    RunGroupRate,
    Solved,
)
from harness.stats.rates import Rate

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


def group_rates(rows: Sequence[RunGroupRate], runs: Sequence[str], title: str) -> Spec:
    """Draw a point with its interval for each run, one below another in each group."""
    import altair as alt

    order = list(dict.fromkeys(row.group for row in rows))
    base = _rates(rows, runs).encode(
        y=alt.Y("group:N", sort=order, title=None, axis=alt.Axis(labelLimit=LABEL)),
        yOffset=alt.YOffset("run:N", sort=list(runs)),
    )
    whiskers = base.mark_rule(strokeWidth=2).encode(x=share_along("low", "solved"), x2="high:Q")
    points = base.mark_point(filled=True, size=70).encode(x=share_along("value", "solved"))
    return made(alt.layer(whiskers, points), title, height=_bands(len(order), len(runs)))


def months(
    rows: Sequence[RunGroupRate], runs: Sequence[str], cutoff: str | None, title: str
) -> Spec:
    """Draw rates by month, with a line at the end of training.

    Args:
        rows: rates grouped by month, such as `2024-05`.
        runs: names of the runs.
        cutoff: last month of the models' training; the line is at its end.
        title: a sentence that says what the chart shows.
    """
    import altair as alt

    shown = all_months([row.group for row in rows] + ([cutoff] if cutoff else []))
    axis = alt.Axis(labelAngle=-45, labelOverlap=True)
    base = _rates(rows, runs).encode(
        x=alt.X("group:O", title=None, axis=axis, scale=alt.Scale(domain=shown)),
        xOffset=alt.XOffset("run:N", sort=list(runs)),
    )
    layers: list[Any] = [
        base.mark_line(strokeWidth=1, strokeDash=[2, 3]).encode(y=share_up("value")),
        base.mark_rule(strokeWidth=2).encode(y=share_up("low"), y2="high:Q"),
        base.mark_point(filled=True, size=60).encode(y=share_up("value")),
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

    known = [row._asdict() for row in rows if whole or row.within > 0]
    numbers = (
        alt.Axis(tickMinStep=1, format="d")
        if whole
        else _log_axis(values=sorted({row["within"] for row in known}))
    )
    scale = alt.Scale(zero=False, nice=False) if whole else alt.Scale(type="log", nice=False)
    lines = _steps(known, runs, point={"size": 40, "filled": True}).encode(
        x=alt.X("within:Q", title=axis, axis=numbers, scale=scale),
        y=share_up("solved"),
        tooltip=tooltip(RUN, ("within", axis, ",.6~g"), ("solved", "solved", ".1%")),
    )
    return made(lines, title, height=LINES_HEIGHT)


def quantiles(rows: Sequence[Quantile], runs: Sequence[str], axis: str, title: str) -> Spec:
    """Draw cumulative shares of samples by the amount that a sample took."""
    import altair as alt

    log = alt.Scale(type="log", nice=False)
    lines = _steps([row._asdict() for row in rows if row.amount > 0], runs).encode(
        x=alt.X("amount:Q", title=axis, scale=log, axis=_log_axis()),
        y=share_up("share", "samples that took no more"),
        order=alt.Order("share:Q"),
        tooltip=tooltip(RUN, ("amount", axis, ",.4~g"), ("share", "samples", ".0%")),
    )
    return made(lines, title, height=LINES_HEIGHT)


def _steps(rows: list[dict[str, Any]], runs: Sequence[str], **line: Any) -> "alt.Chart":
    return by_run(rows, runs).mark_line(interpolate="step-after", strokeWidth=2, **line)


def _log_axis(**options: Any) -> "alt.Axis":
    import altair as alt

    return alt.Axis(labelOverlap="greedy", labelSeparation=8, **options)


def parts(rows: Sequence[Part], runs: Sequence[str], title: str) -> Spec:
    """Draw bars of each run's share of each kind, one below another."""
    import altair as alt

    order = list(dict.fromkeys(row.kind for row in rows))
    bars = (
        by_run([row._asdict() for row in rows], runs)
        .mark_bar()
        .encode(
            y=alt.Y("kind:N", sort=order, title=None, axis=alt.Axis(labelLimit=LABEL)),
            yOffset=alt.YOffset("run:N", sort=list(runs)),
            x=share_along("share", "of the samples", upto=None),
            tooltip=tooltip(*PART),
        )
    )
    return made(bars, title, height=_bands(len(order), len(runs)))


def outcomes(rows: Sequence[Part], runs: Sequence[str], title: str) -> Spec:
    """Draw one bar for each run, divided by results on public and hidden tests."""
    import altair as alt

    kinds = list(OUTCOMES)
    ranked = [row._asdict() | {"rank": kinds.index(row.kind)} for row in rows]
    bars = (
        plotted(ranked)
        .mark_bar()
        .encode(
            y=alt.Y("run:N", sort=list(runs), title=None, axis=alt.Axis(labelLimit=LABEL)),
            x=share_along("samples", "of the samples", upto=None).stack("normalize"),
            order=alt.Order("rank:Q"),
            color=alt.Color(
                "kind:N",
                scale=alt.Scale(domain=kinds, range=list(OUTCOMES.values())),
                legend=_legend(columns=1),
            ),
            tooltip=tooltip(*PART),
        )
    )
    return made(bars, title, height=_bands(len(runs), 1, 26))


def plotted(rows: Iterable[Mapping[str, Any]]) -> "alt.Chart":
    """Return a chart of rows that are embedded in the page."""
    import altair as alt

    return alt.Chart(alt.Data(values=[dict(row) for row in rows]))


def by_run(rows: Iterable[Mapping[str, Any]], runs: Sequence[str]) -> "alt.Chart":
    """Return a chart of rows in their runs' colours; a run clicked in the legend stands out."""
    import altair as alt

    picked = alt.selection_point(name="picked", fields=["run"], bind="legend")
    opacity = alt.when(picked).then(alt.value(1)).otherwise(alt.value(0.12))
    return plotted(rows).add_params(picked).encode(color=run_colour(runs), opacity=opacity)


def _rates(rows: Sequence[RunGroupRate], runs: Sequence[str]) -> "alt.Chart":
    shown = [{"run": row.run, "group": row.group, **rate_row(row.rate)} for row in rows]
    tip = tooltip(RUN, ("group", "of", ""), *RATE, PROBLEMS)
    return by_run(shown, runs).encode(tooltip=tip)


def rate_row(rate: Rate, prefix: str = "") -> dict[str, float]:
    """Return a rate's fields in a row of a chart."""
    fields = ("value", "low", "high", "problems")
    return {f"{prefix}{field}": getattr(rate, field) for field in fields}


Told = tuple[str, str, str]
"""A field of a tooltip, its title, and its format; no format for a text."""
RUN: Told = ("run", "run", "")
PROBLEMS: Told = ("problems", "problems", ",")
ENDS: tuple[Told, ...] = (("low", "95 % from", ".1%"), ("high", "to", ".1%"))
RATE: tuple[Told, ...] = (("value", "solved", ".1%"), *ENDS)
PART: tuple[Told, ...] = (
    *(RUN, ("kind", "which", "")),
    *(("samples", "samples", ","), ("share", "share", ".1%")),
)


def tooltip(*fields: Told) -> list["alt.Tooltip"]:
    """Return what a mark tells when it is pointed at."""
    import altair as alt

    return [
        alt.Tooltip(f"{field}:{'Q' if form else 'N'}", title=title, format=form or alt.Undefined)
        for field, title, form in fields
    ]


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


def _bands(groups: int, runs: int, band: int = BAND) -> int:
    """Return the height of groups of bars, with a gap between groups, in pixels."""
    return max(60, groups * (runs * band + 8))


def made(chart: Any, title: str, *, height: int) -> Spec:
    """Return the chart's spec: full width, with a description for screen readers."""
    spec: Spec = chart.to_dict(validate=False)  # it takes 0.2 s a page; tests do
    shape = {"width": "container", "height": height, "description": title}
    look = {"background": "transparent", "font": FONT, "axis": SIZES, "legend": SIZES}
    return spec | shape | {"config": look | {"view": {"stroke": None}, "text": {"fontSize": 12}}}
