"""Rows of the comparison tables: of figures a name and a cell for each run; and of equal spend."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.features.compare.comparison import ComparedRun, Comparison
from harness.features.compare.differences.settings import words_of
from harness.features.compare.spend_result import SpendComparison, SpendDifference
from harness.features.compare.spend_sentence import amount_of
from harness.figures import UNKNOWN, clock, percent, points
from harness.run.settings.spec import COMPARED
from harness.run.store.origin import HERE
from harness.run.summary.fact import Screen, table_rows


@dataclass(frozen=True, slots=True)
class TableRow:
    """A named row of figures or settings, one cell per run.

    Attributes:
        foreign: whether the cells hold untrusted text that must be escaped.
    """

    name: str
    cells: tuple[str, ...]
    foreign: bool = False


def rows_of(comparison: Comparison) -> Iterator[TableRow]:
    """Yield every setting and fact of the runs, without empty rows.

    Rates are of the problems that all runs have graded, so that a run has one on a screen.
    """
    runs = comparison.runs
    yield TableRow("run", tuple(side.path for side in runs), foreign=True)
    yield from _settings(runs)
    if any(side.verdicts != HERE for side in runs):
        yield TableRow("verdicts", tuple(side.verdicts for side in runs), foreign=True)
    if any(side.open.pending for side in runs):
        yield TableRow("pending", _each(runs, lambda side: f"{side.open.pending:,}"))
        yield TableRow("  if these failed … were solved", _each(runs, _bracket))
    whole = [side.summary for side in runs]
    shared = [side.paired or side.summary for side in runs]
    for name, cells in table_rows(whole, Screen.COMPARISON, shared=shared):
        yield TableRow(name, tuple(cells))
    yield TableRow("time of all samples", _each(runs, lambda side: _time(side.seconds)))


def _settings(runs: Sequence[ComparedRun]) -> Iterator[TableRow]:
    for key in COMPARED:
        cells = tuple(words_of(side.settings[key]) for side in runs)
        if len(set(cells)) > 1 or key in {"model", "mode"}:
            yield TableRow(key.replace("_", " "), cells, foreign=True)


def _bracket(side: ComparedRun) -> str:
    low, high = side.open.if_failed, side.open.if_solved
    if low is None or high is None or not side.open.pending:
        return "all graded"
    return f"{percent(low)} … {percent(high)}"


def _each(runs: Sequence[ComparedRun], figure: Callable[[ComparedRun], str]) -> tuple[str, ...]:
    return tuple(figure(side) for side in runs)


def _time(seconds: float | None) -> str:
    return UNKNOWN if seconds is None else clock(seconds)


def spend_columns(spend: SpendComparison, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return the column heads of the equal-spend table."""
    one, other = names[spend.a.label], names[spend.b.label]
    return ("at equal spend", "n", one, other, "difference", "95 % interval")


def spend_rows(spend: SpendComparison) -> Iterator[tuple[str, ...]]:
    """Yield the arms at each spend, over all problems and by difficulty."""
    for each in spend.differences:
        yield _row(spend, each, spend.problems, "")
    for group in spend.by_difficulty:
        for each in group.differences:
            yield _row(spend, each, group.problems, f"{group.name}, ")


def _row(
    spend: SpendComparison, each: SpendDifference, problems: int, group: str
) -> tuple[str, ...]:
    low, high = each.low, each.high
    ends = "one problem"
    if low is not None and high is not None:
        ends = f"{points(low)} to {points(high)}"
    return (
        f"{group}{amount_of(each.at, spend.unit)}",
        f"{problems:,}",
        percent(each.a.solved),
        percent(each.b.solved),
        points(each.difference),
        ends,
    )
