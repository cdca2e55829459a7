"""The section with the rates, figures and settings of every run, side by side."""

from collections.abc import Iterator, Sequence

from harness.features.report import charts
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
from harness.features.report.labelled_runs import NOT_USED, LabelledRun
from harness.figures import figure
from harness.run.summary.fact import Screen, facts_of, table_rows

SETTINGS = ("model", "mode", "prompt", "temperature", "reasoning_effort", "max_turns")
"""Keys of the spec that are always shown."""
UNSHOWN = frozenset(
    {*SETTINGS, "price", "prices", "concurrency", "workers", "max_cost", "max_tokens_total"}
)
"""Keys shown in any case or without effect; others are shown if they differ."""


UNTOLD = frozenset({"unknown", NOT_USED})


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
