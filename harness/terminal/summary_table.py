"""The tables of a run for a terminal."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table

from harness.figures import percent
from harness.run.summary.fact import Screen, facts_of
from harness.run.summary.groups import FEWEST
from harness.run.summary.iteration import Curve
from harness.run.summary.summary import Summary
from harness.terminal.part_view import shown_parts
from harness.terminal.rich_tables import facts, figures_table, rates_table

MOST_ROWS = 6  # per kind; all are in summary.json
BAR = 20  # characters for 100 %
ROOM_FOR_BARS = 70  # columns
EIGHTHS = " ▏▎▍▌▋▊▉"
Row = tuple[str, float | None, float]
"""A row's name, rate passing the public tests, and rate solved."""


def summary_view(summary: Summary) -> RenderableType:
    """Return a run's rates, breakdowns and counts."""
    told = [fact for fact in facts_of([summary]) if Screen.DETAILS in fact.shown]
    rates = [(fact.name, fact.of(summary)) for fact in told if fact.is_rate_of(summary)]
    parts: list[RenderableType] = [rates_table(*rates)] if summary.graded else []
    if summary.curve is not None and summary.curve.iterated:
        parts.append(CurveView(summary.curve))
    for title, by in (("difficulty", summary.by_difficulty), ("platform", summary.by_platform)):
        shown = [each for each in by.items() if each[1].problems >= FEWEST]
        if shown:
            parts.append(rates_table(*shown, title=f"by {title}"))
    parts += [view.table(part) for _, view, part in shown_parts(summary)]
    return Group(*parts, facts((fact.name, line) for fact in told for line in fact.lines(summary)))


class CurveView(NamedTuple):
    """The table, with bars if the terminal is wide enough.

    Args:
        curve: curve of a run with several revisions per sample.
    """

    curve: Curve

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        bars = options.max_width >= ROOM_FOR_BARS
        yield self._table(bars=bars, ascii_only=options.ascii_only)

    def _table(self, *, bars: bool, ascii_only: bool) -> Table:
        table = figures_table("so far", "passed public", "solved")
        if bars:
            table.add_column("", no_wrap=True)
        for rows in _kinds(self.curve):
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
