"""Charts of the first screen: solve rate by spend, Pareto front, differences."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.features.compare.spend_result import SpendComparison, SpendCurve
from harness.features.compare.spend_sentence import UNIT_WORDS, amount_of
from harness.features.report.charts import (
    ENDS,
    LABEL,
    PALETTE,
    RATE,
    SIZES,
    Spec,
    made,
    plotted,
    share_up,
    tooltip,
)

HEIGHT = 250
NOUGHT = "datum.value ? datum.label : '0'"  # not `0k`
BOUND = "any_right"
"""The curve that is an upper bound, reachable only with the hidden tests."""
SEEN = 0.005
"""Smallest difference of two rates that can be seen."""

NARROW = f"min({2 * LABEL}, 0.4 * containerSize()[0])"
"""Width of the names of pairs, which leaves room for the chart on a phone."""
WAYS: Mapping[str, str] = {
    "cut_off": "",
    "chosen": ", chosen by public tests",
    "until_pass": ", one by one until the public tests pass",
    "single": ", one shot",
    BOUND: ", pass@k (bound)",
}
_FRONT = [PALETTE[0], "#77828f"]


def spend_rows(spend: SpendComparison, names: tuple[str, str]) -> list[dict[str, Any]]:
    """Return the points of the drawn curves: the two compared, and the bound.

    Each row has `arm`, `curve`, `bound`, `spend`, `solved`, `low`, `high`.
    """
    last = max(point.spend for curve in _drawn(spend) for point in curve.points)
    rows: list[dict[str, Any]] = []
    for curve in _drawn(spend):
        name = names[curve.label != spend.a.label]
        points = [(point.spend, point) for point in curve.points]
        if curve.complete and points[-1][0] < last:
            points.append((last, points[-1][1]))
        rows += [
            {
                "arm": name,
                "curve": name + WAYS[curve.way],
                "bound": curve.way == BOUND,
                "spend": at,
                "solved": point.solved,
                "low": point.solved if point.low is None else point.low,
                "high": point.solved if point.high is None else point.high,
            }
            for at, point in points
        ]
    return rows


def has_bound(spend: SpendComparison) -> bool:
    """Return whether a bound is drawn: one that stands apart from its run's compared curve."""
    return any(curve.way == BOUND for curve in _drawn(spend))


def _drawn(spend: SpendComparison) -> list[SpendCurve]:
    compared = {curve.label: curve for curve in spend.curves if curve.compared}
    bounds = [curve for curve in spend.curves if curve.way == BOUND]
    return [
        *compared.values(),
        *(curve for curve in bounds if _are_apart(curve, compared[curve.label])),
    ]


def _are_apart(bound: SpendCurve, main: SpendCurve) -> bool:
    """Return whether a bound can be told from a curve with the same spends."""
    rates = {point.spend: point.solved for point in main.points}
    return any(
        point.solved - rates.get(point.spend, point.solved) >= SEEN for point in bound.points
    )


def equal_spend(
    spend: SpendComparison, names: tuple[str, str], colours: tuple[str, str], title: str
) -> Spec:
    """Draw two curves with bands, pass@k as a dotted bound, and the crossing.

    Args:
        spend: the comparison.
        names: names of its runs A and B.
        colours: colours of both.
        title: a sentence that says what the chart shows.
    """
    import altair as alt

    rows = spend_rows(spend, names)
    unit = UNIT_WORDS.get(spend.unit, "dollars")
    axis = _amounts(dollars=spend.unit == "dollars")
    x = alt.X("spend:Q", title=f"{unit} a problem", axis=axis, scale=alt.Scale(nice=False))
    colour = alt.Color(
        "arm:N",
        scale=alt.Scale(domain=list(names), range=list(colours)),
        legend=alt.Legend(
            orient="top",
            title=None,
            columns=2,
            labelLimit=260,
            symbolType="stroke",
            symbolOpacity=1,
            symbolStrokeWidth=3,
        ),
    )
    whole = alt.Scale(domain=[0, 1])
    main = plotted([row for row in rows if not row["bound"]])
    spent = ("spend", f"{unit} a problem", ",.4~g")
    shown = tooltip(("curve", "run", ""), spent, ("solved", "solved", ".1%"), *ENDS)
    layers: list[Any] = [
        main.mark_area(opacity=0.18).encode(
            x=x, y=share_up("low"), y2="high:Q", color=colour, detail="curve:N"
        ),
        main.mark_line(strokeWidth=2.5).encode(
            x=x, y=alt.Y("solved:Q", scale=whole), color=colour, detail="curve:N", tooltip=shown
        ),
    ]
    bound = [row for row in rows if row["bound"]]
    if bound:
        layers.append(
            plotted(bound)
            .mark_line(strokeWidth=1.5, strokeDash=[2, 4])
            .encode(x=x, y="solved:Q", color=colour, detail="curve:N", tooltip=shown)
        )
    if spend.crossing is not None:
        layers += _crossing_marks(spend, x)
    return made(alt.layer(*layers), title, height=HEIGHT)


def _amounts(*, dollars: bool) -> Any:
    """Return an axis of amounts that begins at 0: `$0.0005`, but `2k` tokens."""
    import altair as alt

    return alt.Axis(
        format="$.3~r" if dollars else "~s",
        labelExpr=NOUGHT,
        labelOverlap=True,
        labelSeparation=8,
        tickCount=6,
    )


def _crossing_marks(spend: SpendComparison, x: Any) -> list[Any]:
    import altair as alt

    assert spend.crossing is not None
    at = spend.crossing.at
    mark = plotted([{"spend": at, "what": f"crossing at {amount_of(at, spend.unit)}"}])
    return [
        mark.mark_rule(strokeDash=[6, 4], strokeWidth=1.5, color="#77828f").encode(x=x),
        mark.mark_text(align="left", dx=5, baseline="top").encode(
            x=x, y=alt.value(2), text="what:N"
        ),
    ]


def pareto(
    rows: Sequence[Mapping[str, Any]], axis_title: str, title: str, *, dollars: bool
) -> Spec:
    """Draw a point with its interval for each variant, and a line along the front.

    Args:
        rows: for each variant `name`, `price`, `value`, `low`, `high`, `front`.
        axis_title: title of the price axis.
        title: a sentence that says what the chart shows.
        dollars: whether prices are in US dollars.
    """
    import altair as alt

    whole = alt.Scale(domain=[0, 1])
    scale = alt.Scale(zero=True, nice=True)
    x = alt.X("price:Q", title=axis_title, axis=_amounts(dollars=dollars), scale=scale)
    base = plotted(rows).encode(
        x=x,
        color=alt.Color(
            "front:N",
            scale=alt.Scale(domain=["on the front", "another is better"], range=_FRONT),
            legend=alt.Legend(orient="top", title=None),
        ),
        tooltip=tooltip(("name", "variant", ""), ("price", axis_title, ",.4~g"), *RATE),
    )
    front = plotted(row for row in rows if row["front"] == "on the front")
    layers = [
        front.mark_line(interpolate="step-after", strokeDash=[5, 4], color=_FRONT[0]).encode(
            x=x, y=alt.Y("value:Q", scale=whole)
        ),
        base.mark_rule(strokeWidth=1.5).encode(y=share_up("low"), y2="high:Q"),
        base.mark_point(filled=True, size=90, opacity=1).encode(y=alt.Y("value:Q", scale=whole)),
        base.mark_text(align="left", dx=8, dy=-8, limit=220).encode(
            y=alt.Y("value:Q", scale=whole), text="number:N"
        ),
    ]
    return made(alt.layer(*layers), title, height=HEIGHT)


def differences(rows: Sequence[Mapping[str, Any]], title: str) -> Spec:
    """Draw each pair's difference of rates with its interval, and a rule at 0.

    Args:
        rows: for each pair `pair`, `difference`, `low`, `high` (in points), `decided`.
        title: a sentence that says what the chart shows.
    """
    import altair as alt

    ends = [abs(row[key]) for row in rows for key in ("low", "high", "difference")]
    most = max(10.0, *ends)
    scale = alt.Scale(domain=[-most, most], nice=True)
    x = alt.X("difference:Q", title="points of pass@1", scale=scale, axis=alt.Axis(tickCount=5))
    base = plotted(rows).encode(
        y=alt.Y("pair:N", sort=None, title=None, axis=alt.Axis(labelLimit=alt.ExprRef(NARROW))),
        color=alt.Color(
            "decided:N",
            scale=alt.Scale(domain=["decided", "chance could do this"], range=_FRONT),
            legend=alt.Legend(orient="top", title=None, columns=1),
        ),
        tooltip=tooltip(
            *(("pair", "pair", ""), ("difference", "difference", "+.1f")),
            *(("low", "95 % from", "+.1f"), ("high", "to", "+.1f")),
        ),
    )
    none = plotted([{"difference": 0}]).mark_rule(strokeWidth=1, color="#77828f").encode(x=x)
    layers = [
        none,
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", scale=scale), x2="high:Q"),
        base.mark_point(filled=True, size=70, opacity=1).encode(x=x),
    ]
    spec = made(alt.layer(*layers), title, height=max(70, 26 * len(rows) + 20))
    spec["config"]["axis"] = SIZES
    return spec
