"""The section with an experiment's variants, ranked, and their Pareto chart."""

from typing import Any

from harness.features.experiment.ranking import RankedVariant, Ranking
from harness.features.report import answer_charts
from harness.features.report.figures import PageItem, Section, Table
from harness.figures import UNKNOWN, count, dollars, p_value, percent, points, quantity, rate_words
from harness.text import printable_line


def experiment_section(ranking: Ranking) -> Section:
    """Return the section with the ranked table and the Pareto chart."""
    table = PageItem(
        "ranking",
        "Variants, the one that solves most first",
        _ranking_words(ranking),
        Table(
            ("variant", "solved", "difference", "95 % interval", "p (Holm)", "cost a sample",
             "tokens a sample", "front"),
            tuple(_row(number, each, ranking) for number, each in enumerate(ranking.variants, 1)),
        ),
    )  # fmt: skip
    chart = _pareto(ranking)
    return Section("variants", "Ranking", "", (table, *([chart] if chart else [])))


def _ranking_words(ranking: Ranking) -> str:
    tests = sum(variant.against is not None for variant in ranking.variants)
    return (
        f"Differences are in points of pass@1 against {printable_line(ranking.baseline)}, paired "
        f"by problem; intervals and p are corrected by Holm for {count(tests, 'test')}. A variant "
        "is on the Pareto front where no other solves as much for less."
    )


def _row(number: int, variant: RankedVariant, ranking: Ranking) -> tuple[str, ...]:
    against = variant.against
    baseline = variant.name == ranking.baseline
    done = (
        ""
        if variant.graded == variant.planned
        else f", {variant.graded:,} of {variant.planned:,} graded"
    )
    tokens = variant.tokens_per_sample
    return (
        f"{number}. {printable_line(variant.name)}",
        rate_words(variant.pass_at_1) + done,
        "baseline" if baseline else points(against.difference) if against else UNKNOWN,
        f"{points(against.low_holm)} to {points(against.high_holm)}" if against else "",
        p_value(against.p_holm) if against else "",
        dollars(variant.cost_per_sample),
        UNKNOWN if tokens is None else quantity(tokens),
        "on the front" if variant.on_front else "",
    )


def _pareto(ranking: Ranking) -> PageItem | None:
    """Return the chart of solve rate by price; None if no price is known."""
    if ranking.front_by is None:
        return None
    rows: list[dict[str, Any]] = []
    for number, variant in enumerate(ranking.variants, 1):
        by_cost = ranking.front_by == "cost"
        price = variant.cost_per_sample if by_cost else variant.tokens_per_sample
        if price is not None and variant.pass_at_1 is not None:
            rate = variant.pass_at_1
            front = "on the front" if variant.on_front else "another is better"
            rows.append(
                {"name": printable_line(variant.name), "number": f"{number}", "price": price,
                 "value": rate.value, "low": rate.low, "high": rate.high, "front": front}
            )  # fmt: skip
    if not rows:
        return None
    by_dollars = ranking.front_by == "cost"
    axis = "dollars a sample" if by_dollars else "tokens a sample"
    about = (
        f"Solve rate over {axis}, a point a variant with its 95 % interval; numbers are those of "
        "the table above."
    )
    if sum(variant.on_front for variant in ranking.variants) > 1:
        about += " The dashed line joins the variants that no other beats in both."
    table = Table(
        ("variant", axis, "solved", "front"),
        tuple(
            (f"{row['number']}. {row['name']}", f"{row['price']:,.4g}", percent(row["value"]),
             row["front"])
            for row in rows
        ),
    )  # fmt: skip
    return PageItem("pareto", "Price and solve rate", about, table,
                   answer_charts.pareto(rows, axis, about, dollars=by_dollars))  # fmt: skip
