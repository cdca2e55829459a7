"""Rows of the report's charts and tables."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from harness.features.report.run_labels import LabelledRun, groupable
from harness.run.store.results import SampleResult
from harness.run.summary.iteration import Curve
from harness.run.summary.summary import rate_of
from harness.stats.rates import Rate

MOST_GROUPS = 20  # tags, or platforms, of a chart; the most frequent ones
LEVELS = ("easy", "medium", "hard")
UNKNOWN = "unknown"
QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
FINE = 100  # quantiles of a line


Amount = Callable[[SampleResult], float | None]
"""What a sample took; None where that is unknown."""


@dataclass(frozen=True)
class GroupRate:
    """pass@1 of a run's samples in a group, as a month or a difficulty."""

    run: str
    group: str
    rate: Rate
    samples: int


@dataclass(frozen=True)
class Solved:
    """The share of a run's samples that is solved within so much."""

    run: str
    within: float
    solved: float


@dataclass(frozen=True)
class Part:
    """How many of a run's samples are of a kind, and what share of all that is."""

    run: str
    kind: str
    samples: int
    share: float


@dataclass(frozen=True)
class Quantile:
    """A share of a run's samples took no more than so much."""

    run: str
    share: float
    amount: float


def by_difficulty(sides: Sequence[LabelledRun]) -> list[GroupRate]:
    """From easy to hard."""
    found = _grouped(sides, lambda result: [result.difficulty or UNKNOWN])
    order = (*LEVELS, UNKNOWN)
    return sorted(found, key=lambda each: order.index(each.group))


def by_platform(sides: Sequence[LabelledRun]) -> list[GroupRate]:
    """The most frequent first."""
    return most_frequent(_grouped(sides, lambda result: [result.platform or UNKNOWN]))


def by_tag(sides: Sequence[LabelledRun]) -> list[GroupRate]:
    """The most frequent first; a sample is in the group of each of its problem's tags."""
    return most_frequent(_grouped(sides, lambda result: sorted(set(result.tags))))


def by_month(sides: Sequence[LabelledRun]) -> list[GroupRate]:
    """By the month in which problems were released, the first one first: `2024-05`."""
    found = _grouped(sides, lambda result: _months(result.release_date))
    return sorted(found, key=lambda each: each.group)


def around_cutoff(sides: Sequence[LabelledRun], cutoff: date) -> list[GroupRate]:
    """Of problems that were released until a model's training ended, and later.

    Args:
        sides: the runs.
        cutoff: the first day of the last month that a model was trained on.
    """
    until, after = f"until {month_of(cutoff)}", f"after {month_of(cutoff)}"

    def era(result: SampleResult) -> list[str]:
        return [
            until if month <= month_of(cutoff) else after for month in _months(released(result))
        ]

    return sorted(_grouped(sides, era), key=lambda each: each.group != until)


def released(result: SampleResult) -> date | None:
    """When a sample's problem was released."""
    return result.release_date


def month_of(day: date) -> str:
    """A day's month: `2024-05`."""
    return f"{day:%Y-%m}"


def _months(day: date | None) -> list[str]:
    return [] if day is None else [month_of(day)]


def _grouped(
    sides: Sequence[LabelledRun], groups: Callable[[SampleResult], Iterable[str]]
) -> list[GroupRate]:
    rows: list[GroupRate] = []
    for side in sides:
        members: defaultdict[str, list[SampleResult]] = defaultdict(list)
        for result in side.graded:
            for group in groups(result):
                members[groupable(group)].append(result)
        rates = ((group, rate_of(them), len(them)) for group, them in members.items())
        rows += [GroupRate(side.label, group, rate, n) for group, rate, n in rates if rate]
    return rows


def most_frequent(rows: Sequence[GroupRate], most: int = MOST_GROUPS) -> list[GroupRate]:
    """The rows of the groups with most samples."""
    often = Counter[str]()
    for row in rows:
        often[row.group] += row.samples
    order = sorted(often, key=lambda group: (-often[group], group))[:most]
    return sorted((r for r in rows if r.group in order), key=lambda row: order.index(row.group))


def by_turn(sides: Sequence[LabelledRun]) -> list[Solved]:
    """The share solved by a turn."""
    return _curves(sides, lambda curve: [(p.turn, p.solved) for p in curve.by_turn])


def by_tokens(sides: Sequence[LabelledRun]) -> list[Solved]:
    """The share solved within so many tokens a sample."""
    return _curves(sides, lambda curve: [(p.within, p.solved) for p in curve.by_tokens or ()])


def by_dollars(sides: Sequence[LabelledRun]) -> list[Solved]:
    """The share solved within so many dollars a sample."""
    return _curves(sides, lambda curve: [(p.within, p.solved) for p in curve.by_dollars or ()])


def _curves(
    sides: Sequence[LabelledRun], points: Callable[[Curve], list[tuple[float, float]]]
) -> list[Solved]:
    """All runs' points; a run that ended earlier keeps what it had to the end of the last."""
    curves = [(side.label, side.run.summary.curve) for side in sides]
    found = {label: points(curve) for label, curve in curves if curve is not None}
    end = max((within for line in found.values() for within, _ in line), default=0.0)
    rows: list[Solved] = []
    for label, line in found.items():
        rows += [Solved(label, within, solved) for within, solved in line]
        if line and line[-1][0] < end:
            rows.append(Solved(label, end, line[-1][1]))
    return rows


SOLVED = "solved"
OVERFIT = "public passed, a hidden one failed"
FAILED_PUBLIC = "a public one failed"


def public_and_hidden(sides: Sequence[LabelledRun]) -> list[Part]:
    """Samples of problems that have tests of both kinds."""

    def outcome(result: SampleResult) -> str:
        if result.solved:
            return SOLVED
        return OVERFIT if result.overfit else FAILED_PUBLIC

    return _parts(
        sides, outcome, lambda result: bool(result.hidden_total and result.public_total),
        kinds=(SOLVED, OVERFIT, FAILED_PUBLIC),
    )  # fmt: skip


def verdicts(sides: Sequence[LabelledRun]) -> list[Part]:
    """Which verdict how many samples have, the most frequent first."""
    return _parts(sides, lambda result: spoken(result.verdict), lambda _: True)


def stop_reasons(sides: Sequence[LabelledRun]) -> list[Part]:
    """Why how many samples ended, the most frequent first."""
    return _parts(sides, lambda result: spoken(result.stop_reason), lambda _: True)


def spoken(word: str) -> str:
    """A word of ours, `wrong_answer`, as people write it."""
    return word.replace("_", " ")


def _parts(
    sides: Sequence[LabelledRun],
    kind: Callable[[SampleResult], str],
    counts: Callable[[SampleResult], bool],
    kinds: Sequence[str] = (),
) -> list[Part]:
    """One row for each run and each kind that there is in any."""
    by_run = {side.label: Counter(map(kind, filter(counts, side.run.results))) for side in sides}
    total = sum(by_run.values(), Counter[str]())
    order = [k for k in kinds if k in total] or [name for name, _ in total.most_common()]
    return [
        Part(label, name, found[name], found[name] / found.total())
        for name in order
        for label, found in by_run.items()
        if found.total()
    ]


def seconds(result: SampleResult) -> float | None:
    """Wall seconds of a sample."""
    return result.seconds


def tokens(result: SampleResult) -> float | None:
    """Tokens of a sample, where its provider told them."""
    return None if result.usage is None else result.usage.total_tokens


def dollars(result: SampleResult) -> float | None:
    """What a sample cost, where that is known."""
    return result.cost


def quantiles(
    sides: Sequence[LabelledRun], amount: Amount, *, fine: bool = False
) -> list[Quantile]:
    """How much samples took: for each share the least amount that so many stayed within.

    This is the inverse of the empirical distribution function (definition 1 of R. J. Hyndman and
    Y. Fan, The American Statistician 50, 1996): a quantile is always a sample's own amount.

    Args:
        sides: the runs.
        amount: of a sample; those where it is unknown are left out.
        fine: as many as a line needs, not as a table.
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
