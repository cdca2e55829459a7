"""Charts: what Vega-Lite takes, in colours that can be told from both backgrounds."""

import re
from importlib.resources import files

import pytest
import vl_convert
from for_each import for_each

from harness.features.experiment.ranking import Against, RankedVariant, Ranking
from harness.features.report import charts
from harness.features.report.figures import (
    FAILED_PUBLIC,
    OVERFIT,
    SOLVED,
    Part,
    Quantile,
    RunGroupRate,
    Solved,
)
from harness.features.report.variants_section import experiment_section
from harness.stats.rates import rate

RUNS = ["one", "the \"other\" <b>'run'</b>"]
RATE = rate([1, 0])
KINDS = (SOLVED, OVERFIT, FAILED_PUBLIC)
assert RATE is not None


def rates(*groups: str) -> list[RunGroupRate]:
    return [RunGroupRate(run, group, RATE, 2) for run in RUNS for group in groups]


def quantiles(*amounts: float) -> list[Quantile]:
    return [Quantile(run, 0.5, amount) for run in RUNS for amount in amounts]


def solved(*within: float) -> list[Solved]:
    return [Solved(run, each, 0.5) for run in RUNS for each in within]


SPECS = {
    "groups": charts.group_rates(rates("a", "b"), RUNS, "t"),
    "months": charts.months(rates("2024-11", "2025-02"), RUNS, "2024-12", "t"),
    "no cut-off": charts.months(rates("2024-11")[:1], RUNS[:1], None, "t"),
    "turns": charts.solved_within(solved(1), RUNS, "turns", "t", whole=True),
    "tokens": charts.solved_within(solved(1e3, 1e4), RUNS, "tokens", "t"),
    "parts": charts.parts([Part(run, "accepted", 1, 1.0) for run in RUNS], RUNS, "t"),
    "outcomes": charts.outcomes([Part(r, k, 1, 0.3) for r in RUNS for k in KINDS], RUNS, "t"),
    "quantiles": charts.quantiles(quantiles(1.0, 2.0), RUNS, "seconds", "t"),
}


@pytest.mark.parametrize("name", SPECS)
def test_a_chart_is_one_that_vega_lite_takes(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    spec = SPECS[name] | {"width": 400}  # there is no container here
    assert vl_convert.vegalite_to_vega(spec, vl_version="6.4")["marks"]
    assert vl_convert.vegalite_to_svg(spec, vl_version="6.4").startswith("<svg")
    assert "WARN" not in capfd.readouterr().err


@for_each("name", SPECS)
def test_a_chart_says_what_it_shows_and_fits_its_place(name: str) -> None:
    assert SPECS[name]["description"] == "t"
    assert SPECS[name]["width"] == "container"
    assert SPECS[name]["config"]["background"] == "transparent"
    assert "http" not in str({**SPECS[name], "$schema": ""})


def test_amounts_on_a_log_axis_are_labelled_where_the_curve_has_points() -> None:
    assert SPECS["tokens"]["encoding"]["x"]["axis"]["values"] == [1e3, 1e4]


def test_what_has_no_logarithm_is_not_drawn_on_such_an_axis() -> None:
    spent = charts.solved_within(solved(0, 9), RUNS, "tokens", "t")
    took = charts.quantiles(quantiles(0.0, 9.0), RUNS, "seconds", "t")
    assert [row["within"] for row in spent["data"]["values"]] == [9, 9]
    assert [row["amount"] for row in took["data"]["values"]] == [9, 9]


def test_a_gap_in_time_is_a_gap_in_the_chart() -> None:
    assert charts.all_months(["2025-02", "2024-11"]) == ["2024-11", "2024-12", "2025-01", "2025-02"]
    assert charts.all_months(["1970-01", "2025-02"]) == ["1970-01", "2025-02"]


def luminance(colour: str) -> float:
    """As WCAG 2.2 has it: relative luminance of an sRGB colour, `#rrggbb`."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


STYLE = (files("harness.features.report") / "templates" / "report.css").read_text()
COLOURS = {
    name: (light, dark)
    for name, light, dark in re.findall(r"--(\w+): light-dark\((#\w{6}), (#\w{6})\)", STYLE)
}


def test_contrast_is_as_wcag_has_it() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@for_each("theme", [0, 1], ids=["light", "dark"])
@for_each("ground", ["ground", "panel", "note"])
@for_each("ink", ["ink", "soft", "link", "good", "bad"])
def test_words_can_be_read(ink: str, ground: str, theme: int) -> None:
    assert contrast(COLOURS[ink][theme], COLOURS[ground][theme]) >= 4.5


@for_each("theme", [0, 1], ids=["light", "dark"])
@for_each("mark", [*charts.PALETTE, *charts.OUTCOMES.values(), charts.CUTOFF, "edge"])
def test_marks_and_edges_can_be_seen(mark: str, theme: int) -> None:
    colour = COLOURS[mark][theme] if mark in COLOURS else mark
    assert contrast(colour, COLOURS["ground"][theme]) >= 3


@for_each(("front", "line"), [(("a",), False), (("a", "b"), True)])
def test_the_chart_of_prices_is_in_dollars_and_names_no_line_that_is_not_there(
    front: tuple[str, ...], line: bool
) -> None:
    variants = tuple(
        RankedVariant(
            name=name,
            run=name,
            settings={},
            pass_at_1=RATE,
            cost_per_sample=cost,
            on_front=name in front,
        )
        for name, cost in (("a", 0.0004), ("b", 0.003))
    )
    ranking = Ranking(
        experiment="e",
        hash="h",
        baseline="a",
        front_by="cost",
        prices_as_of=(),
        variants=variants,
    )
    chart = experiment_section(ranking).exhibits[1]
    assert ("dashed line" in chart.about) is line
    assert chart.chart is not None
    svg = vl_convert.vegalite_to_svg({**chart.chart, "width": 900})
    assert ">$0.001<" in svg
    assert ">1m<" not in svg


def test_the_ranking_shows_the_interval_that_is_corrected_as_p_is() -> None:
    against = Against(
        problems=20,
        difference=0.2,
        low=0.01,
        high=0.39,
        p_value=0.04,
        p_holm=0.08,
        low_holm=-0.02,
        high_holm=0.42,
    )
    ranking = Ranking(
        experiment="e",
        hash="h",
        baseline="a",
        front_by=None,
        prices_as_of=(),
        variants=(
            RankedVariant(name="b", run="b", settings={}, pass_at_1=RATE, against=against),
            RankedVariant(name="a", run="a", settings={}, pass_at_1=RATE),
        ),
    )
    (table,) = experiment_section(ranking).exhibits
    row = next(iter(table.table.rows))
    assert row[2:5] == ("+20.0", "-2.0 to +42.0", "0.08")
