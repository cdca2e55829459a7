"""The section with the rates, figures and settings of every run, side by side."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from harness.features.compare.table_rows import iterating_cell, later_cell
from harness.features.report import charts
from harness.features.report.figures import (
    Amount,
    PageItem,
    RunGroupRate,
    Section,
    Table,
    group_table,
    quantiles,
    rate_words,
    seconds,
    tokens,
)
from harness.features.report.labelled_runs import NOT_USED, LabelledRun
from harness.figures import dollars, figure, percent
from harness.run.store.origin import PUBLISHED, is_replay, verdicts_of
from harness.run.summary.impossible_rates import names_of
from harness.run.summary.summary import Summary
from harness.stats.pass_at_k import OfSeveral
from harness.stats.rates import Rate
from harness.terminal.summary_facts import cut_off_words

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
            tuple((name, *map(figure_of, sides)) for name, figure_of in _rows(sides)),
        ),
    )
    return Section("summary", "Summary", "", (headline, whole))


def _headlines(sides: Sequence[LabelledRun]) -> list[RunGroupRate]:
    kinds: tuple[tuple[str, Callable[[Summary], Rate | None]], ...] = (
        ("pass@1", lambda summary: summary.pass_at_1),
        ("first attempt", _first_write),
        ("with hidden tests", lambda summary: summary.with_hidden),
        ("without known issues", lambda summary: summary.without_known_issues),
        ("by the source's own rule", lambda summary: summary.by_source_rule),
    )
    return [
        RunGroupRate(side.label, name, rate, len(side.graded))
        for name, rate_in in kinds
        for side in sides
        if (rate := rate_in(side.run.summary)) is not None
    ]


def _first_write(summary: Summary) -> Rate | None:
    curve = summary.curve
    return curve.first_write if curve is not None else None


def _not_in_it(summary: Summary) -> str:
    """Return how many samples the rate of first attempts leaves out, if it leaves any out."""
    missing = 0 if summary.curve is None else summary.curve.without_first_write
    return f", {missing:,} unknown" if missing and _first_write(summary) else ""


_Row = tuple[str, Callable[[LabelledRun], str]]


def _rows(sides: Sequence[LabelledRun]) -> list[_Row]:
    own = [*_several(sides), *_points(sides), *_impossible(sides)]
    return [*_settings(sides), *_FIGURES, *own, *_TAKEN]


def _settings(sides: Sequence[LabelledRun]) -> list[_Row]:
    shown = [key for key in SETTINGS if {side.setting(key) for side in sides} - UNTOLD]
    keys = {key for side in sides for key in side.run.spec} - UNSHOWN
    shown += sorted(key for key in keys if len({side.setting(key) for side in sides}) > 1)
    return [(key.replace("_", " "), lambda side, key=key: side.setting(key)) for key in shown]


def _several(sides: Sequence[LabelledRun]) -> Iterator[_Row]:
    """Yield pass@k and pass^k for each k that any run has."""
    for k in sorted({each.k for side in sides for each in side.run.summary.of_several}):
        yield f"pass@{k}", partial(_of_k, k, lambda of: of.any_right)
        yield f"pass^{k}", partial(_of_k, k, lambda of: of.all_right)


def _points(sides: Sequence[LabelledRun]) -> Iterator[_Row]:
    """Yield the mean share of a full score, if any run has points."""
    if any(side.run.summary.mean_score is not None for side in sides):
        yield "points of a full score, mean over problems", _of(lambda s: _share(s.mean_score))


def _impossible(sides: Sequence[LabelledRun]) -> Iterator[_Row]:
    """Yield the rates of what the models did about impossible tests."""
    for name in names_of([side.run.summary.impossible for side in sides]):
        yield f"impossible tests, {name.replace('_', ' ')}", partial(_impossible_rate, name)


def _impossible_rate(name: str, side: LabelledRun) -> str:
    impossible = side.run.summary.impossible
    return "none" if impossible is None else rate_words(impossible.rates.get(name))


def _of_k(k: int, rate_in: Callable[[OfSeveral], Rate | None], side: LabelledRun) -> str:
    rates = (rate_in(each) for each in side.run.summary.of_several if each.k == k)
    return rate_words(next(rates, None))


def _of(figure_of: Callable[[Summary], str]) -> Callable[[LabelledRun], str]:
    return lambda side: figure_of(side.run.summary)


def _of_ours(figure_of: Callable[[Summary], str]) -> Callable[[LabelledRun], str]:
    """Make a row's function that says `unknown` for imported runs."""
    return lambda side: "unknown" if side.imported else figure_of(side.run.summary)


def _share(value: float | None) -> str:
    return "unknown" if value is None else percent(value)


def _median(side: LabelledRun, amount: Amount) -> str:
    return figure(next((q.amount for q in quantiles([side], amount) if q.share == 0.5), None))  # noqa: PLR2004 - the median


def _no_hidden(side: LabelledRun) -> str:
    published = verdicts_of(side.run.manifest) == PUBLISHED
    return "unknown" if published else f"{side.run.summary.no_hidden:,}"


def _cut_off(side: LabelledRun) -> str:
    summary = side.run.summary
    if side.imported:
        return "unknown"
    recorded = is_replay(side.run.manifest)
    return cut_off_words(summary, recorded=recorded) if summary.cut_off else "none"


_FIGURES: tuple[_Row, ...] = (
    ("problems", _of(lambda s: f"{s.problems:,}")),
    ("samples graded", lambda side: f"{side.run.summary.graded:,} of {side.run.planned:,}"),
    ("not graded", _of(lambda s: f"{s.untested:,}")),
    ("pending", _of(lambda s: _counts(s.pending))),
    ("pass@1", _of(lambda s: rate_words(s.pass_at_1))),
    ("first attempt", _of(lambda s: rate_words(_first_write(s)) + _not_in_it(s))),
    ("iterating", _of(iterating_cell)),
    ("requests after the first", _of(later_cell)),
    ("with hidden tests", _of(lambda s: rate_words(s.with_hidden))),
    ("tests passed, mean over problems", _of(lambda s: _share(s.mean_fraction))),
    (
        "of those that pass the public tests, fail a hidden one",
        _of(lambda s: rate_words(s.overfit_rate)),
    ),
    ("problems without hidden tests", _no_hidden),
)
_TAKEN: tuple[_Row, ...] = (
    ("cost", _of(lambda s: dollars(s.cost, s.prices_as_of))),
    ("solved per dollar", _of(lambda s: figure(s.solved_per_dollar))),
    ("input tokens", _of(lambda s: _tokens(s, s.usage.input_tokens))),
    ("output tokens", _of(lambda s: _tokens(s, s.usage.output_tokens))),
    ("solved per 1,000 tokens", _of(lambda s: figure(s.solved_per_1000_tokens))),
    ("tokens a sample, median", lambda side: _median(side, tokens)),
    ("seconds a sample, median", lambda side: _median(side, seconds)),
    ("model calls", _of_ours(lambda s: f"{s.model_calls:,}")),
    ("tool calls", _of_ours(lambda s: f"{s.tool_calls:,}")),
    ("answers cut off", _cut_off),
    ("well-formed tool calls", _of(lambda s: _share(s.well_formed_tool_calls))),
    ("sandbox", _of(lambda s: _counts(s.isolation))),
    ("run directory", lambda side: str(side.run.path)),
)


def _tokens(summary: Summary, known: int) -> str:
    done = summary.graded + summary.ungraded
    if summary.usage_unknown:
        return f"{known:,} or more" if summary.usage_unknown < done else "unknown"
    return f"{known:,}"


def _counts(of: dict[str, int]) -> str:
    named = (f"{name.replace('_', ' ')} {number:,}" for name, number in of.items())
    return ", ".join(named) or "none"
