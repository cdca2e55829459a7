"""Two runs at equal spend: curves, differences and where the curves cross."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.errors import RunDirectoryError, UsageError
from harness.features.compare.arms import (
    Arm,
    CurveKind,
    Samples,
    Unit,
    arm_of,
    by_difficulty,
    known,
    of_shots,
    samples_of,
    with_enough_shots,
)
from harness.features.compare.spend_result import (
    ArmFacts,
    Crossing,
    Drawn,
    Key,
    SpendComparison,
    SpendCurve,
    SpendDifference,
    SpendGroup,
    draw,
)
from harness.features.compare.spend_sentence import arm_names, mode_of, notes_of, sentence_of
from harness.run.summary.loaded_run import Run

UNITS: tuple[Unit, ...] = ("dollars", "tokens", "calls")
"""Units of spend in order of preference: the first known for both runs is used."""

FEWEST = 10
"""Fewest problems of a difficulty that are compared."""

UNKNOWN_SPEND = "equal spend: what a sample spent is not known of both runs"
LABELS = ("A", "B")
Labels = tuple[str, str]
Arms = tuple[Arm, Arm]


def spend_comparison(a: Run, b: Run, at: Sequence[float] | None = None) -> SpendComparison:
    """Compare two runs at equal spend, like `equal_spend`.

    Raises:
        RunDirectoryError: no graded problem with the same content is in both runs.
        UsageError: a spend is not a positive number, or what was spent is not known of both runs.
    """
    comparison = equal_spend(a, b, at, LABELS)
    if comparison is None:
        raise UsageError(UNKNOWN_SPEND)
    return comparison


def equal_spend(
    a: Run, b: Run, at: Sequence[float] | None, labels: Labels
) -> SpendComparison | None:
    """Compare two runs at equal spend; return None if their spend is unknown.

    The unit is the first of dollars, tokens and model calls that is known of both.

    Args:
        a: the first run.
        b: the second run.
        at: mean spends per problem to compare at. Default: the mean spend of a sample of each run.
        labels: labels of the runs in the result.

    Raises:
        RunDirectoryError: no graded problem with the same content is in both runs.
        UsageError: `at` is given but the spends cannot be compared.
    """
    sides = _shared(a, b)
    unit = _unit_known(sides, (a, b))
    if at is not None and not all(0 < each < math.inf for each in at):
        raise UsageError("equal spend: give what a problem may cost as numbers above 0")
    if unit is None:
        if at is None:
            return None
        raise UsageError(UNKNOWN_SPEND)
    modes = mode_of(a), mode_of(b)
    every = len(sides[0])
    if at is None:
        sides = _with_enough(sides, modes, unit)
    arms = arm_of(sides[0], modes[0], unit), arm_of(sides[1], modes[1], unit)
    wanted = _wanted(arms, labels, at)
    drawn = draw(
        {(side, kind): own for side in (0, 1) for kind, own in arms[side].curves.items()},
        [each.at for each in wanted],
        _limit(arms),
        _own(wanted, arms, labels),
    )
    facts = _facts(arms, labels, arm_names(a, b))
    made = SpendComparison(
        unit=unit,
        problems=len(sides[0]),
        lacking=every - len(sides[0]),
        a=facts[0],
        b=facts[1],
        curves=tuple(_curves(arms, labels, drawn)),
        differences=tuple(_differences(wanted, drawn, (arms[0].main, arms[1].main))),
        until_pass=tuple(_until_pass(arms, wanted, drawn)),
        crossing=_crossing(arms, labels, drawn),
        by_difficulty=tuple(_groups(sides, arms, labels, at)),
        unreached=_unreached(arms, at),
        notes=tuple(notes_of(arms, labels, (a, b), unit)),
        sentence="",
    )
    return made.model_copy(update={"sentence": sentence_of(made, asked=at is not None)})


def equal_spend_gains(a: Run, b: Run) -> Mapping[str, float] | None:
    """Return what the second run solves more of each problem, at what the attempts spend.

    Returns:
        None unless one run is of shots, the other of attempts, and their spend is known up to what
        the attempts spend.

    Raises:
        RunDirectoryError: no graded problem with the same content is in both runs.
    """
    sides, modes = _shared(a, b), (mode_of(a), mode_of(b))
    unit = _unit_known(sides, (a, b))
    return None if unit is None else gains_of(sides, modes, unit)


def gains_of(
    sides: tuple[Samples, Samples], modes: tuple[str, str], unit: Unit
) -> Mapping[str, float] | None:
    """Return the same as `equal_spend_gains` from the samples of the shared problems."""
    if of_shots(modes[0]) == of_shots(modes[1]):
        return None
    sides = _with_enough(sides, modes, unit)
    arms = arm_of(sides[0], modes[0], unit), arm_of(sides[1], modes[1], unit)
    spend = next(arm.mean for arm in arms if not arm.shots)
    if spend > _limit(arms) * (1 + 1e-9):
        return None
    one, other = (arm.policies.shares(spend).tolist() for arm in arms)
    return {problem: more - less for problem, less, more in zip(sides[0], one, other, strict=True)}


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A spend at which the arms are compared."""

    at: float
    mean_of: str | None


def _shared(a: Run, b: Run) -> tuple[Samples, Samples]:
    """Return each run's graded samples of the shared problems, sorted by id."""
    hashes = [
        dict(run.columns.rows("problem_id", "problem_hash", places=run.columns.graded))
        for run in (a, b)
    ]
    same = sorted(p for p, content in hashes[0].items() if hashes[1].get(p) == content)
    if not same:
        raise RunDirectoryError(
            f"{a.path} and {b.path} cannot be compared: no graded problem is the same in both"
        )
    return samples_of(a.columns.samples, same), samples_of(b.columns.samples, same)


def _with_enough(
    sides: tuple[Samples, Samples], modes: tuple[str, str], unit: Unit
) -> tuple[Samples, Samples]:
    """Leave out the problems whose shots an early end left incomplete, if one arm is of shots."""
    if of_shots(modes[0]) == of_shots(modes[1]):
        return sides
    shots, attempts = sides if of_shots(modes[0]) else sides[::-1]
    kept = with_enough_shots(shots, attempts, unit)
    first, second = ({problem: side[problem] for problem in kept} for side in sides)
    return first, second


def _unit_known(sides: tuple[Samples, Samples], runs: tuple[Run, Run]) -> Unit | None:
    """Return the first unit known for both runs.

    An external agent's turns are not model calls, and what another run paid is not known.
    """
    if any(run.manifest.get("agent") for run in runs):
        return None
    both = list(zip(sides, map(mode_of, runs), strict=True))
    return next((u for u in UNITS if all(known(own, mode, u) for own, mode in both)), None)


def _limit(arms: Sequence[Arm]) -> float:
    """Return the mean spend up to which both curves are known.

    Shots that are worth the attempts but for less than one shot in all are known up to there.
    """
    every = [arm.policies for arm in arms]
    open_ended = [own.most for own in every if not own.complete]
    limit = min(open_ended) if open_ended else max(own.most for own in every)
    for arm, other in (arms, arms[::-1]):
        if arm.shots and not other.shots:
            missing = other.mean - limit
            if 0 < missing * len(arm.policies.spend) < arm.mean:
                return other.mean
    return limit


def _wanted(arms: Arms, labels: Labels, at: Sequence[float] | None) -> list[_Wanted]:
    """Return the requested spends, or else the arms' means, within the known range."""
    limit = _limit(arms)
    if at is not None:
        return [_Wanted(each, None) for each in sorted(set(at)) if each <= limit * (1 + 1e-9)]
    by_spend: dict[float, _Wanted] = {}
    for arm, label in zip(arms, labels, strict=True):
        beyond = arm.mean > limit * (1 + 1e-9)
        wanted = _Wanted(limit, None) if beyond else _Wanted(arm.mean, label)
        key = float(f"{wanted.at:.9g}")
        if key not in by_spend or by_spend[key].mean_of is None:
            by_spend[key] = wanted
    return sorted(by_spend.values(), key=lambda wanted: wanted.at)


def _own(wanted: Iterable[_Wanted], arms: Arms, labels: Labels) -> dict[float, Key]:
    """Return the curve whose mean spend a spend is, where it is one."""
    sides: dict[str, Key] = {
        label: (side, arm.main) for side, (label, arm) in enumerate(zip(labels, arms, strict=True))
    }
    return {each.at: sides[each.mean_of] for each in wanted if each.mean_of is not None}


def _unreached(arms: Arms, at: Sequence[float] | None) -> tuple[float, ...]:
    limit = _limit(arms)
    return tuple(each for each in sorted(set(at or ())) if each > limit * (1 + 1e-9))


def _facts(arms: Arms, labels: Labels, names: Labels) -> tuple[ArmFacts, ...]:
    return tuple(
        ArmFacts(
            label=label,
            name=name,
            way=arm.main,
            mean=arm.mean,
            most=arm.policies.most,
            samples=arm.samples,
            most_samples=arm.most_samples,
            problems=len(arm.policies.spend),
        )
        for arm, label, name in zip(arms, labels, names, strict=True)
    )


def _curves(arms: Arms, labels: Labels, drawn: Drawn) -> Iterator[SpendCurve]:
    """Yield all curves, the compared ones first."""
    keys: list[Key] = [(side, kind) for side in (0, 1) for kind in arms[side].curves]
    for side, kind in sorted(keys, key=lambda key: key[1] != arms[key[0]].main):
        policies = arms[side].curves[kind]
        yield SpendCurve(
            label=labels[side],
            way=kind,
            compared=kind == arms[side].main,
            complete=policies.complete,
            points=tuple(drawn.points((side, kind))),
        )


def _differences(
    wanted: Iterable[_Wanted], drawn: Drawn, kinds: tuple[CurveKind, CurveKind]
) -> Iterator[SpendDifference]:
    for each in wanted:
        a, b = drawn.point((0, kinds[0]), each.at), drawn.point((1, kinds[1]), each.at)
        difference, low, high = drawn.difference((0, kinds[0]), (1, kinds[1]), each.at)
        yield SpendDifference(
            at=each.at, mean_of=each.mean_of, a=a, b=b, difference=difference, low=low, high=high
        )


def _until_pass(arms: Arms, wanted: Iterable[_Wanted], drawn: Drawn) -> Iterator[SpendDifference]:
    """Yield the differences if shots stop at the first to pass public tests."""
    if not any("until_pass" in arm.curves for arm in arms):
        return
    kinds: list[CurveKind] = [
        "until_pass" if "until_pass" in arm.curves else arm.main for arm in arms
    ]
    known_to = [
        own.most
        for arm, kind in zip(arms, kinds, strict=True)
        if not (own := arm.curves[kind]).complete
    ]
    reached = [each for each in wanted if each.at <= min(known_to, default=math.inf) * (1 + 1e-9)]
    yield from _differences(reached, drawn, (kinds[0], kinds[1]))


def _crossing(arms: Arms, labels: Labels, drawn: Drawn) -> Crossing | None:
    crossing = drawn.crossing((0, arms[0].main), (1, arms[1].main))
    if crossing is None:
        return None
    above, below = labels[crossing.above > 0], labels[crossing.above < 0]
    return Crossing(
        at=crossing.at, low=crossing.low, high=crossing.high, better_above=above, better_below=below
    )


def _groups(
    sides: tuple[Samples, Samples], arms: Arms, labels: Labels, at: Sequence[float] | None
) -> Iterator[SpendGroup]:
    """Yield the comparison for each difficulty, at the arms' spends on its problems."""
    groups = by_difficulty(sides[0])
    if len(groups) < 2:  # noqa: PLR2004 - one group equals the whole
        return
    for name, places in groups.items():
        if len(places) < FEWEST:
            yield SpendGroup(name=name, problems=len(places), differences=())
            continue
        own = arms[0].of(places), arms[1].of(places)
        wanted = _wanted(own, labels, at)
        kinds = own[0].main, own[1].main
        drawn = draw(
            {(side, kinds[side]): own[side].policies for side in (0, 1)},
            [each.at for each in wanted],
            own=_own(wanted, own, labels),
        )
        differences = tuple(_differences(wanted, drawn, kinds))
        yield SpendGroup(name=name, problems=len(places), differences=differences)
