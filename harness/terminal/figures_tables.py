"""Tables of the effect of iterating and of the efficiency of solutions."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table

from harness.efficiency.efficiency_summary import (
    EfficiencySummary,
    rank,
    score,
    score_interval,
    scores,
)
from harness.run.summary.iteration import Curve
from harness.terminal.columns import figures_table
from harness.text import count, percent, printable_line

MOST_ROWS = 6  # per kind; all are in summary.json
BAR = 20  # characters for 100 %
ROOM_FOR_BARS = 70  # columns
EIGHTHS = " ▏▎▍▌▋▊▉"

Row = tuple[str, float | None, float]
"""A row's name, rate passing the public tests, and rate solved."""


class CurveView:
    """The table, with bars if the terminal is wide enough.

    Args:
        curve: curve of a run with several revisions per sample.
    """

    def __init__(self, curve: Curve) -> None:
        self._curve = curve

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        bars = options.max_width >= ROOM_FOR_BARS
        yield self._table(bars=bars, ascii_only=options.ascii_only)

    def _table(self, *, bars: bool, ascii_only: bool) -> Table:
        table = figures_table("so far", "passed public", "solved")
        if bars:
            table.add_column("", no_wrap=True)
        for rows in _kinds(self._curve):
            for name, public, solved in _telling(rows):
                cells = [name, "" if public is None else percent(public), percent(solved)]
                table.add_row(*cells, *([bar(solved, ascii_only=ascii_only)] if bars else []))
            table.add_section()
        return table


def bar(share: float, *, ascii_only: bool = False) -> str:
    """Return a bar of up to `BAR` characters, precise to an eighth of one.

    Args:
        share: length, between 0 and 1.
        ascii_only: whether to use only ASCII characters, and whole ones.
    """
    if ascii_only:
        return "#" * round(share * BAR)
    whole, eighths = divmod(round(share * BAR * 8), 8)
    return "█" * whole + EIGHTHS[eighths].strip()


def _kinds(curve: Curve) -> Iterator[list[Row]]:
    yield [(f"test run {p.test_run}", p.passed_public, p.solved) for p in curve.by_test_run]
    yield [(f"turn {point.turn}", None, point.solved) for point in curve.by_turn]
    yield [(f"{point.within:,} tokens", None, point.solved) for point in curve.by_tokens or ()]
    yield [(_dollars(point.within), None, point.solved) for point in curve.by_dollars or ()]


def _telling(rows: Sequence[Row]) -> list[Row]:
    """Return the last row and those with rising rates; if too many, only every n-th."""
    before = [(0.0, 0.0), *((public or 0.0, solved) for _, public, solved in rows)]
    rising = [
        row
        for row, then in zip(rows, before, strict=False)
        if (row[1] or 0.0, row[2]) != then or row is rows[-1]
    ]
    every = -(-len(rising) // MOST_ROWS) or 1
    return rising[::-1][::every][::-1]


def _dollars(amount: float) -> str:
    """Return an amount, however small, without an exponent."""
    return f"${Decimal(str(amount)):,f}"


def efficiency_table(found: EfficiencySummary) -> Table:
    """Return a table of Beyond and the mean percentile, with intervals."""
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
    """Yield how efficiency was measured, if it was, and what the means exclude."""
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
        text += "; two timing methods, which must not be averaged together"
    return text
