"""A run as one arm of a comparison at equal spend.

A single-shot run is an arm of shots: one, two, and so on, of which the public tests choose one.
Every other run is an arm of attempts, each of which can be cut off at a budget.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Literal

from harness.agent.strategies.modes import mode_named
from harness.run.store.results import GradedSample
from harness.stats.pass_at_k import (
    Shot,
    any_solved,
    chosen_solved,
    mean_solved,
    spend_of_all,
    spend_until_pass,
)
from harness.stats.spend_curves import AttemptSpend, Policies, cut_off, policies
from harness.tools.revision import Revision

Unit = Literal["dollars", "tokens", "calls"]
CurveKind = Literal["cut_off", "chosen", "until_pass", "single", "any_right"]
"""Kind of a curve.

`cut_off`: attempts, cut off at a budget. `chosen`: j shots, of which the public tests choose one.
`until_pass`: the same, but no shot is requested after the first that passes the public tests.
`single`: the mean single shot, however many are paid for. `any_right`: pass@j, an upper bound that
cannot be reached without knowing the hidden tests.
"""

MOST_SHOTS = 100
_SPENT_BY: Mapping[Unit, Callable[[Revision], float | None]] = {
    "dollars": attrgetter("cost"),
    "tokens": attrgetter("tokens"),
    "calls": attrgetter("turn"),
}
"""What a sample spent up to a revision."""
_NEAR = 1e-9
"""Relative rounding error of a spend."""


@dataclass(frozen=True, slots=True)
class Arm:
    """A run over the compared problems.

    Attributes:
        curves: its curves by kind; the first is the compared one.
        mean: mean spend of a sample, averaged over problems.
        samples: fewest graded samples of a problem.
        most_samples: most graded samples of a problem.
        unknown: samples that could have submitted a solution whose hidden verdict is unknown.
        public_known: whether the shots' results on the public tests are known.
    """

    curves: Mapping[CurveKind, Policies]
    mean: float
    samples: int
    most_samples: int
    unknown: int
    public_known: bool

    @property
    def shots(self) -> bool:
        """Whether this is an arm of shots."""
        return self.main == "chosen"

    @property
    def main(self) -> CurveKind:
        """The kind of the compared curve."""
        return next(iter(self.curves))

    @property
    def policies(self) -> Policies:
        """The compared curve, by problem."""
        return self.curves[self.main]

    def of(self, places: Sequence[int]) -> "Arm":
        """Return the arm restricted to the problems at these positions."""
        curves = {kind: own.of(places) for kind, own in self.curves.items()}
        main = curves[self.main]
        mean = float(main.spend[:, 1].mean()) if self.shots else main.most
        return replace(self, curves=curves, mean=mean)


Samples = Mapping[str, Sequence[GradedSample]]


def samples_of(graded: Iterable[GradedSample], problems: Sequence[str]) -> Samples:
    """Return the samples of some problems, by problem id, in the order given."""
    samples: dict[str, list[GradedSample]] = {problem: [] for problem in problems}
    for sample in graded:
        if sample.problem_id in samples:
            samples[sample.problem_id].append(sample)
    return samples


def of_shots(mode: str) -> bool:
    """Whether the samples of a mode are shots, each a single request."""
    return mode_named(mode).single


def arm_of(samples: Samples, mode: str, unit: Unit) -> Arm:
    """Build the arm of a run.

    Args:
        samples: at least one sample of each problem; their spend must be `known`.
        mode: the run's mode.
        unit: the unit of spend.
    """
    numbers = [len(own) for own in samples.values()]
    spends = [[_spend(result, unit) for result in own] for own in samples.values()]
    means = list(map(_mean, spends))
    curves, unknown = (
        _shots(samples, spends) if of_shots(mode) else _cut(samples, spends, mode, unit)
    )
    return Arm(
        curves=curves,
        mean=sum(means) / len(means),
        samples=min(numbers),
        most_samples=max(numbers),
        unknown=unknown,
        public_known=all(map(_tests_known, _every(samples))),
    )


def with_enough_shots(shots: Samples, attempts: Samples, unit: Unit) -> list[str]:
    """Return the problems whose shots are worth the attempts, but for less than one shot in all.

    A problem that an early end left with fewer shots is left out, so that the others can be
    compared at what their attempts spend. If no choice by the number of shots is worth the
    attempts, all problems stay.

    Args:
        shots: at least one shot of each problem; their spend must be `known`.
        attempts: at least one attempt at each problem, with known spend.
        unit: the unit of spend.
    """
    numbers = sorted({len(own) for own in shots.values()})
    if not numbers[1:]:
        return list(shots)
    of_all, of_one, of_attempt = (
        {problem: spent(list(map(partial(_spend, unit=unit), own))) for problem, own in of.items()}
        for of, spent in ((shots, sum), (shots, _mean), (attempts, _mean))
    )
    for least in numbers:
        kept = [problem for problem, own in shots.items() if len(own) >= least]
        bought, shot, attempt = (
            _mean([spend[problem] for problem in kept]) for spend in (of_all, of_one, of_attempt)
        )
        missing = (attempt - bought) * len(kept)
        if missing < shot * (1 - _NEAR) and attempt < (least + 2) * shot:
            return kept
    return list(shots)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def known(samples: Samples, mode: str, unit: Unit) -> bool:
    """Return whether the spend of every sample, and of each of its steps, is known."""
    if unit == "calls" and of_shots(mode):
        return True
    every = _every(samples)
    spent = [_spent(result, unit) for result in every]
    if None in spent or not any(spent):
        return False
    steps = [] if of_shots(mode) else [step for result in every for step in result.steps]
    return None not in map(_SPENT_BY[unit], steps)


def _every(samples: Samples) -> list[GradedSample]:
    return [result for own in samples.values() for result in own]


def _tests_known(result: GradedSample) -> bool:
    """Whether the tests are known; those of imported verdicts are not."""
    return result.public_total + result.hidden_total > 0


def _spent(sample: GradedSample, unit: Unit) -> float | None:
    """Return what a sample spent in all."""
    if unit == "dollars":
        return sample.cost
    if unit == "calls":
        return sample.model_calls
    return None if sample.usage is None else sample.usage.total_tokens


def _spend(result: GradedSample, unit: Unit) -> float:
    """Return a sample's spend; an imported shot counts as one call."""
    spent = _spent(result, unit) or 0.0
    return max(1.0, spent) if unit == "calls" else float(spent)


def _cut(
    samples: Samples, spends: Sequence[Sequence[float]], mode: str, unit: Unit
) -> tuple[dict[CurveKind, Policies], int]:
    attempts: list[AttemptSpend] = []
    unknown, spent_by = 0, _SPENT_BY[unit]
    for place, own in enumerate(samples.values()):
        for result, spend in zip(own, spends[place], strict=True):
            solutions = handed_in(result.steps, result.public_total, result.solved, mode)
            unknown += any(solved is None for _, solved in solutions)
            changes = [
                (min(spend, spend if step is None else spent_by(step) or 0.0), bool(solved))
                for step, solved in solutions
            ]
            attempts.append(AttemptSpend(place, changes, spend))
    return {"cut_off": cut_off(attempts, len(samples))}, unknown


def _shots(
    samples: Samples, spends: Sequence[Sequence[float]]
) -> tuple[dict[CurveKind, Policies], int]:
    """Return the curves of j shots; a problem that has fewer than j gets all that it has."""
    shots = [
        list(map(_shot, own, spent)) for own, spent in zip(samples.values(), spends, strict=True)
    ]
    numbers = range(1, min(max(map(len, shots)), MOST_SHOTS) + 1)

    def table(value: Callable[[Sequence[Shot], int], float]) -> list[list[float]]:
        return [[value(own, min(first, len(own))) for first in numbers] for own in shots]

    amounts = [_mean([min(first, len(own)) for own in shots]) for first in numbers]
    each = _mean([len(own) for own in shots])
    curve = partial(policies, amounts=amounts, samples=each)
    spends, picked = table(spend_of_all), table(chosen_solved)
    chosen = curve(spends, picked)
    if len(numbers) == 1:  # with one shot all curves are the same
        return {"chosen": chosen}, 0
    until = curve(
        table(spend_until_pass),
        picked,
        complete=all(shot.passes for own in shots for shot in own),
    )
    single = curve(spends, table(lambda own, _: mean_solved(own)))
    either = curve(spends, table(any_solved))
    if all(map(_tests_known, _every(samples))):
        return {
            "chosen": chosen,
            "until_pass": until,
            "single": single,
            "any_right": either,
        }, 0
    first = replace(
        chosen,
        spend=chosen.spend[:, :2],
        solved=chosen.solved[:, :2],
        amounts=chosen.amounts[:2],
    )
    return {"chosen": first, "single": single, "any_right": either}, 0


def _shot(result: GradedSample, spend: float) -> Shot:
    """Convert a sample to a shot, ranked as mode `best_of_k_public` ranks samples."""
    public, has_code = result.public_total, bool(result.code)
    return Shot(
        rank=result.public_passed if has_code else -1,
        passes=result.public_passed == public if public else has_code,
        solved=result.solved,
        spend=spend,
    )


def by_difficulty(samples: Samples) -> dict[str, list[int]]:
    """Return the positions of the problems of each difficulty, the easiest first."""
    counts: dict[str, list[int]] = defaultdict(list)
    for place, own in enumerate(samples.values()):
        counts[own[0].difficulty or "unknown"].append(place)
    order = ("easy", "medium", "hard", "unknown")
    return {name: counts[name] for name in sorted(counts, key=order.index)}


def handed_in(
    steps: Sequence[Revision], public: int, solved: bool, mode: str
) -> list[tuple[Revision | None, bool | None]]:
    """Return the changes of the solution that would be final if a sample were cut off.

    When a sample is cut off, its newest revision is run on the public tests, as in one that ends
    normally. In best of k, the solution that passes the most public tests is final, the earliest
    of equals; in other modes the newest that passed all of them, else the newest.

    Args:
        steps: the sample's revisions.
        public: number of public tests.
        solved: whether its final solution passes all tests.
        mode: mode of the run.

    Returns:
        The revision from which on a solution is final, or None for the end of the sample; and
        whether that solution passes all tests, or None if it is unknown.
    """
    find = _most_passed if mode_named(mode).hands_in == "most_passed" else _newest_passed
    changes: list[tuple[Revision | None, bool | None]] = [
        *zip(steps, find(steps, public), strict=True)
    ]
    if not changes or changes[-1][1] is not solved:
        changes.append((None, solved))
    return changes


def _newest_passed(steps: Sequence[Revision], public: int) -> Iterator[bool | None]:
    kept: Revision | None = None  # the newest that was run and passed
    for step in steps:
        passes = _passes(step, public)
        if kept is None or passes:
            yield step.solved
        elif passes is False:
            yield kept.solved
        else:
            yield False if step.solved is kept.solved is False else None
        if public and step.public_passed == public:
            kept = step


def _most_passed(steps: Sequence[Revision], public: int) -> Iterator[bool | None]:
    best: Revision | None = None
    for step in steps:
        if best is None or (public and (step.public_passed or 0) > (best.public_passed or 0)):
            best = step
        yield best.solved


def _passes(step: Revision, public: int) -> bool | None:
    """Whether a revision passes all public tests; None if unknown or without any."""
    if not public:
        return None
    if step.public_passed is not None:
        return step.public_passed == public
    return True if step.solved else step.passes_public
