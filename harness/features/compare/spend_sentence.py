"""A comparison at equal spend in plain sentences."""

import math
from collections.abc import Iterator

from harness.features.compare.arms import Arm, Unit
from harness.features.compare.differences import value_of
from harness.features.compare.spend_result import (
    ArmFacts,
    Crossing,
    SpendComparison,
    SpendDifference,
    SpendPoint,
)
from harness.figures import count
from harness.run.summary.loaded_run import Run

MODES = {
    "agentic": "the agent",
    "external": "the external agent",
    "self_repair": "self-repair",
    "best_of_k_public": "best of k",
    "single_shot": "single shot",
}
UNIT_WORDS = {"tokens": "tokens", "calls": "model calls"}
_NEAR = 1e-9


def arm_names(a: Run, b: Run, labels: tuple[str, str]) -> tuple[str, str]:
    """Name two runs for a sentence by the mode, model or prompt set that differs.

    Names of models and prompt sets are untrusted text: escape them before showing them.
    """
    modes, models, prompts = (
        tuple(str(find(run)) for run in (a, b)) for find in (mode_of, _model, _prompt)
    )
    if modes[0] != modes[1]:
        words = [MODES.get(mode, mode) for mode in modes]
        if models[0] != models[1]:
            words = [f"{word} with {model}" for word, model in zip(words, models, strict=True)]
        return words[0], words[1]
    if models[0] != models[1]:
        return models[0], models[1]
    if prompts[0] != prompts[1]:
        return f"prompt {prompts[0]}", f"prompt {prompts[1]}"
    return labels


def mode_of(run: Run) -> str:
    """Return the mode of a run; the usual one if the run is older than that setting."""
    return str(value_of(run.spec, "mode"))


def _model(run: Run) -> str:
    return run.spec.get("model") or "unknown model"


def _prompt(run: Run) -> str:
    return run.manifest["prompt"].get("name") or "default"


def sentence_of(found: SpendComparison, *, asked: bool) -> str:
    """Return the summary: both arms at equal spend, the difference and the crossing.

    Args:
        found: the comparison.
        asked: whether the user chose the spends; if so there is a sentence for each.
    """
    shown = found.differences if asked else _headline(found)
    said = [_at_spend(found, each) for each in shown]
    for each in shown[: len(shown) == 1]:
        said += _one_by_one(found, each)
    said += _beyond(found, asked=asked)
    shots = [arm.mean for arm in (found.a, found.b) if _of_shots(arm)]
    if found.crossing is not None and found.crossing.at > max(shots, default=0) * (1 + _NEAR):
        said.append(_crossing(found, found.crossing))
    return " ".join(said)


def _headline(found: SpendComparison) -> tuple[SpendDifference, ...]:
    """Return the difference at the attempts' mean spend, or at the greatest."""
    ends = [arm.label for arm in (found.a, found.b) if not _of_shots(arm)]
    if len(ends) == 1:
        own = [each for each in found.differences if each.mean_of == ends[0]]
        return tuple(own or found.differences[-1:])
    return found.differences[-1:]


def _of_shots(arm: ArmFacts) -> bool:
    return arm.way == "chosen"


def _at_spend(found: SpendComparison, at: SpendDifference) -> str:
    a_first = not _of_shots(found.a) and _of_shots(found.b)
    sides = [(found.a, at.a), (found.b, at.b)]
    (first, one), (second, other) = sides if a_first else sides[::-1]
    return (
        f"{_where(found, at)}, {_solves(first, one)} and {_solves(second, other)} "
        f"({_difference(at, -1 if a_first else 1)})."
    )


def _where(found: SpendComparison, at: SpendDifference) -> str:
    spend = f"{amount_of(at.at, found.unit)} a problem"
    arm = next((arm for arm in (found.a, found.b) if arm.label == at.mean_of), None)
    if arm is None:
        return f"At {spend}"
    if _of_shots(arm):
        return f"At the cost of one shot ({spend})"
    return f"At what {arm.name} spends on average ({spend})"


def _solves(arm: ArmFacts, point: SpendPoint) -> str:
    rate = f"{100 * point.solved:.0f} %"
    if not _of_shots(arm):
        cut = "" if point.spend >= arm.most * (1 - _NEAR) else ", cut off there,"
        return f"{arm.name}{cut} solves {rate}"
    of = "" if arm.name in {*MODES.values()} else f" of {arm.name}"
    if math.isclose(point.amount, 1, abs_tol=0.005):
        return f"one shot{of} solves {rate}"
    words = f"shots{of} chosen by public tests" if point.amount > 1 else f"shots a problem{of}"
    return f"{point.amount:.2g} {words} solve {rate}"


def _difference(at: SpendDifference, sign: int) -> str:
    """Format a difference in points; with a decimal if rounding would make an end 0."""
    ends = [end for end in (at.low, at.high) if end is not None]
    values = [100 * sign * each for each in (at.difference, *sorted(ends, key=lambda e: sign * e))]
    digits = 0 if all(abs(each) >= 0.5 or not each for each in values[1:]) else 1  # noqa: PLR2004
    words = [f"{each:+.{digits}f}" for each in values]
    noun = "point" if words[0] in {"+1", "-1"} else "points"
    return f"{words[0]} {noun}" + (f", {words[1]} to {words[2]}" if len(words) > 1 else "")


def _one_by_one(found: SpendComparison, at: SpendDifference) -> Iterator[str]:
    """Yield the solve rate of shots requested one by one, if it differs."""
    shots = [arm for arm in (found.a, found.b) if _of_shots(arm)]
    own = next((each for each in found.until_pass if each.at == at.at), None)
    if own is None or len(shots) != 1:
        return
    side = found.a if shots[0] is found.a else found.b
    point = own.a if side is found.a else own.b
    if abs(100 * (point.solved - (at.a if side is found.a else at.b).solved)) < 0.5:  # noqa: PLR2004
        return
    sign = 1 if side is found.a else -1
    yield (
        f"Shots that are asked one by one until one passes the public tests solve "
        f"{100 * point.solved:.0f} % for that ({_difference(own, sign)})."
    )


def _beyond(found: SpendComparison, *, asked: bool) -> Iterator[str]:
    """Yield a sentence on spends not reached, as there are too few shots."""
    for arm, other in ((found.a, found.b), (found.b, found.a)):
        wanted = found.unreached if asked else ((other.mean,) if other.mean > arm.most else ())
        if not _of_shots(arm) or not wanted or max(wanted) <= arm.most * (1 + _NEAR):
            continue
        spend = amount_of(max(wanted), found.unit)
        needed = math.ceil(max(wanted) / arm.mean - _NEAR)
        who = spend if asked else f"{_capital(other.name)} spends {spend} on average"
        yield (
            f"{who}{' is' if asked else ','} enough for {count(needed, 'shot')} a problem. "
            f"Each has {arm.samples:,}, so what {needed:,} solve is not known."
        )


def _crossing(found: SpendComparison, crossing: Crossing) -> str:
    arm = found.a if crossing.better_below == found.a.label else found.b
    name, verb = ("shots", "are") if _of_shots(arm) else (arm.name, "is")
    other = found.b if arm is found.a else found.a
    if _of_shots(arm) and _of_shots(other):
        name = f"shots of {arm.name}"
    at = amount_of(crossing.at, found.unit)
    if crossing.low is None or crossing.high is None:
        return f"Below {at}, {name} {verb} ahead, which may be chance."
    low = amount_of(crossing.low, found.unit).partition(" ")[0]
    ends = f"{low} to {amount_of(crossing.high, found.unit)}"
    return f"Below {at} (95 % interval {ends}), {name} {verb} better."


def amount_of(spend: float, unit: str) -> str:
    """Format a spend with its unit, with two or three significant digits."""
    if unit == "dollars":
        spend = float(f"{spend:.6g}")
        digits = 2 if spend >= 1 else 1 - math.floor(math.log10(spend)) if spend > 0 else 2
        return f"${spend:,.{digits}f}"
    number = f"{spend:,.0f}" if unit == "tokens" or spend >= 100 else f"{spend:.3g}"  # noqa: PLR2004
    words = UNIT_WORDS[unit]
    return f"{number} {words[:-1] if number == '1' else words}"


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def notes_of(
    arms: tuple[Arm, Arm], labels: tuple[str, str], runs: tuple[Run, Run], unit: Unit
) -> Iterator[str]:
    """Yield sentences on the limits of the comparison."""
    if unit != "dollars":
        yield f"costs are not known of both runs: spend is counted in {UNIT_WORDS[unit]}"
        if unit == "tokens" and _model(runs[0]) != _model(runs[1]):
            yield "tokens of two models do not cost the same"
    for arm, label in zip(arms, labels, strict=True):
        if arm.unknown:
            yield (
                f"{count(arm.unknown, 'sample')} of {label} could have handed in a solution whose "
                "hidden verdict is unknown; it counts as failed, so the curve is a lower bound "
                "before its end"
            )
        if arm.uneven:
            yield (
                f"{count(arm.uneven, 'problem')} of {label} with more than "
                f"{count(arm.samples, 'sample')}: curves end there"
            )
        if arm.shots and not arm.public_known:
            yield (
                f"how the shots of {label} did on the public tests is not known, so that none can "
                "be chosen by them"
            )
