"""Rank the cells of an experiment by what they solve and cost."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from harness.features.experiment.answers import Answer, answers_of
from harness.features.experiment.decision import Decision
from harness.features.experiment.experiment_file import read_experiment
from harness.features.experiment.grid import OF_THE_WHOLE
from harness.models.protocol import Frozen
from harness.run.plan.pricing import prices_as_of
from harness.run.store.directory import MANIFEST
from harness.run.summary.loaded_run import read_run
from harness.run.summary.summary import Summary, solved_counts
from harness.stats.paired import corrected_confidence, holm, paired_score
from harness.stats.paired_score import CONFIDENCE, Score
from harness.stats.rates import Rate


def pareto_front(points: Sequence[tuple[float, float]]) -> list[int]:
    """The indices of the points that no other dominates, in the order given.

    A point is a price and a value. It is dominated by one that costs no more and is worth no less,
    and is better in one of the two (V. Pareto, Manuale di economia politica, 1906; as in K. Deb,
    Multi-Objective Optimization using Evolutionary Algorithms, 2001, definition 2.5). Of equal
    points all are on the front, or none.
    """
    kept: set[tuple[float, float]] = set()
    best = -float("inf")
    for price, value in sorted(set(points), key=lambda point: (point[0], -point[1])):
        if value > best:
            kept.add((price, value))
            best = value
    return [index for index, point in enumerate(points) if point in kept]


SCHEMA = 1


class Against(Frozen):
    """A cell against the baseline, over the problems that both have graded.

    Attributes:
        problems: how many these are.
        difference: pass@1 of the cell less that of the baseline.
        low, high: the 95 % score interval of the difference, which excludes 0 exactly where
            p_value < 0.05.
        p_value: of the difference, by the score test; `p_holm` is corrected for all the cells that
            are compared.
        low_holm, high_holm: the interval corrected likewise: it excludes 0 exactly where
            p_holm < 0.05.
    """

    problems: int
    difference: float
    low: float
    high: float
    p_value: float
    p_holm: float
    low_holm: float
    high_holm: float


class RankedCell(Frozen):
    """A cell and its figures.

    Attributes:
        run: its directory.
        settings: what tells the cells apart, by the keys of a spec.
        planned, graded, pending: samples; those that are neither graded nor pending had no test.
        against: None of the baseline itself, and where no problem is graded in both.
        tokens: of all samples, `cost` in US dollars; None where any sample's is unknown.
        cost_per_sample, tokens_per_sample: of a graded sample, on average.
        cost_per_solved: US dollars of all graded samples over those that are solved; None where
            the former is unknown, or nothing is solved.
        on_front: whether no other cell solves at least as much for less, or more for as much.
    """

    name: str
    run: str
    settings: dict[str, Any]
    planned: int
    graded: int
    pending: int
    pass_at_1: Rate | None
    against: Against | None
    tokens: int | None
    cost: float | None
    cost_per_sample: float | None
    tokens_per_sample: float | None
    cost_per_solved: float | None
    on_front: bool


class Ranking(Frozen):
    """An experiment's cells, the one that solves most first.

    Attributes:
        hash: of the grid.
        baseline: the name of the cell that the others are compared with.
        front_by: what `on_front` weighs solving against, of a sample; tokens stand for a cost that
            is unknown where all cells have one model. None where neither is known.
        prices_as_of: the dates of the lists that prices are from.
        decision: what the experiment came to, where it was allowed to stop early.
        answers: the cells at equal spend, for each pair that can be compared.
    """

    schema_version: int = SCHEMA
    experiment: str
    hash: str
    baseline: str
    front_by: Literal["cost", "tokens"] | None
    prices_as_of: tuple[str, ...]
    cells: tuple[RankedCell, ...]
    decision: Decision | None = None
    answers: tuple[Answer, ...] = ()


@dataclass(frozen=True, slots=True)
class _Figures:
    """What is kept of a cell's run once it is read; of a cell that has not begun, nothing.

    Attributes:
        fractions: of samples solved, by problem.
        cost, tokens: of the graded samples; None where any sample's is unknown.
        samples, solved: graded samples, and how many of them are solved.
    """

    planned: int = 0
    summary: Summary | None = None
    fractions: Mapping[str, float] = field(default_factory=dict[str, float])
    numbers: Mapping[str, int] = field(default_factory=dict[str, int])
    cost: float | None = None
    tokens: int | None = None
    samples: int = 0
    solved: int = 0
    prices_as_of: str | None = None

    @property
    def rate(self) -> Rate | None:
        return self.summary.pass_at_1 if self.summary else None

    @property
    def cost_per_solved(self) -> float | None:
        return None if self.cost is None or not self.solved else self.cost / self.solved

    def per_sample(self, amount: float | None) -> float | None:
        return None if amount is None or not self.samples else amount / self.samples


def rank(path: Path) -> Ranking:
    """Rank the cells of an experiment; those that are under way as far as they are.

    Raises:
        RunDirectoryError: it is no experiment, or a cell's run cannot be read.
    """
    found = read_experiment(path)
    figures = {name: _figures(path / name) for name in found.cells}
    against = _against(figures, found.baseline)
    front_by = _front_by(figures, found.cells)
    front = _front(figures, front_by)
    told = _differing(found.cells)
    cells = [
        RankedCell(
            name=name,
            run=str(path / name),
            settings={key: found.cells[name].get(key) for key in told},
            planned=own.planned,
            graded=own.samples,
            pending=sum(own.summary.pending.values()) if own.summary else 0,
            pass_at_1=own.rate,
            against=against.get(name),
            tokens=_tokens(own.summary),
            cost=own.summary.cost if own.summary else None,
            cost_per_sample=own.per_sample(own.cost),
            tokens_per_sample=own.per_sample(own.tokens),
            cost_per_solved=own.cost_per_solved,
            on_front=name in front,
        )
        for name, own in figures.items()
    ]
    dates = {own.prices_as_of for own in figures.values()}
    return Ranking(
        experiment=str(path),
        hash=found.hash,
        baseline=found.baseline,
        front_by=front_by,
        prices_as_of=tuple(sorted(date for date in dates if date)),
        cells=tuple(sorted(cells, key=_order)),
        decision=found.decision,
        answers=answers_of(path, found.cells, found.baseline),
    )


def _figures(path: Path) -> _Figures:
    if not (path / MANIFEST).exists():
        return _Figures()
    run = read_run(path)
    graded = [result for result in run.results if result.graded]
    costs = [result.cost for result in graded if result.cost is not None]
    tokens = [result.usage.total_tokens for result in graded if result.usage is not None]
    counts = solved_counts(graded)
    return _Figures(
        planned=run.planned,
        summary=run.summary,
        fractions={problem: solved / number for problem, (number, solved) in counts.items()},
        numbers={problem: number for problem, (number, _) in counts.items()},
        cost=math.fsum(costs) if len(costs) == len(graded) else None,
        tokens=sum(tokens) if len(tokens) == len(graded) else None,
        samples=len(graded),
        solved=sum(result.solved for result in graded),
        prices_as_of=prices_as_of(run.manifest),
    )


def _tokens(summary: Summary | None) -> int | None:
    return None if summary is None or summary.usage_unknown else summary.usage.total_tokens


def _order(cell: RankedCell) -> tuple[bool, float, float]:
    """The best first; of equals the cheaper one; what has no result last."""
    rate = cell.pass_at_1
    price = cell.cost_per_sample
    return rate is None, -rate.value if rate else 0.0, math.inf if price is None else price


def _against(figures: Mapping[str, _Figures], baseline: str) -> dict[str, Against]:
    """Every other cell against the baseline, corrected for how many they are."""
    base = figures[baseline]
    compared = {
        name: own
        for name, own in figures.items()
        if name != baseline and own.fractions.keys() & base.fractions.keys()
    }

    def score(own: _Figures, confidence: float = CONFIDENCE) -> Score:
        return paired_score(base.fractions, own.fractions, base.numbers, own.numbers, confidence)

    scores = {name: score(own) for name, own in compared.items()}
    corrected = holm([each.p_value for each in scores.values()])
    found: dict[str, Against] = {}
    for (name, plain), p_holm in zip(scores.items(), corrected, strict=True):
        wide = score(compared[name], corrected_confidence(plain.p_value, p_holm))
        found[name] = Against(
            problems=len(compared[name].fractions.keys() & base.fractions.keys()),
            difference=plain.difference,
            low=plain.low,
            high=plain.high,
            p_value=plain.p_value,
            p_holm=p_holm,
            low_holm=wide.low,
            high_holm=wide.high,
        )
    return found


def _front_by(
    figures: Mapping[str, _Figures], specs: Mapping[str, Mapping[str, Any]]
) -> Literal["cost", "tokens"] | None:
    begun = [own for own in figures.values() if own.samples]
    if any(own.cost is not None for own in begun):
        return "cost"
    one_model = len({spec.get("model") for spec in specs.values()}) == 1
    return "tokens" if one_model and any(own.tokens is not None for own in begun) else None


def _front(figures: Mapping[str, _Figures], by: str | None) -> set[str]:
    """The cells that nothing beats; a cell whose cost is unknown is not weighed."""
    weighed: dict[str, tuple[float, float]] = {}
    for name, own in figures.items():
        price = own.per_sample(own.cost if by == "cost" else own.tokens)
        if by is not None and price is not None and own.rate is not None:
            weighed[name] = (price, own.rate.value)
    names = list(weighed)
    return {names[index] for index in pareto_front(list(weighed.values()))}


def _differing(specs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The keys that have more than one value among the cells."""
    every = list(specs.values())
    return [
        key
        for key in every[0]
        if key not in OF_THE_WHOLE and any(spec.get(key) != every[0][key] for spec in every)
    ]
