"""Figures of the report: rows of charts, and the tables and sections that show them."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import Any, NamedTuple

from harness.features.report.labelled_runs import LabelledRun, groupable
from harness.figures import UNKNOWN, interval, percent, words
from harness.run.store.results import SampleResult
from harness.run.summary.iteration import Curve
from harness.run.summary.summary import rate_of
from harness.stats.rates import Rate

MOST_GROUPS = 20  # most tags or platforms in a chart; the most frequent are shown
LEVELS = ("easy", "medium", "hard")
QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
FINE = 100  # quantiles of a line chart


Amount = Callable[[SampleResult], float | None]
"""Function that returns what a sample took; None if unknown."""
SOLVED = "solved"
OVERFIT = "public passed, a hidden one failed"
FAILED_PUBLIC = "a public one failed"


class RunGroupRate(NamedTuple):
    """pass@1 of a run in a group of problems, such as a month or a difficulty."""

    run: str
    group: str
    rate: Rate
    samples: int


class Solved(NamedTuple):
    """Share of a run's samples solved within an amount, such as tokens."""

    run: str
    within: float
    solved: float


class Part(NamedTuple):
    """Number and share of a run's samples that are of a kind."""

    run: str
    kind: str
    samples: int
    share: float


class Quantile(NamedTuple):
    """Share of a run's samples that took at most this amount."""

    run: str
    share: float
    amount: float


def by_difficulty(sides: Sequence[LabelledRun]) -> list[RunGroupRate]:
    """Return rates by difficulty, from easy to hard."""
    groups = _grouped(sides, lambda result: [result.difficulty or UNKNOWN])
    return sorted(groups, key=lambda each: (*LEVELS, UNKNOWN).index(each.group))


def by_platform(sides: Sequence[LabelledRun]) -> list[RunGroupRate]:
    """Return rates by platform, the most frequent first."""
    return most_frequent(_grouped(sides, lambda result: [result.platform or UNKNOWN]))


def by_tag(sides: Sequence[LabelledRun]) -> list[RunGroupRate]:
    """Return rates by tag, the most frequent first; a sample counts for all its tags."""
    return most_frequent(_grouped(sides, lambda result: sorted(set(result.tags))))


def by_month(sides: Sequence[LabelledRun]) -> list[RunGroupRate]:
    """Return rates by the problems' month of release, such as `2024-05`, in order."""
    groups = _grouped(sides, lambda result: _months(result.release_date))
    return sorted(groups, key=lambda each: each.group)


def around_cutoff(sides: Sequence[LabelledRun], cutoff: date) -> list[RunGroupRate]:
    """Return rates of problems released up to the end of training, and after it.

    Args:
        sides: the runs.
        cutoff: first day of the last month of the models' training.
    """
    until, after = f"until {month_of(cutoff)}", f"after {month_of(cutoff)}"

    def era(result: SampleResult) -> list[str]:
        return [
            until if month <= month_of(cutoff) else after for month in _months(result.release_date)
        ]

    return sorted(_grouped(sides, era), key=lambda each: each.group != until)


def month_of(day: date) -> str:
    """Return the month of a day, such as `2024-05`."""
    return f"{day:%Y-%m}"


def _months(day: date | None) -> list[str]:
    return [] if day is None else [month_of(day)]


def _grouped(
    sides: Sequence[LabelledRun], groups: Callable[[SampleResult], Iterable[str]]
) -> list[RunGroupRate]:
    rows: list[RunGroupRate] = []
    for side in sides:
        members: defaultdict[str, list[SampleResult]] = defaultdict(list)
        for result in side.graded:
            for group in groups(result):
                members[groupable(group)].append(result)
        rates = ((group, rate_of(them), len(them)) for group, them in members.items())
        rows += [RunGroupRate(side.label, group, rate, n) for group, rate, n in rates if rate]
    return rows


def most_frequent(rows: Sequence[RunGroupRate], most: int = MOST_GROUPS) -> list[RunGroupRate]:
    """Return the rows of the groups with most samples."""
    often = Counter[str]()
    for row in rows:
        often[row.group] += row.samples
    order = sorted(often, key=lambda group: (-often[group], group))[:most]
    return sorted((r for r in rows if r.group in order), key=lambda row: order.index(row.group))


def by_turn(sides: Sequence[LabelledRun]) -> list[Solved]:
    """Return the share solved by each turn."""
    return _curves(sides, lambda curve: [(p.turn, p.solved) for p in curve.by_turn])


def by_tokens(sides: Sequence[LabelledRun]) -> list[Solved]:
    """Return the share solved within an amount of tokens per sample."""
    return _curves(sides, lambda curve: [(p.within, p.solved) for p in curve.by_tokens or ()])


def by_dollars(sides: Sequence[LabelledRun]) -> list[Solved]:
    """Return the share solved within an amount of dollars per sample."""
    return _curves(sides, lambda curve: [(p.within, p.solved) for p in curve.by_dollars or ()])


def _curves(
    sides: Sequence[LabelledRun], points: Callable[[Curve], list[tuple[float, float]]]
) -> list[Solved]:
    """Return the points of all runs; shorter curves continue flat to the last end."""
    curves = [(side.label, side.run.summary.curve) for side in sides]
    drawn = {label: points(curve) for label, curve in curves if curve is not None}
    end = max((within for line in drawn.values() for within, _ in line), default=0.0)
    rows: list[Solved] = []
    for label, line in drawn.items():
        rows += [Solved(label, within, solved) for within, solved in line]
        if line and line[-1][0] < end:
            rows.append(Solved(label, end, line[-1][1]))
    return rows


def public_and_hidden(sides: Sequence[LabelledRun]) -> list[Part]:
    """Return outcomes of samples whose problems have public and hidden tests."""

    def outcome(result: SampleResult) -> str:
        if result.solved:
            return SOLVED
        return OVERFIT if result.overfit else FAILED_PUBLIC

    kinds = SOLVED, OVERFIT, FAILED_PUBLIC
    return _parts(sides, outcome, lambda r: bool(r.hidden_total and r.public_total), kinds)


def verdicts(sides: Sequence[LabelledRun]) -> list[Part]:
    """Return the samples by verdict, the most frequent first."""
    return _parts(sides, lambda result: words(result.verdict), lambda _: True)


def stop_reasons(sides: Sequence[LabelledRun]) -> list[Part]:
    """Return the samples by stop reason, the most frequent first."""
    return _parts(sides, lambda result: words(result.stop_reason), lambda _: True)


def _parts(
    sides: Sequence[LabelledRun],
    kind: Callable[[SampleResult], str],
    counts: Callable[[SampleResult], bool],
    kinds: Sequence[str] = (),
) -> list[Part]:
    """Return a row for each kind that occurs, and each run."""
    by_run = {side.label: Counter(map(kind, filter(counts, side.run.results))) for side in sides}
    total = sum(by_run.values(), Counter[str]())
    order = [k for k in kinds if k in total] or [name for name, _ in total.most_common()]
    return [
        Part(label, name, shares[name], shares[name] / shares.total())
        for name in order
        for label, shares in by_run.items()
        if shares.total()
    ]


def seconds(result: SampleResult) -> float | None:
    """Return the wall seconds of a sample."""
    return result.seconds


def tokens(result: SampleResult) -> float | None:
    """Return the tokens of a sample; None if its provider did not report them."""
    return None if result.usage is None else result.usage.total_tokens


def dollars(result: SampleResult) -> float | None:
    """Return the cost of a sample; None if unknown."""
    return result.cost


def quantiles(
    sides: Sequence[LabelledRun], amount: Amount, *, fine: bool = False
) -> list[Quantile]:
    """Return the quantiles of what samples took.

    This is the inverse of the empirical distribution function (definition 1 of R. J. Hyndman and
    Y. Fan, The American Statistician 50, 1996): a quantile is always the amount of some sample.

    Args:
        sides: the runs.
        amount: function that returns a sample's amount; samples with an unknown one are left out.
        fine: return the quantiles of a line chart, not those of a table.
    """
    shares = [step / FINE for step in range(FINE + 1)] if fine else QUANTILES
    rows: list[Quantile] = []
    for side in sides:
        known = sorted(a for result in side.run.results if (a := amount(result)) is not None)
        known = [each for each in known if math.isfinite(each)]
        if any(known):
            rows += [
                Quantile(side.label, share, known[max(0, math.ceil(share * len(known)) - 1)])
                for share in shares
            ]
    return rows


class Table(NamedTuple):
    """A table of texts; the first column names the rows.

    Attributes:
        commands: whether the last column holds commands to copy, one a line.
        empty: text shown if there are no rows.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    commands: bool = False
    empty: str = "nothing"


class PageItem(NamedTuple):
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
    chart: dict[str, Any] | None = None


class Section(NamedTuple):
    """Items on one question; `lead` says which, or why there is no answer.

    Attributes:
        folded: whether the section opens on a click, as it is rarely needed.
    """

    name: str
    title: str
    lead: str
    exhibits: tuple[PageItem, ...] = ()
    folded: bool = False


def group_table(rows: Iterable[RunGroupRate], of: str) -> Table:
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
    shares = sorted({row.share for shares_of_run in by_run.values() for row in shares_of_run})
    head = tuple({0.0: "least", 0.5: "median", 1.0: "most"}.get(s, f"{s:.0%}") for s in shares)
    return Table(
        (f"{of} a sample", *head),
        tuple(
            (run, *(f"{row.amount:,.5g}" for row in shares_of_run))
            for run, shares_of_run in by_run.items()
        ),
    )
