"""Model of the page: sections of charts and tables."""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.features.report.charts import Spec
from harness.features.report.figures import GroupRate, Part, Quantile, Solved
from harness.stats.rates import Rate
from harness.text import interval, percent


@dataclass(frozen=True)
class Table:
    """A table of texts; the first column names the rows.

    Attributes:
        commands: whether the last column holds commands to copy, one a line.
        empty: text shown if there are no rows.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    commands: bool = False
    empty: str = "nothing"


@dataclass(frozen=True)
class PageItem:
    """A table, mostly with a chart.

    Attributes:
        name: unique id of letters and dashes.
        title: title of the item.
        about: what the item shows and how to read it, in a sentence or two.
        chart: the chart; None if there is only the table.
    """

    name: str
    title: str
    about: str
    table: Table
    chart: Spec | None = None


@dataclass(frozen=True)
class Section:
    """Items on one question; `lead` says which, or why there is no answer.

    Attributes:
        folded: whether the section opens on a click, as it is rarely needed.
    """

    name: str
    title: str
    lead: str
    exhibits: tuple[PageItem, ...] = ()
    folded: bool = False


def rate_words(rate: Rate | None) -> str:
    """Return a rate with its interval as text."""
    if rate is None:
        return "unknown"
    return f"{percent(rate.value)} ({interval(rate.low, rate.high)})"


def group_table(rows: Iterable[GroupRate], of: str) -> Table:
    """Return the table of a chart of rates."""
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
    """Return the table of a chart of shares solved within an amount."""
    return Table(
        ("run", of, "solved"),
        tuple((row.run, f"{row.within:,.12g}", percent(row.solved)) for row in rows),
    )


def part_table(rows: Iterable[Part], of: str) -> Table:
    """Return the table of a chart of shares."""
    cells = ((row.kind, row.run, f"{row.samples:,}", percent(row.share)) for row in rows)
    return Table((of, "run", "samples", "share"), tuple(cells))


def quantile_table(rows: Iterable[Quantile], of: str) -> Table:
    """Return the table of a chart of quantiles, a row for each run."""
    by_run: dict[str, list[Quantile]] = {}
    for row in rows:
        by_run.setdefault(row.run, []).append(row)
    shares = sorted({row.share for found in by_run.values() for row in found})
    head = tuple({0.0: "least", 0.5: "median", 1.0: "most"}.get(s, f"{s:.0%}") for s in shares)
    return Table(
        (f"{of} a sample", *head),
        tuple((run, *(f"{row.amount:,.5g}" for row in found)) for run, found in by_run.items()),
    )
