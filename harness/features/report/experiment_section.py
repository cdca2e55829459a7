"""Sections on an experiment's cells, and on pairs of runs by differing setting."""

from collections.abc import Iterator, Sequence
from typing import Any

from harness.features.compare.comparison import LEVEL
from harness.features.experiment.ranking import RankedCell, Ranking
from harness.features.report import answer_charts
from harness.features.report.page_model import PageItem, Section, Table, rate_words
from harness.features.report.pairs import Pairing
from harness.run.summary.run_words import mode_words
from harness.text import UNKNOWN, count, dollars, percent, printable_line, quantity

KINDS = (
    ("mode", "Mode against mode, with the same prompt and model"),
    ("prompt", "Prompt against prompt, in the same mode"),
    ("model", "Model against model, in the same mode"),
)
MOST_PAIRS = 40


def experiment_section(ranking: Ranking) -> Section:
    """Return the section with the ranked table and the Pareto chart."""
    table = PageItem(
        "ranking",
        "Cells, the one that solves most first",
        _ranking_words(ranking),
        Table(
            ("cell", "solved", "difference", "95 % interval", "p (Holm)", "cost a sample",
             "tokens a sample", "front"),
            tuple(_row(number, cell, ranking) for number, cell in enumerate(ranking.cells, 1)),
        ),
    )  # fmt: skip
    chart = _pareto(ranking)
    return Section("cells", "Ranking", "", (table, *([chart] if chart else [])))


def _ranking_words(ranking: Ranking) -> str:
    tests = sum(cell.against is not None for cell in ranking.cells)
    return (
        f"Differences are in points of pass@1 against {printable_line(ranking.baseline)}, paired "
        f"by problem; p is corrected by Holm for {count(tests, 'test')}. A cell is on the Pareto "
        "front where no other solves as much for less."
    )


def _row(number: int, cell: RankedCell, ranking: Ranking) -> tuple[str, ...]:
    against = cell.against
    baseline = cell.name == ranking.baseline
    done = "" if cell.graded == cell.planned else f", {cell.graded:,} of {cell.planned:,} graded"
    tokens = cell.tokens_per_sample
    return (
        f"{number}. {printable_line(cell.name)}",
        rate_words(cell.pass_at_1) + done,
        "baseline" if baseline else f"{100 * against.difference:+.1f}" if against else UNKNOWN,
        f"{100 * against.low:+.1f} to {100 * against.high:+.1f}" if against else "",
        f"{against.p_holm:.3g}" if against else "",
        dollars(cell.cost_per_sample),
        UNKNOWN if tokens is None else quantity(tokens),
        "on the front" if cell.on_front else "",
    )


def _pareto(ranking: Ranking) -> PageItem | None:
    """Return the chart of solve rate by price; None if no price is known."""
    if ranking.front_by is None:
        return None
    rows: list[dict[str, Any]] = []
    for number, cell in enumerate(ranking.cells, 1):
        by_cost = ranking.front_by == "cost"
        price = cell.cost_per_sample if by_cost else cell.tokens_per_sample
        if price is not None and cell.pass_at_1 is not None:
            rate = cell.pass_at_1
            front = "on the front" if cell.on_front else "another is better"
            rows.append(
                {"name": printable_line(cell.name), "number": f"{number}", "price": price,
                 "value": rate.value, "low": rate.low, "high": rate.high, "front": front}
            )  # fmt: skip
    if not rows:
        return None
    axis = "dollars a sample" if ranking.front_by == "cost" else "tokens a sample"
    about = (
        f"Solve rate over {axis}, a point a cell with its 95 % interval; numbers are those of the "
        "table above. The dashed line joins the cells that no other beats in both."
    )
    table = Table(
        ("cell", axis, "solved", "front"),
        tuple(
            (f"{row['number']}. {row['name']}", f"{row['price']:,.4g}", percent(row["value"]),
             row["front"])
            for row in rows
        ),
    )  # fmt: skip
    return PageItem("pareto", "Price and solve rate", about, table,
                   answer_charts.pareto(rows, axis, about))  # fmt: skip


def pairs_sections(pairs: Sequence[Pairing]) -> Iterator[Section]:
    """Yield a section for each setting in which at least two pairs of runs differ."""
    for key, title in KINDS:
        own = [pair for pair in pairs if pair.factors == (key,)][:MOST_PAIRS]
        if own and len(pairs) > 1:
            yield Section(f"by-{key}", title, "", (_differences(key, own),))


def _differences(key: str, pairs: Sequence[Pairing]) -> PageItem:
    rows = [_difference(key, pair) for pair in pairs]
    about = (
        "The difference of pass@1 over the problems that both runs graded, with its 95 % interval; "
        "p is corrected by Holm for the pairs of this kind."
    )
    table = Table(
        ("pair", "difference", "95 % interval", "problems", "p"),
        tuple(
            (row["pair"], f"{row['difference']:+.1f}", f"{row['low']:+.1f} to {row['high']:+.1f}",
             f"{pair.paired.problems:,}", f"{pair.p_value:.3g}")
            for row, pair in zip(rows, pairs, strict=True)
        ),
    )  # fmt: skip
    chart = answer_charts.differences(rows, about)
    return PageItem(f"differences-{key}", "Differences", about, table, chart)


def _difference(key: str, pair: Pairing) -> dict[str, Any]:
    other, base = (_value(key, side.said(key)) for side in (pair.other, pair.base))
    rest = [_value(name, pair.other.said(name)) for name, _ in KINDS if name != key]
    low, high = pair.paired.low, pair.paired.high
    return {
        "pair": f"{other} - {base} ({', '.join(rest)})",
        "difference": 100 * pair.paired.difference,
        "low": 100 * (pair.paired.difference if low is None else low),
        "high": 100 * (pair.paired.difference if high is None else high),
        "decided": "decided" if pair.p_value < LEVEL else "chance could do this",
    }


def _value(key: str, value: str) -> str:
    return mode_words(value) if key == "mode" else printable_line(value)
