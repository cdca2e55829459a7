"""The model of the page: sections of charts and tables."""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.features.report.charts import Spec
from harness.features.report.figures import GroupRate, Part, Quantile, Solved
from harness.stats.rates import Rate
from harness.text import interval, percent


@dataclass(frozen=True)
class Table:
    """Words and figures in rows; the first column says what the others are of.

    Attributes:
        commands: whether the last column is commands, one a line, to be copied.
        empty: what is said where there is no row.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    commands: bool = False
    empty: str = "nothing"


@dataclass(frozen=True)
class PageItem:
    """Something to look at.

    Attributes:
        name: of letters and dashes, and of no other exhibit.
        title: what it is.
        about: what it shows and how to read it, in a sentence or two.
        chart: None where the table is all there is.
    """

    name: str
    title: str
    about: str
    table: Table
    chart: Spec | None = None


@dataclass(frozen=True)
class Section:
    """Exhibits on one question; `lead` says which, or why there is no answer.

    Attributes:
        folded: whether it is opened by a click: details that few look at.
    """

    name: str
    title: str
    lead: str
    exhibits: tuple[PageItem, ...] = ()
    folded: bool = False


def rate_words(rate: Rate | None) -> str:
    """A rate with its interval."""
    if rate is None:
        return "unknown"
    return f"{percent(rate.value)} ({interval(rate.low, rate.high)})"


def group_table(rows: Iterable[GroupRate], of: str) -> Table:
    """The table behind a chart of rates."""
    return Table(
        (of, "run", "solved", "95 % interval", "problems"),
        tuple(
            (
                row.group,
                row.run,
                percent(row.rate.value),
                interval(row.rate.low, row.rate.high),
                f"{row.rate.problems:,}",
            )
            for row in rows
        ),
    )


def solved_table(rows: Iterable[Solved], of: str) -> Table:
    """The table behind a chart of what is solved within so much."""
    return Table(
        ("run", of, "solved"),
        tuple((row.run, f"{row.within:,.12g}", percent(row.solved)) for row in rows),
    )


def part_table(rows: Iterable[Part], of: str) -> Table:
    """The table behind a chart of shares."""
    cells = ((row.kind, row.run, f"{row.samples:,}", percent(row.share)) for row in rows)
    return Table((of, "run", "samples", "share"), tuple(cells))


def quantile_table(rows: Iterable[Quantile], of: str) -> Table:
    """The table behind a chart of quantiles: a row for each run."""
    by_run: dict[str, list[Quantile]] = {}
    for row in rows:
        by_run.setdefault(row.run, []).append(row)
    shares = sorted({row.share for found in by_run.values() for row in found})
    head = tuple({0.0: "least", 0.5: "median", 1.0: "most"}.get(s, f"{s:.0%}") for s in shares)
    return Table(
        (f"{of} a sample", *head),
        tuple((run, *(f"{row.amount:,.5g}" for row in found)) for run, found in by_run.items()),
    )
