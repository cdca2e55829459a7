"""Efficiency of a run: its facts, and its table for a terminal."""

from collections.abc import Iterator, Sequence
from functools import partial

from rich.table import Table

from harness.features.efficiency.efficiency_summary import (
    EfficiencySummary,
    rank,
    rank_words,
    score,
    score_interval,
    score_words,
    scores,
)
from harness.figures import count
from harness.run.summary.fact import Fact, Facts, Screen
from harness.run.summary.summary import Summary
from harness.terminal.rich_tables import figures_table
from harness.text import printable_line


def efficiency_table(efficiency: EfficiencySummary) -> Table:
    """Return a table of Beyond and the mean percentile, with intervals."""
    table = figures_table("efficiency", "mean", "95 % interval", "problems")
    for name, rate in scores(efficiency):
        if rate is not None:
            cells = score(rate.value), score_interval(rate.low, rate.high)
            table.add_row(name, *cells, f"{rate.problems:,}")
    if (rate := efficiency.percentile) is not None:
        low, high = (rank(100 * end) for end in (rate.low, rate.high))
        cells = rank(100 * rate.value), f"{low} to {high}"
        table.add_row("percentile, passed", *cells, f"{rate.problems:,}")
    return table


def efficiency_facts(efficiency: EfficiencySummary | None) -> Iterator[tuple[str, str]]:
    """Yield how efficiency was measured, if it was, and what the means exclude."""
    if efficiency is None:
        return
    yield "efficiency", _timed(efficiency)
    if efficiency.branches is not None:
        yield "branches", "do not count what is done in C; a second opinion, no score"
    for why, number in efficiency.untold.items():
        yield "no Beyond", f"for {count(number, 'problem')}: {printable_line(why)}"
    for each in efficiency.of_several:
        if each.too_few:
            few = count(each.too_few, "problem")
            yield f"Beyond@{each.k}", f"unknown for {few} with fewer samples; in no such mean"
    for remark, number in efficiency.remarks.items():
        yield "remark", f"on {count(number, 'sample')}: {printable_line(remark)}"


def _timed(efficiency: EfficiencySummary) -> str:
    ways = ", ".join(f"{number:,} {way}" for way, number in efficiency.timings.items())
    text = f"{count(efficiency.measured, 'sample')} timed, or failed ({ways})"
    if efficiency.not_measured:
        text += f"; {efficiency.not_measured:,} not measured, in no Beyond"
    if len(efficiency.timings) > 1:
        text += "; two timing methods, which must not be averaged together"
    return text


def _by_name(summaries: Sequence[Summary]) -> Iterator[Fact]:
    """Yield the means of each kind that a run has, and how they were measured."""
    timed = [each.efficiency for each in summaries if each.efficiency is not None]
    kinds = (scores, _mean, Screen.COMPARISON), (efficiency_facts, _told, Screen.DETAILS)
    for named, value, shown in kinds:
        for name in dict.fromkeys(name for each in timed for name, _ in named(each)):
            yield Fact(
                name.strip(),
                name,
                "words",
                partial(value, name),
                note=_note if name == "Beyond@1" and value is _mean else None,
                whole=True,
                shown=shown,
            )


def _mean(name: str, summary: Summary) -> str | None:
    rates = dict(scores(summary.efficiency)) if summary.efficiency else {}
    return score_words(rates[name]) if rates.get(name) else None


def _note(summary: Summary) -> str | None:
    beyond = summary.efficiency and summary.efficiency.beyond
    return f"CPU time, of {count(beyond.problems, 'problem')}" if beyond else None


def _told(name: str, summary: Summary) -> str:
    return "\n".join(text for of, text in efficiency_facts(summary.efficiency) if of == name)


FACTS: Facts = (
    _by_name,
    Fact(
        "percentile",
        "percentile, passed",
        "words",
        lambda s: s.efficiency and rank_words(s.efficiency.percentile),
        whole=True,
        shown=Screen.COMPARISON,
    ),
    Fact(
        "untold",
        "problems without Beyond",
        value=lambda s: s.efficiency and sum(s.efficiency.untold.values()),
        whole=True,
        shown=Screen.COMPARISON,
    ),
)
