"""Simulated shots and attempts with known, crossing curves of rate over spend."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.stats.crossing import crossing
from harness.stats.pass_at_k import Shot, chosen_solved, spend_of_all
from harness.stats.spend_curves import (
    AttemptSpend,
    Policies,
    cut_off,
    difference_interval,
    policies,
    rate_interval,
    resampled,
)

SHOTS, TURNS = 5, 6
FALSE_PASS = 0.25
"""Fraction of wrong solutions that pass the public tests."""

GAIN = 0.35
"""Fraction of the problems unsolved by shots that attempts solve with feedback."""


@dataclass(frozen=True)
class Made:
    """Shots and attempts on the same problems."""

    shots: Policies
    attempts: Policies


def made(draw: np.random.Generator, problems: int) -> Made:
    """Simulate problems; a shot or turn costs 1 to 3, a first turn 2 more."""
    chances = draw.beta(0.8, 0.8, problems)
    spends, solved = list[list[float]](), list[list[float]]()
    attempts: list[AttemptSpend] = []
    for problem, chance in enumerate(chances):
        own = [_shot(draw, chance) for _ in range(SHOTS)]
        spends.append([spend_of_all(own, first + 1) for first in range(SHOTS)])
        solved.append([chosen_solved(own, first + 1) for first in range(SHOTS)])
        attempts.append(_attempt(draw, problem, chance + GAIN * (1 - chance)))
    return Made(policies(spends, solved, samples=SHOTS), cut_off(attempts, problems))


def _shot(draw: np.random.Generator, chance: float) -> Shot:
    right = bool(draw.random() < chance)
    passes = right or bool(draw.random() < FALSE_PASS)
    return Shot(int(passes), passes, right, float(draw.integers(1, 4)))


def _attempt(draw: np.random.Generator, problem: int, chance: float) -> AttemptSpend:
    """Simulate an attempt: a revision per turn, until one passes the public tests."""
    spend, changes = 2.0, list[tuple[float, bool]]()
    for _ in range(TURNS):
        spend += float(draw.integers(1, 4))
        right = bool(draw.random() < chance * 0.6)
        changes.append((spend, right))
        if right or draw.random() < FALSE_PASS / 4:
            break
    return AttemptSpend(problem, changes, spend)


@dataclass(frozen=True)
class Held:
    """Whether the intervals of one experiment contain the true values."""

    shots: tuple[bool, ...]
    attempts: tuple[bool, ...]
    difference: tuple[bool, ...]
    crossing: bool
    crossed: bool


@dataclass(frozen=True)
class Truth:
    """The curves of very many problems at some spends, and their crossing."""

    at: tuple[float, ...]
    shots: tuple[float, ...]
    attempts: tuple[float, ...]
    crossing: float

    @classmethod
    def of(cls, problems: int, at: Sequence[float]) -> "Truth":
        """Estimate the truth from many problems."""
        every = made(np.random.default_rng(99), problems)
        grid = [float(each) for each in np.linspace(0.05, every.shots.most, 400)]
        difference = np.array(every.attempts.rates(grid)) - every.shots.rates(grid)
        place = int(np.flatnonzero(difference < 0)[-1])
        return cls(
            tuple(at),
            tuple(every.shots.rates(at)),
            tuple(every.attempts.rates(at)),
            grid[place],
        )


def held(draw: np.random.Generator, problems: int, truth: Truth, resamples: int, seed: int) -> Held:
    """Simulate one experiment, analyzed as in `harness compare`."""
    both = made(draw, problems)
    grid = [both.shots.most * (place + 1) / 40 for place in range(40)]
    at = [*truth.at, *grid]
    one, other = resampled([both.shots, both.attempts], at, resamples=resamples, seed=seed)
    number = len(truth.at)
    point = crossing(
        at[number:],
        [b - a for a, b in zip(both.shots.rates(grid), both.attempts.rates(grid), strict=True)],
        (other - one)[:, number:],
        problems,
    )
    differences = [b - a for a, b in zip(truth.shots, truth.attempts, strict=True)]
    places = list(enumerate(truth.at))
    return Held(
        _in([rate_interval(both.shots, at, one[:, n]) for n, at in places], truth.shots),
        _in([rate_interval(both.attempts, at, other[:, n]) for n, at in places], truth.attempts),
        _in(
            [
                difference_interval(both.shots, both.attempts, at, (other - one)[:, n])[1:3]
                for n, at in places
            ],
            differences,
        ),
        point is not None
        and (point.low is None or point.low <= truth.crossing)
        and (point.high is None or truth.crossing <= point.high),
        point is not None,
    )


def _in(bands: Sequence[tuple[float, float]], true: Sequence[float]) -> tuple[bool, ...]:
    return tuple(low <= value <= high for (low, high), value in zip(bands, true, strict=True))
