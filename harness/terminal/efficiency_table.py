"""The table of a run's efficiency for a terminal."""

from collections.abc import Iterator

from rich.table import Table

from harness.efficiency.efficiency_summary import (
    EfficiencySummary,
    rank,
    score,
    score_interval,
    scores,
)
from harness.figures import count
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
