"""How fast solutions are, in words: for the tables of a run on a terminal, and beside them."""

import math
from collections.abc import Iterator

from rich.table import Table

from harness.efficiency.efficiency_summary import EfficiencySummary
from harness.stats.rates import Rate
from harness.terminal.layout import figures_table
from harness.text import count, figure, printable_line

MILLI, MICRO = 1e-3, 1e-6
BLIND = "branches, passed"
"""Beyond's second clock, which does not see what is done in C."""


def cpu_time(seconds: float | None) -> str:
    """CPU time in the unit that it needs: `1.02 µs`, `20.1 ms`, `3.20 s`."""
    if seconds is None:
        return "-"
    if seconds < MILLI:
        return f"{figure(seconds / MICRO)} µs"
    return f"{figure(seconds / MILLI)} ms" if seconds < 1 else f"{figure(seconds)} s"


def rank(percentile: float | None) -> str:
    """A percentile rank: P92 is faster than 92 % of the references; a half is rounded up."""
    return "-" if percentile is None else f"P{math.floor(percentile + 0.5)}"


def score(beyond: float | None) -> str:
    """A Beyond, to three digits."""
    return "-" if beyond is None else f"{beyond:.3f}"


def score_interval(low: float, high: float) -> str:
    """The interval of a Beyond."""
    return f"{low:.3f} to {high:.3f}"


def score_words(rate: Rate | None) -> str:
    """A mean Beyond with its interval."""
    return f"{score(rate.value)} ({score_interval(rate.low, rate.high)})" if rate else "unknown"


def rank_words(rate: Rate | None) -> str:
    """A mean percentile with its interval."""
    if rate is None:
        return "unknown"
    low, high = (rank(100 * end) for end in (rate.low, rate.high))
    return f"{rank(100 * rate.value)} ({low} to {high})"


def scores(found: EfficiencySummary) -> Iterator[tuple[str, Rate | None]]:
    """Every mean Beyond that there may be, by its name."""
    yield "Beyond@1", found.beyond
    yield "  passed samples only", found.beyond_passed
    yield f"  by {BLIND}", found.branches
    yield from ((f"Beyond@{each.k}", each.rate) for each in found.of_several)


def efficiency_table(found: EfficiencySummary) -> Table:
    """Beyond and the mean percentile, each with its interval."""
    table = figures_table("efficiency", "mean", "95 % interval", "problems")
    for name, rate in scores(found):
        if rate is not None:
            cells = score(rate.value), score_interval(rate.low, rate.high)
            table.add_row(name, *cells, f"{rate.problems:,}")
    if (rate := found.percentile) is not None:
        low, high = (rank(100 * end) for end in (rate.low, rate.high))
        cells = rank(100 * rate.value), f"{low} to {high}"
        table.add_row("percentile, passed", *cells, f"{rate.problems:,}")
    return table


def efficiency_facts(found: EfficiencySummary | None) -> Iterator[tuple[str, str]]:
    """How it was measured, and what is in none of the means; nothing where it was not."""
    if found is None:
        return
    yield "timed", _timed(found)
    if found.branches is not None:
        yield "branches", "do not count what is done in C; a second opinion, no score"
    for why, number in found.untold.items():
        yield "no Beyond", f"for {count(number, 'problem')}: {printable_line(why)}"
    for each in found.of_several:
        if each.too_few:
            few = count(each.too_few, "problem")
            yield f"Beyond@{each.k}", f"unknown for {few} with fewer samples; in no such mean"
    for remark, number in found.remarks.items():
        yield "remark", f"on {count(number, 'sample')}: {printable_line(remark)}"


def _timed(found: EfficiencySummary) -> str:
    ways = ", ".join(f"{number:,} {way}" for way, number in found.timings.items())
    text = f"{count(found.measured, 'sample')} ({ways})"
    if found.not_measured:
        text += f"; {found.not_measured:,} not measured, in no Beyond"
    if len(found.timings) > 1:
        text += "; two ways of timing, whose means say nothing together"
    return text
