"""Rank the variants of an experiment by what they solve and cost."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from harness.agent.strategies.modes import mode_named
from harness.errors import RunDirectoryError, UsageError
from harness.features.compare.answer import at_any_look
from harness.features.compare.spend import spend_comparison
from harness.features.compare.spend_sentence import answers_fairly
from harness.features.experiment.decision import Decision
from harness.features.experiment.equal_shots import agents_of, mean_spend
from harness.features.experiment.experiment_file import Stored, read_experiment
from harness.features.experiment.stopping_goal import PAIR
from harness.features.experiment.variants import OF_THE_WHOLE, Spec
from harness.figures import count
from harness.frozen import Frozen
from harness.run.store.directory import MANIFEST
from harness.run.store.pending import NOT_NEEDED
from harness.run.summary.loaded_run import Run, prices_as_of, read_run
from harness.stats.holm import holm
from harness.stats.paired import paired_score
from harness.stats.pass_at_k import Counts
from harness.stats.rates import Rate

SCHEMA = 2
MOST_ANSWERS = 20
"""Most pairs that are compared at equal spend."""


def pareto_front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Return the indices of the Pareto-optimal points, in the order given.

    A point is a price and a value. It is dominated by a point that costs no more and is worth no
    less, and is better in one of the two (V. Pareto, Manuale di economia politica, 1906; as in K.
    Deb, Multi-Objective Optimization using Evolutionary Algorithms, 2001, definition 2.5). Equal
    points are either all on the front or all off it.
    """
    kept: set[tuple[float, float]] = set()
    best = -float("inf")
    for price, value in sorted(set(points), key=lambda point: (point[0], -point[1])):
        if value > best:
            kept.add((price, value))
            best = value
    return [index for index, point in enumerate(points) if point in kept]


class Against(Frozen):
    """A variant against the baseline, over the problems that both have graded.

    Attributes:
        problems: number of these problems.
        difference: pass@1 of the variant minus that of the baseline.
        low, high: 95 % score interval of the difference; excludes 0 exactly if p_value < 0.05.
        p_value: p-value of the difference, by the score test.
        p_holm: the p-value corrected by Holm for all compared variants.
        low_holm, high_holm: the interval with the same correction; excludes 0 exactly if
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


class RankedVariant(Frozen):
    """A variant and its figures; the defaults are those of a variant that has not started.

    Attributes:
        run: its run directory.
        settings: settings that differ between variants, by key of the spec.
        planned, graded, pending, not_needed: numbers of samples; `pending` are those still to run,
            and the rest of `planned` had no tests.
        against: comparison with the baseline; None for the baseline itself, or if no problem is
            graded in both.
        tokens, cost: totals of all samples, cost in US dollars; None if any sample's is unknown.
        cost_per_sample, tokens_per_sample: means over the graded samples.
        samples_per_problem: mean number of graded samples of a problem; None if none is graded.
        cost_per_solved: US dollars of all graded samples divided by the number solved; None if the
            cost is unknown or nothing is solved.
        on_front: whether the variant is on the Pareto front of solve rate and spend.
    """

    name: str
    run: str
    settings: dict[str, Any]
    planned: int = 0
    graded: int = 0
    pending: int = 0
    not_needed: int = 0
    pass_at_1: Rate | None = None
    against: Against | None = None
    tokens: int | None = None
    cost: float | None = None
    cost_per_sample: float | None = None
    tokens_per_sample: float | None = None
    samples_per_problem: float | None = None
    cost_per_solved: float | None = None
    on_front: bool = False


class PairAnswer(Frozen):
    """Two variants at equal spend.

    Attributes:
        baseline, variant: names of the variants.
        sentence: the sentence of `harness.features.compare.spend.spend_comparison`.
        fair: whether attempts are compared with the shots that their spend buys.
    """

    baseline: str
    variant: str
    sentence: str
    fair: bool = False


class Ranking(Frozen):
    """An experiment's variants, sorted by solve rate, the highest first.

    Attributes:
        experiment: the experiment's directory.
        hash: hash of the grid.
        baseline: name of the baseline.
        front_by: unit of spend per sample for `on_front`; tokens if costs are unknown and all
            variants have one model. None if neither is known.
        prices_as_of: dates of the price lists.
        decision: the outcome, if the experiment may stop early.
        answers: a sentence on each pair of variants that can be compared at equal spend.
    """

    schema_version: int = SCHEMA
    experiment: str
    hash: str
    baseline: str
    front_by: Literal["cost", "tokens"] | None
    prices_as_of: tuple[str, ...]
    variants: tuple[RankedVariant, ...]
    decision: Decision | None = None
    answers: tuple[PairAnswer, ...] = ()

    @property
    def measured_nothing(self) -> bool:
        """Whether samples are pending, and none of any variant is graded."""
        variants = self.variants
        return any(each.pending for each in variants) and not any(each.graded for each in variants)


def rank(path: Path) -> Ranking:
    """Rank the variants of an experiment, by the samples done so far.

    Raises:
        RunDirectoryError: the path is not an experiment, or a variant's run cannot be read.
    """
    experiment = read_experiment(path)
    differing, dates = _differing(experiment.variants), set[str | None]()
    variants: dict[str, RankedVariant] = {}
    counts: dict[str, dict[str, Counts]] = {}
    for name, spec in experiment.variants.items():
        settings = {key: spec.get(key) for key in differing}
        variants[name] = RankedVariant(name=name, run=str(path / name), settings=settings)
        if (path / name / MANIFEST).exists():
            run = read_run(path / name)
            variants[name] = variants[name].model_copy(update=_figures(run))
            counts[name] = run.columns.counts
            dates.add(prices_as_of(run.manifest))
    against = _against(counts, experiment.baseline)
    front_by = _front_by(variants, experiment.variants)
    front = _front(variants, front_by)
    ranked = (
        variant.model_copy(update={"against": against.get(name), "on_front": name in front})
        for name, variant in variants.items()
    )
    return Ranking(
        experiment=str(path),
        hash=experiment.hash,
        baseline=experiment.baseline,
        front_by=front_by,
        prices_as_of=tuple(sorted(date for date in dates if date)),
        variants=tuple(sorted(ranked, key=_order)),
        decision=experiment.decision,
        answers=_answers(path, experiment),
    )


def _figures(run: Run) -> dict[str, Any]:
    """Return the fields of a variant that come from its run alone."""
    summary, spend = run.summary, mean_spend(run.results)
    graded = sum(result.graded for result in run.results)
    solved = sum(result.solved for result in run.results)
    not_needed = summary.pending.get(NOT_NEEDED, 0)
    problems = len({result.problem_id for result in run.results if result.graded})
    cost = spend.cost if spend else None
    return {
        "planned": run.planned,
        "graded": graded,
        "pending": sum(summary.pending.values()) - not_needed,
        "not_needed": not_needed,
        "pass_at_1": summary.pass_at_1,
        "tokens": None if summary.usage_unknown else summary.usage.total_tokens,
        "cost": summary.cost,
        "cost_per_sample": cost,
        "tokens_per_sample": spend.tokens if spend else None,
        "samples_per_problem": graded / problems if problems else None,
        "cost_per_solved": cost * graded / solved if cost is not None and solved else None,
    }


def _order(variant: RankedVariant) -> tuple[bool, float, float]:
    """Sort key: the best variant first, then the cheaper, those without result last."""
    rate = variant.pass_at_1
    price = variant.cost_per_sample
    return rate is None, -rate.value if rate else 0.0, math.inf if price is None else price


def _against(counts: Mapping[str, dict[str, Counts]], baseline: str) -> dict[str, Against]:
    """Compare every other variant with the baseline, with Holm's correction."""
    base = counts.get(baseline, {})
    compared = {
        name: own for name, own in counts.items() if name != baseline and own.keys() & base.keys()
    }
    tests = {name: paired_score(base, own) for name, own in compared.items()}
    corrected = holm([each.p_value for each in tests.values()])
    against: dict[str, Against] = {}
    for (name, test), p_holm in zip(tests.items(), corrected, strict=True):
        wide = test.corrected(p_holm)
        against[name] = Against(
            problems=len(compared[name].keys() & base.keys()),
            **test.at()._asdict(),
            p_holm=p_holm,
            low_holm=wide.low,
            high_holm=wide.high,
        )
    return against


def _front_by(
    variants: Mapping[str, RankedVariant], specs: Mapping[str, Spec]
) -> Literal["cost", "tokens"] | None:
    if any(variant.cost_per_sample is not None for variant in variants.values()):
        return "cost"
    one_model = len({spec.get("model") for spec in specs.values()}) == 1
    known = any(variant.tokens_per_sample is not None for variant in variants.values())
    return "tokens" if one_model and known else None


def _front(variants: Mapping[str, RankedVariant], by: str | None) -> set[str]:
    """Return the variants on the Pareto front, among those with known spend."""
    weighed: dict[str, tuple[float, float]] = {}
    for name, variant in variants.items():
        price = variant.cost_per_sample if by == "cost" else variant.tokens_per_sample
        if by is not None and price is not None and variant.pass_at_1 is not None:
            weighed[name] = (price, variant.pass_at_1.value)
    names = list(weighed)
    return {names[index] for index in pareto_front(list(weighed.values()))}


def _differing(specs: Mapping[str, Spec]) -> list[str]:
    """Return the keys that differ between variants."""
    every = list(specs.values())
    return [
        key
        for key in every[0]
        if key not in OF_THE_WHOLE and any(spec.get(key) != every[0][key] for spec in every)
    ]


def _answers(path: Path, stored: Stored) -> tuple[PairAnswer, ...]:
    """Compare each pair of variants that can be compared at equal spend."""
    answers: list[PairAnswer] = []
    for first, second in _pairs(stored.variants, stored.baseline):
        if not all((path / name / MANIFEST).exists() for name in (first, second)):
            continue
        decision = stored.decision
        try:
            one, other = read_run(path / first), read_run(path / second)
            compared = spend_comparison(one, other)
        except (RunDirectoryError, UsageError):  # nothing in both is graded, or no spend is known
            continue
        if decision is not None and decision.question == "equal_spend":
            compared = at_any_look(compared, *decision.ends_against(first))
        graded, every = compared.problems + compared.lacking, len(one.manifest["problems"])
        sentence = compared.sentence
        if graded < every:
            sentence += f" This is on the {graded:,} of {count(every, 'problem')} that both graded."
        fair = answers_fairly(compared)
        answers.append(PairAnswer(baseline=first, variant=second, sentence=sentence, fair=fair))
        if len(answers) == MOST_ANSWERS:
            break
    return tuple(answers)


def _pairs(variants: Mapping[str, Spec], baseline: str) -> Iterator[tuple[str, str]]:
    """Yield single shot with each comparable mode, or else the only two variants."""
    shots = [name for name, spec in variants.items() if mode_named(spec["mode"]).single]
    pairs = [(shot, agent) for shot in shots for agent in agents_of(variants[shot], variants)]
    if pairs:
        yield from pairs
    elif len(variants) == PAIR:
        yield baseline, next(name for name in variants if name != baseline)
