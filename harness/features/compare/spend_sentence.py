"""A comparison at equal spend in plain sentences."""

import math
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from harness.agent.strategies.modes import built_in_modes, mode_named
from harness.features.compare.arms import Arm, Unit
from harness.features.compare.differences.settings import value_of
from harness.features.compare.spend_result import (
    ArmFacts,
    Crossing,
    SpendComparison,
    SpendDifference,
    SpendPoint,
)
from harness.figures import count, dollars, percent, points, quantity
from harness.run.summary.loaded_run import Run
from harness.text import printable_line

UNIT_WORDS = {"tokens": "tokens", "calls": "model calls"}
_NEAR = 1e-9


def arm_names(a: Run, b: Run) -> tuple[str, str]:
    """Name two runs for a sentence by the mode, model or prompt set that differs, or the folder.

    Names of models and prompt sets are untrusted text: escape them before showing them.
    """
    modes, models, prompts = (
        tuple(str(find(run)) for run in (a, b)) for find in (mode_of, _model, _prompt)
    )
    if modes[0] != modes[1]:
        names = [mode_named(mode).title for mode in modes]
        if models[0] != models[1]:
            names = [f"{word} with {model}" for word, model in zip(names, models, strict=True)]
        return names[0], names[1]
    if models[0] != models[1]:
        return models[0], models[1]
    if prompts[0] != prompts[1]:
        return f"prompt {prompts[0]}", f"prompt {prompts[1]}"
    one, other = folder_names([str(a.path), str(b.path)])
    return one, other


def is_title(name: str) -> bool:
    """Whether a name is the title of a built-in mode."""
    return any(name == mode.title for mode in built_in_modes())


def folder_names(paths: Sequence[str]) -> list[str]:
    """Return the last part of each path; the whole paths if only these differ."""
    names = [printable_line(PurePath(path).name) for path in paths]
    whole = [printable_line(path) for path in paths]
    return whole if len(set(names)) < len(set(whole)) else names


def mode_of(run: Run) -> str:
    """Return the mode of a run; the usual one if the run is older than that setting."""
    return str(value_of(run.spec, "mode"))


def _model(run: Run) -> str:
    return run.spec.get("model") or "unknown model"


def _prompt(run: Run) -> str:
    return run.manifest["prompt"].get("name") or "default"


def sentence_of(comparison: SpendComparison, *, asked: bool) -> str:
    """Return the summary: both arms at equal spend, the difference and the crossing.

    Args:
        comparison: the comparison.
        asked: whether the user chose the spends; if so there is a sentence for each.
    """
    shown = comparison.differences if asked else headline(comparison)
    parts = [_at_spend(comparison, each, asked=asked) for each in shown]
    for each in shown[: len(shown) == 1]:
        parts += _one_by_one(comparison, each)
    too_few = list(_too_few_shots(comparison, asked=asked))
    parts = [*parts, *too_few] if asked else [*too_few, *parts]
    if comparison.lacking:
        every = count(comparison.problems + comparison.lacking, "problem")
        parts.append(f"This is on {comparison.problems:,} of {every}: the others still lack shots.")
    shots = [arm.mean for arm in (comparison.a, comparison.b) if of_shots(arm)]
    if comparison.crossing is not None and comparison.crossing.at > max(shots, default=0) * (
        1 + _NEAR
    ):
        parts.append(_crossing(comparison, comparison.crossing))
    return " ".join(parts)


def headline(comparison: SpendComparison) -> tuple[SpendDifference, ...]:
    """Return the difference at the attempts' mean spend, or at the greatest."""
    ends = [arm.label for arm in (comparison.a, comparison.b) if not of_shots(arm)]
    if len(ends) == 1:
        own = [each for each in comparison.differences if each.mean_of == ends[0]]
        return tuple(own or comparison.differences[-1:])
    return comparison.differences[-1:]


def of_shots(arm: ArmFacts) -> bool:
    """Return whether an arm consists of shots."""
    return arm.way == "chosen"


def answers_fairly(comparison: SpendComparison | None) -> bool:
    """Return whether attempts are compared with the shots that their spend buys.

    That is so if one arm is of attempts, the other of shots, and both are known at that spend.
    """
    if comparison is None or of_shots(comparison.a) == of_shots(comparison.b):
        return False
    agent = comparison.b if of_shots(comparison.a) else comparison.a
    return any(each.mean_of == agent.label for each in comparison.differences)


def foreign(comparison: SpendComparison) -> bool:
    """Return whether the sentence names models, prompt sets or folders, to be escaped."""
    return not all(map(is_title, (comparison.a.name, comparison.b.name)))


def _at_spend(comparison: SpendComparison, at: SpendDifference, *, asked: bool) -> str:
    a_first = not of_shots(comparison.a) and of_shots(comparison.b)
    sides = [(comparison.a, at.a), (comparison.b, at.b)]
    (first, one), (second, other) = sides if a_first else sides[::-1]
    if _is_cut(first, one) and of_shots(second) and not asked:
        noun, several = shots_words(second, other.amount)
        return (
            f"Cut off at the cost of {noun} ({amount_of(at.at, comparison.unit)} a problem), "
            f"{first.name} solves {percent(one.solved)}, where "
            f"{'these shots solve' if several else 'that shot solves'} {percent(other.solved)} "
            f"({_difference(at, -1 if a_first else 1, verdict=False)})."
        )
    if _is_cut(first, one) and not one.solved and of_shots(second):
        return (
            f"{_where(comparison, at)}, {_solves(second, other)}; {first.name}, cut off there, has "
            "solved nothing yet."
        )
    return (
        f"{_where(comparison, at)}, {_solves(first, one)} and {_solves(second, other)} "
        f"({_difference(at, -1 if a_first else 1)})."
    )


def _where(comparison: SpendComparison, at: SpendDifference) -> str:
    spend = f"For {amount_of(at.at, comparison.unit)} a problem"
    arm = next((arm for arm in (comparison.a, comparison.b) if arm.label == at.mean_of), None)
    if arm is None:
        return spend
    if of_shots(arm):
        return f"{spend}, the cost of one shot"
    return f"{spend}, what {arm.name} spends"


def _solves(arm: ArmFacts, point: SpendPoint) -> str:
    if of_shots(arm):
        noun, several = shots_words(arm, point.amount)
        return f"{noun} {'solve' if several else 'solves'} {percent(point.solved)}"
    cut = ", cut off there," if _is_cut(arm, point) else ""
    return f"{arm.name}{cut} solves {percent(point.solved)}"


def _is_cut(arm: ArmFacts, point: SpendPoint) -> bool:
    """Return whether attempts are cut off before what they spend."""
    return not of_shots(arm) and point.spend < arm.most * (1 - _NEAR)


def shots_words(arm: ArmFacts, amount: float) -> tuple[str, bool]:
    """Return a number of shots in words, and whether the words are a plural."""
    of = "" if is_title(arm.name) else f" of {arm.name}"
    single = "" if of else "single "
    number = f"{amount:.2g}"
    return (
        (f"one {single}shot{of}", False) if number == "1" else (f"{number} {single}shots{of}", True)
    )


def _difference(at: SpendDifference, sign: int, *, verdict: bool = True) -> str:
    """Format a difference in points with its interval and, by default, whether that decides."""
    ends = sorted(sign * end for end in (at.low, at.high) if end is not None)
    size = f"{points(sign * at.difference)} points"
    if not ends:
        return size
    low, high = ends
    looks = " at any look" if at.at_any_look else ""
    interval = f"{size}, {points(low)} to {points(high)}{looks}"
    return f"{interval}: {'decided' if at.decided else 'not decided'}" if verdict else interval


def _one_by_one(comparison: SpendComparison, at: SpendDifference) -> Iterator[str]:
    """Yield the solve rate of shots requested one by one, if it differs."""
    shots = [arm for arm in (comparison.a, comparison.b) if of_shots(arm)]
    own = next((each for each in comparison.until_pass if each.at == at.at), None)
    if own is None or len(shots) != 1:
        return
    side = comparison.a if shots[0] is comparison.a else comparison.b
    point = own.a if side is comparison.a else own.b
    if abs(100 * (point.solved - (at.a if side is comparison.a else at.b).solved)) < 0.5:  # noqa: PLR2004
        return
    sign = 1 if side is comparison.a else -1
    yield (
        f"Shots asked one by one until one passes the public tests solve "
        f"{percent(point.solved)} for that ({_difference(own, sign)})."
    )


def _too_few_shots(comparison: SpendComparison, *, asked: bool) -> Iterator[str]:
    """Yield how many shots are missing for the comparison."""
    for arm, other in ((comparison.a, comparison.b), (comparison.b, comparison.a)):
        wanted = comparison.unreached if asked else (() if of_shots(other) else (other.mean,))
        if not of_shots(arm) or not wanted or max(wanted) <= arm.most * (1 + _NEAR) + _last(arm):
            continue
        spend = amount_of(max(wanted), comparison.unit)
        needed = math.ceil(max(wanted) / arm.mean - _NEAR)
        what = spend if asked else f"what {other.name} spends ({spend} a problem)"
        has = f"{arm.samples:,}"
        has += f" to {arm.most_samples:,}" if arm.most_samples > arm.samples else ""
        there = "there is" if has == "1" else "there are"
        yield f"A comparison at {what} needs {count(needed, 'shot')} a problem; {there} {has}."


def _last(arm: ArmFacts) -> float:
    """Return how much more than its shots' spend still counts as reached."""
    return arm.mean / max(1, arm.problems)


def _crossing(comparison: SpendComparison, crossing: Crossing) -> str:
    arm = comparison.a if crossing.better_below == comparison.a.label else comparison.b
    name, verb = ("single shots", "solve") if of_shots(arm) else (arm.name, "solves")
    other = comparison.b if arm is comparison.a else comparison.a
    if of_shots(arm) and of_shots(other):
        name = f"shots of {arm.name}"
    at = amount_of(crossing.at, comparison.unit)
    if crossing.low is None or crossing.high is None:
        look = "look" if verb == "solve" else "looks"
        return f"Below about {at} a problem {name} {look} better (not significant)."
    low, high = (amount_of(end, comparison.unit) for end in (crossing.low, crossing.high))
    ends = f"{low.partition(' ')[0]} to {high}"
    return f"Below {at} a problem (95 % interval {ends}) {name} {verb} more."


def amount_of(spend: float, unit: str) -> str:
    """Format a spend with its unit."""
    if unit == "dollars":
        return dollars(spend)
    number = quantity(spend) if unit == "tokens" or spend >= 100 else f"{spend:.3g}"  # noqa: PLR2004
    words = UNIT_WORDS[unit]
    return f"{number} {words[:-1] if number == '1' else words}"


def notes_of(
    arms: tuple[Arm, Arm], labels: tuple[str, str], runs: tuple[Run, Run], unit: Unit
) -> Iterator[str]:
    """Yield sentences on the limits of the comparison."""
    if unit != "dollars":
        yield f"costs are not known of both runs: spend is counted in {UNIT_WORDS[unit]}"
        if unit == "tokens" and _model(runs[0]) != _model(runs[1]):
            yield "tokens of two models do not cost the same"
    both = all(arm.shots for arm in arms)
    for arm, label in zip(arms, labels, strict=True):
        of = f" of {label}" if both else ""
        if arm.unknown:
            yield (
                f"{count(arm.unknown, 'sample')} of {label} could have handed in a solution whose "
                "hidden verdict is unknown; it counts as failed, so the curve is a lower bound "
                "before its end"
            )
        if arm.shots and arm.most_samples > arm.samples:
            yield (
                f"a problem has {arm.samples:,} to {count(arm.most_samples, 'shot')}{of}; a point "
                "of the curve takes no more of them than there are"
            )
        if arm.shots and arm.public_known and arm.most_samples > 1:
            yield f"of several shots{of}, the one that passes most public tests counts"
        if arm.shots and not arm.public_known:
            yield (
                f"how the shots{of} did on the public tests is not known, so that none can be "
                "chosen by them"
            )
