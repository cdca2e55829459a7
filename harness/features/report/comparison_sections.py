"""Sections that set runs side by side: an experiment's variants, pairs, figures of each run."""

from collections.abc import Iterator, Sequence
from typing import Any

from harness.features.compare.comparison import LEVEL
from harness.features.experiment.ranking import RankedVariant, Ranking
from harness.features.report import answer_charts, charts
from harness.features.report.figures import (
    Amount,
    PageItem,
    RunGroupRate,
    Section,
    Table,
    group_table,
    quantiles,
    seconds,
    tokens,
)
from harness.features.report.labelled_runs import NOT_USED, LabelledRun, Pairing
from harness.figures import (
    UNKNOWN,
    count,
    dollars,
    figure,
    p_value,
    percent,
    points,
    quantity,
    rate_words,
)
from harness.run.summary.fact import Screen, facts_of, table_rows
from harness.run.summary.loaded_run import mode_words
from harness.text import printable_line

KINDS = (
    ("mode", "Mode against mode, with the same prompt and model"),
    ("prompt", "Prompt against prompt, in the same mode"),
    ("model", "Model against model, in the same mode"),
)
MOST_PAIRS = 40
SETTINGS = ("model", "mode", "prompt", "temperature", "reasoning_effort", "max_turns")
"""Keys of the spec that are always shown."""
UNSHOWN = frozenset(
    {*SETTINGS, "price", "prices", "concurrency", "workers", "max_cost", "max_tokens_total"}
)
"""Keys shown in any case or without effect; others are shown if they differ."""
UNTOLD = frozenset({"unknown", NOT_USED})


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
        "interval and p are corrected by Holm for the pairs of this kind."
    )
    table = Table(
        ("pair", "difference", "95 % interval", "problems", "p"),
        tuple(
            (row["pair"], f"{row['difference']:+.1f}", f"{row['low']:+.1f} to {row['high']:+.1f}",
             f"{pair.paired.problems:,}", p_value(pair.p_value))
            for row, pair in zip(rows, pairs, strict=True)
        ),
    )  # fmt: skip
    chart = answer_charts.differences(rows, about)
    return PageItem(f"differences-{key}", "Differences", about, table, chart)


def _difference(key: str, pair: Pairing) -> dict[str, Any]:
    other, base = (_value(key, side.setting(key)) for side in (pair.other, pair.base))
    rest = [_value(name, pair.other.setting(name)) for name, _ in KINDS if name != key]
    return {
        "pair": f"{other} - {base} ({', '.join(rest)})",
        "difference": 100 * pair.paired.difference,
        "low": 100 * pair.low,
        "high": 100 * pair.high,
        "decided": "decided" if pair.p_value < LEVEL else "chance could do this",
    }


def _value(key: str, value: str) -> str:
    return mode_words(value) if key == "mode" else printable_line(value)


def summary_section(sides: Sequence[LabelledRun]) -> Section:
    """Return the section: rates, figures and settings of every run."""
    rates = _headlines(sides)
    about = (
        "The share of problems solved: all tests passed, public and hidden. "
        "Lines are 95 % intervals: Wilson's, by problem where there are several samples of each."
    )
    headline = PageItem(
        "headline",
        "Rates",
        about,
        group_table(rates, "rate"),
        charts.group_rates(rates, [side.label for side in sides], about) if rates else None,
    )
    whole = PageItem(
        "runs",
        "Runs",
        "Each run in numbers. A figure that is not known is shown as unknown, not as zero.",
        Table(
            ("", *(side.label for side in sides)),
            tuple(_rows(sides)),
        ),
    )
    return Section("summary", "Summary", "", (headline, whole))


def _headlines(sides: Sequence[LabelledRun]) -> list[RunGroupRate]:
    summaries = [side.run.summary for side in sides]
    return [
        RunGroupRate(side.label, fact.name, fact.of(summary), len(side.graded))
        for fact in facts_of(summaries)
        if Screen.PAGES in fact.shown and any(map(fact.is_rate_of, summaries))
        for side, summary in zip(sides, summaries, strict=True)
        if fact.of(summary) is not None
    ]


def _rows(sides: Sequence[LabelledRun]) -> Iterator[tuple[str, ...]]:
    """Yield settings and facts, a name and a cell for each run."""
    yield from _settings(sides)
    for name, cells in table_rows([side.run.summary for side in sides], Screen.PAGES):
        yield name, *cells
    yield "tokens a sample, median", *(_median(side, tokens) for side in sides)
    yield "seconds a sample, median", *(_median(side, seconds) for side in sides)
    yield "run directory", *(str(side.run.path) for side in sides)


def _settings(sides: Sequence[LabelledRun]) -> Iterator[tuple[str, ...]]:
    shown = [key for key in SETTINGS if {side.setting(key) for side in sides} - UNTOLD]
    keys = {key for side in sides for key in side.run.spec} - UNSHOWN
    shown += sorted(key for key in keys if len({side.setting(key) for side in sides}) > 1)
    for key in shown:
        yield key.replace("_", " "), *(side.setting(key) for side in sides)


def _median(side: LabelledRun, amount: Amount) -> str:
    return figure(next((q.amount for q in quantiles([side], amount) if q.share == 0.5), None))  # noqa: PLR2004 - the median
