"""In which settings runs differ, and so which of them are set against each other."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from harness.features.report.run_labels import SINGLE_SHOT, Side
from harness.run.spec.spec import GROWING, RESUMABLE, SETTINGS, RunSpec, uses

NO_FACTORS = RESUMABLE | GROWING | {"shard", "batch", "require_isolation", "unsafe_no_sandbox"}
"""Keys of the spec that are no reason for one run to solve more than another."""
ITERATING = frozenset(key for key in SETTINGS if not uses("single_shot", key))
"""Keys that some modes ignore: between runs of two modes they are a part of the mode."""


class Match(NamedTuple):
    """Two runs that are set against each other, and the settings in which they differ."""

    base: Side
    other: Side
    factors: tuple[str, ...]


def matches(sides: Sequence[Side]) -> list[Match]:
    """Choose the runs that are set against each other: those that differ in one setting.

    Of runs that differ in the same setting alone, the others are set against the first, or against
    the single shot where the setting is the mode. A run that may iterate and a single shot of the
    same model that have no such partner are matched too, the nearest first. Where there is no match
    at all, every run is set against the first.
    """
    found = list(_by_one_setting(sides))
    found += _by_mode(sides, found)
    return found or [Match(sides[0], side, factors(sides[0], side)) for side in sides[1:]]


def factors(one: Side, other: Side) -> tuple[str, ...]:
    """Return the settings in which two runs differ, by their keys."""
    ignored = NO_FACTORS
    if _value(one, "mode") != _value(other, "mode"):
        ignored |= ITERATING
    keys = [key for key in RunSpec.model_fields if key not in ignored]
    return tuple(key for key in keys if _value(one, key) != _value(other, key))


def is_shot(side: Side) -> bool:
    """Whether a run's mode is the single shot."""
    return side.said("mode") == SINGLE_SHOT


def _by_one_setting(sides: Sequence[Side]) -> Iterator[Match]:
    """Of each group of runs that differ in one setting alone, every run against one of them."""
    ordered = sorted(sides, key=lambda side: not is_shot(side))
    partners = [(one, other, factors(one, other)) for one, other in combinations(ordered, 2)]
    taken: set[tuple[int, tuple[str, ...]]] = set()
    for base, other, keys in partners:
        if len(keys) > 1 or (id(other), keys) in taken:
            continue
        taken.add((id(other), keys))
        yield Match(base, other, keys)


def _by_mode(sides: Sequence[Side], found: Sequence[Match]) -> Iterator[Match]:
    """Runs that may iterate against a single shot of the same model, where neither is yet."""
    matched = {id(side) for each in found if each.factors == ("mode",) for side in each[:2]}
    shots = [side for side in sides if is_shot(side) and id(side) not in matched]
    for side in sides:
        own = [shot for shot in shots if shot.said("model") == side.said("model")]
        if is_shot(side) or id(side) in matched or not own:
            continue
        nearest = min(own, key=lambda shot: len(factors(shot, side)))
        yield Match(nearest, side, factors(nearest, side))


def _value(side: Side, key: str) -> object:
    return side.run.spec.get(key, RunSpec.model_fields[key].get_default())
