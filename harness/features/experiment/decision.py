"""Decide between two cells: how many shots equal an agent's spend, and whether the cells differ."""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from harness.errors import UsageError
from harness.features.experiment.cells import OF_THE_WHOLE, Spec
from harness.figures import count
from harness.models.protocol import Frozen
from harness.run.settings.spec import uses
from harness.run.store.results import SampleResult
from harness.stats.sequential import LEVEL, Evidence, evidence

SINGLE_SHOT = "single_shot"
MOST_SHOTS = 100
"""Most shots per problem, whatever the agent spends."""

Unit = Literal["cost", "tokens", "calls"]
Reason = Literal["decided", "precise", "all_done", "incomplete"]

PAIR = 2
WIDEST = 200
"""Width in points of the widest interval, from -100 to 100."""

Say = Callable[[str], str]
"""Returns how a caller spells a setting: as a flag, or as a keyword."""


@dataclass(frozen=True, slots=True)
class Spend:
    """Mean spend of a cell's samples; None for a unit unknown in any sample.

    Attributes:
        cost: US dollars per sample.
        tokens: input and output tokens per sample.
        calls: model calls per sample.
    """

    cost: float | None
    tokens: float | None
    calls: float


def mean_spend(results: Collection[SampleResult]) -> Spend | None:
    """Return the mean spend of the graded samples; None if none is graded."""
    graded = [result for result in results if result.graded]
    if not graded:
        return None
    costs = [result.cost for result in graded if result.cost is not None]
    tokens = [result.usage.total_tokens for result in graded if result.usage is not None]
    number = len(graded)
    return Spend(
        cost=math.fsum(costs) / number if len(costs) == number else None,
        tokens=sum(tokens) / number if len(tokens) == number else None,
        calls=sum(result.model_calls for result in graded) / number,
    )


def affordable(agent: Spend, shot: Spend) -> tuple[float, Unit]:
    """Return how many shots cost as much as an agent's sample, and the unit compared.

    The unit is dollars if both costs are known and the shot's is not 0, else tokens, else model
    calls.
    """
    if agent.cost is not None and shot.cost:
        return agent.cost / shot.cost, "cost"
    if agent.tokens is not None and shot.tokens:
        return agent.tokens / shot.tokens, "tokens"
    return (agent.calls / shot.calls if shot.calls else 1.0), "calls"


def whole_shots(ratio: float) -> int:
    """Return the shots that cover a spend, between 1 and `MOST_SHOTS`."""
    return max(1, min(MOST_SHOTS, math.ceil(ratio - 1e-9)))


def agents_of(shot: Spec, cells: Mapping[str, Spec]) -> list[str]:
    """Return the cells whose spend decides a single-shot cell's number of shots.

    These are the cells of other modes with the same value of every setting that single shot uses.
    """
    apart = {*OF_THE_WHOLE, "mode", "samples_per_problem", "price", "prices"}
    keys = [key for key in shot if key not in apart and uses(SINGLE_SHOT, key)]
    return [
        name
        for name, spec in cells.items()
        if spec["mode"] != SINGLE_SHOT
        and all(spec.get(key) == shot[key] for key in keys if uses(spec["mode"], key))
    ]


def chosen_by_public_tests(samples: Sequence[SampleResult]) -> SampleResult:
    """Return the sample that passes the most public tests; the first one on a tie."""
    return max(samples, key=lambda result: (result.public_passed, -result.index))


@dataclass(frozen=True, slots=True)
class Goal:
    """When an experiment of two cells may stop.

    Attributes:
        decided: stop as soon as the cells differ significantly.
        level: significance level, the chance to find a difference where there is none.
        precision: stop as soon as the interval of the difference is narrower than this, in points.
    """

    decided: bool = False
    level: float = LEVEL
    precision: float | None = None

    @property
    def stops(self) -> bool:
        """Whether the experiment may stop before all problems are run."""
        return self.decided or self.precision is not None

    @property
    def flags(self) -> dict[str, Any]:
        """The flags that set this goal, by key."""
        given = {
            "stop_when_decided": self.decided or None,
            "level": None if self.level == LEVEL else self.level,
            "precision": self.precision,
        }
        return {name: value for name, value in given.items() if value is not None}


def goal_of(*, decided: bool, level: float | None, precision: float | None, say: Say) -> Goal:
    """Check the settings of early stopping.

    Raises:
        UsageError: a value is out of range or has no effect.
    """
    _check_range("level", level, 1, "a chance between 0 and 1, as 0.05", say)
    _check_range("precision", precision, WIDEST, f"points between 0 and {WIDEST}, as 10", say)
    if level is not None and not decided and precision is None:
        raise UsageError(
            f"{say('level')} goes with {say('stop_when_decided')} or {say('precision')}"
        )
    return Goal(decided, LEVEL if level is None else level, precision)


def _check_range(name: str, given: object, most: float, wanted: str, say: Say) -> None:
    is_number = isinstance(given, int | float)
    if given is not None and not (is_number and 0 < given < most):
        shown = f"{given:g}" if is_number else repr(given)[:100]
        raise UsageError(f"{say(name)} {shown}: give {wanted}")


def check_pair(goal: Goal, cells: int, say: Say) -> None:
    """Refuse early stopping unless the experiment has two cells. Raises UsageError."""
    if goal.stops and cells != PAIR:
        raise UsageError(
            f"{say('stop_when_decided')} and {say('precision')} compare two cells, and this "
            f"experiment has {cells}; leave them out"
        )


class Decision(Frozen):
    """Outcome of an experiment that may stop early.

    Attributes:
        reason: `decided`; `precise`; `all_done` if all problems are done and neither holds;
            `incomplete` if the experiment was interrupted or ran out of budget.
        cell, baseline: names of the cells; `difference` is the first minus the second.
        pairs: number of problems that count as evidence.
        problems, planned: number of problems done in both cells, and of all problems.
        difference, low, high: difference of the rates and its interval, between -1 and 1; the
            interval is valid at all interim looks.
        e_value: evidence against no difference.
        level, precision: the goal's level and precision.
    """

    reason: Reason
    cell: str
    baseline: str
    pairs: int
    problems: int
    planned: int
    difference: float
    low: float
    high: float
    e_value: float
    level: float
    precision: float | None = None

    @property
    def line(self) -> str:
        """The decision in one line."""
        weighed = f"(e-value {self.e_value:.3g} of {1 / self.level:g})"
        told = {
            "decided": f"decided: the cells differ {weighed}",
            "precise": "precise",
            "all_done": f"not decided {weighed}",
            "incomplete": f"not decided yet {weighed}",
        }[self.reason]
        if self.reason == "precise" and self.precision is not None:
            told = f"precise: the interval is narrower than {self.precision:g} points"
        return (
            f"{told} after {self.problems:,} of {count(self.planned, 'problem')}: "
            f"{self.cell} less {self.baseline} {self.points} on {count(self.pairs, 'pair')}"
        )

    @property
    def points(self) -> str:
        """The difference and its interval in points."""
        return (
            f"{100 * self.difference:+.1f} points "
            f"({100 * self.low:+.1f} to {100 * self.high:+.1f} at any look)"
        )


def scores(results: Iterable[SampleResult], samples: int, *, chosen: bool) -> dict[str, float]:
    """Return a cell's score, 0 to 1, on each problem with all its samples graded.

    Args:
        results: results of the cell.
        samples: number of samples per problem.
        chosen: whether to score the sample chosen by public tests instead of the mean.
    """
    found: dict[str, list[SampleResult]] = defaultdict(list)
    for result in results:
        if result.index < samples:
            found[result.problem_id].append(result)
    return {
        problem: float(chosen_by_public_tests(each).solved)
        if chosen
        else sum(result.solved for result in each) / len(each)
        for problem, each in found.items()
        if len(each) == samples and all(result.graded for result in each)
    }


def look(
    cell: Mapping[str, float],
    baseline: Mapping[str, float],
    left_out: Collection[str],
    level: float,
) -> Evidence:
    """Return the evidence for a difference between two cells, paired by problem.

    Args:
        cell: score of the cell by problem.
        baseline: score of the baseline by problem.
        left_out: pilot problems. They set the number of shots, so they cannot count as evidence.
        level: chance of a false finding at any interim look.
    """
    pairs = [problem for problem in baseline if problem in cell and problem not in left_out]
    return evidence([cell[problem] - baseline[problem] for problem in pairs], level)


def reason_to_stop(found: Evidence, goal: Goal) -> Literal["decided", "precise"] | None:
    """Return why no further problem is needed; None if more are needed."""
    if goal.decided and (found.low > 0 or found.high < 0):
        return "decided"
    if goal.precision is not None and 100 * (found.high - found.low) < goal.precision:
        return "precise"
    return None
