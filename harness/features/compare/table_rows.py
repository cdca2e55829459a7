"""Rows of the comparison table: a name, and a cell for each run."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from harness.features.compare.comparison import ComparedRun, Comparison
from harness.features.compare.differences.settings import words_of
from harness.features.compare.efficiency import efficiency_rows
from harness.figures import dollars, figure, interval, percent
from harness.run.settings.spec import COMPARED
from harness.run.store.origin import HERE
from harness.run.summary.impossible_rates import names_of
from harness.run.summary.summary import Summary
from harness.stats.rates import Rate
from harness.terminal.summary_facts import iterating_words, loop_words

NONE = "unknown"
MINUTE, HOUR = 60, 3_600


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
    """Yield every setting and figure of the runs, without empty rows."""
    runs = comparison.runs
    yield TableRow("run", tuple(side.path for side in runs), foreign=True)
    yield from _settings(runs)
    if any(side.verdicts != HERE for side in runs):
        yield TableRow("verdicts", tuple(side.verdicts for side in runs), foreign=True)
    yield TableRow("pass@1", _each(runs, lambda s: rate_cell(_shared(s).pass_at_1)))
    if any(side.summary.mean_score is not None for side in runs):
        yield TableRow("points of a full score", _each(runs, lambda s: _points(_shared(s))))
    yield from _open(runs)
    yield from _impossible(runs)
    yield from _several(runs)
    yield from _beside(runs)
    yield from _efficiency(runs)
    yield from _spent(runs)


def _settings(runs: Sequence[ComparedRun]) -> Iterator[TableRow]:
    for key in COMPARED:
        cells = tuple(words_of(side.settings[key]) for side in runs)
        if len(set(cells)) > 1 or key in {"model", "mode"}:
            yield TableRow(key.replace("_", " "), cells, foreign=True)


def _efficiency(runs: Sequence[ComparedRun]) -> Iterator[TableRow]:
    for name, cells in efficiency_rows([side.summary.efficiency for side in runs]):
        yield TableRow(name, cells)


def _open(runs: Sequence[ComparedRun]) -> Iterator[TableRow]:
    """Yield the numbers of samples graded or not, and the bounds of pass@1."""
    yield TableRow("graded", _each(runs, lambda s: f"{s.open.graded:,} samples"))
    if any(side.summary.untested for side in runs):
        yield TableRow("ungraded", _each(runs, lambda s: f"{s.summary.untested:,}"))
    if any(side.open.pending for side in runs):
        yield TableRow("pending", _each(runs, lambda s: f"{s.open.pending:,}"))
        yield TableRow("  if these failed … were solved", _each(runs, _bracket))


def _impossible(runs: Sequence[ComparedRun]) -> Iterator[TableRow]:
    """Yield the rates of what the models did about impossible tests."""
    for key in names_of([side.summary.impossible for side in runs]):
        name = f"impossible tests, {key.replace('_', ' ')}"
        yield TableRow(name, _each(runs, lambda s, key=key: _impossible_cell(s.summary, key)))


def _impossible_cell(summary: Summary, name: str) -> str:
    impossible = summary.impossible
    return NONE if impossible is None else rate_cell(impossible.rates.get(name))


def _points(summary: Summary) -> str:
    return NONE if summary.mean_score is None else percent(summary.mean_score)


def _bracket(side: ComparedRun) -> str:
    low, high = side.open.if_failed, side.open.if_solved
    if low is None or high is None or not side.open.pending:
        return "all graded"
    return f"{percent(low)} … {percent(high)}"


def _several(runs: Sequence[ComparedRun]) -> Iterator[TableRow]:
    """Yield pass@k and pass^k, unknown for a run with fewer samples."""
    steps = sorted({each.k for side in runs for each in side.summary.of_several})
    for sign in ("@", "^"):
        for k in steps:
            yield TableRow(f"pass{sign}{k}", tuple(_of_k(_shared(side), k, sign) for side in runs))


def _of_k(summary: Summary, k: int, sign: str) -> str:
    rates = next((each for each in summary.of_several if each.k == k), None)
    if rates is None:
        return NONE
    return rate_cell(rates.any_right if sign == "@" else rates.all_right)


def _beside(runs: Sequence[ComparedRun]) -> Iterator[TableRow]:
    """Yield the rates other than pass@1."""
    if any(side.summary.curve for side in runs):
        yield from _known("first attempt", _first_attempt, runs)
    if any(side.summary.curve and side.summary.curve.iterated for side in runs):
        yield from _known("iterating", iterating_cell, runs)
    if any(side.summary.loop.later for side in runs):
        yield from _known("requests after the first", later_cell, runs)
    if all(side.summary.with_hidden for side in runs):
        yield TableRow(
            "with hidden tests", _each(runs, lambda s: rate_cell(_shared(s).with_hidden))
        )
    if any(side.summary.fallback for side in runs):
        yield from _known("without fallback", _without_fallback, runs)
    if any(side.summary.passed_public for side in runs):
        yield TableRow(
            "pass the public tests, fail a hidden one",
            _each(runs, lambda s: _overfit(_shared(s))),
        )
    if any(side.summary.tool_calls for side in runs):
        yield TableRow("tool calls well-formed", _each(runs, lambda s: _well_formed(_shared(s))))


def _spent(runs: Sequence[ComparedRun]) -> Iterator[TableRow]:
    """Yield tokens, dollars and time."""
    yield from _known("solved per 1,000 tokens", lambda s: figure(s.solved_per_1000_tokens), runs)
    yield from _known("solved per dollar", lambda s: figure(s.solved_per_dollar), runs)
    yield from _known("cost per solved", _cost_per_solved, runs)
    yield TableRow("tokens", _each(runs, lambda s: _tokens(s.summary)))
    yield TableRow("cost", _each(runs, lambda s: dollars(s.summary.cost, s.summary.prices_as_of)))
    yield TableRow("time of all samples", _each(runs, lambda s: duration(s.seconds)))


def _known(
    name: str, figure: Callable[[Summary], str], runs: Sequence[ComparedRun]
) -> Iterator[TableRow]:
    """Yield a figure, if any run has it."""
    if all(figure(side.summary) == NONE for side in runs):
        return
    yield TableRow(name, _each(runs, lambda side: figure(_shared(side))))


def _shared(side: ComparedRun) -> Summary:
    """Return the summary of the problems that all runs have graded: one rate a run on a screen."""
    return side.paired or side.summary


def _each(runs: Sequence[ComparedRun], figure: Callable[[ComparedRun], str]) -> tuple[str, ...]:
    return tuple(figure(side) for side in runs)


def rate_cell(rate: Rate | None) -> str:
    """Format a rate and its interval, in percent."""
    return f"{percent(rate.value)} ({interval(rate.low, rate.high)})" if rate else NONE


def duration(seconds: float | None) -> str:
    """Format seconds as seconds, minutes or hours."""
    if seconds is None:
        return "unknown"
    if seconds < MINUTE:
        return f"{seconds:.1f} s"
    if seconds < HOUR:
        return f"{seconds / MINUTE:.1f} min"
    return f"{seconds / HOUR:,.1f} h"


def _first_attempt(summary: Summary) -> str:
    curve = summary.curve
    if curve is None:
        return NONE
    unknown = curve.without_first_write
    return rate_cell(curve.first_write) + (f", {unknown:,} unknown" if unknown else "")


def iterating_cell(summary: Summary) -> str:
    """Return what iterating gained and lost."""
    curve = summary.curve
    if curve is None or (curve.iterated and curve.first_write is None):
        return NONE
    return iterating_words(curve).removeprefix("iterating ") if curve.iterated else "none"


def later_cell(summary: Summary) -> str:
    """Return what the requests after each sample's first brought."""
    return loop_words(summary.loop) if summary.loop.later else "none"


def _without_fallback(summary: Summary) -> str:
    return rate_cell(summary.without_fallback if summary.fallback else summary.pass_at_1)


def _overfit(summary: Summary) -> str:
    counted = f"{summary.overfit} of {summary.passed_public}"
    return f"{counted}, {rate_cell(summary.overfit_rate)}" if summary.overfit_rate else counted


def _well_formed(summary: Summary) -> str:
    share = summary.well_formed_tool_calls
    return NONE if share is None else percent(share)


def _cost_per_solved(summary: Summary) -> str:
    each = summary.solved_per_dollar
    return dollars(1 / each) if each else NONE


def _tokens(summary: Summary) -> str:
    if summary.usage_unknown and not summary.usage.total_tokens:
        return "unknown"
    unknown = f", {summary.usage_unknown:,} samples unknown" if summary.usage_unknown else ""
    return f"{summary.usage.total_tokens:,}{unknown}"
