"""Decide whether two cells differ, or are measured precisely enough."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from harness.features.experiment.shots import chosen_by_public_tests
from harness.models.protocol import Frozen
from harness.run.store.results import SampleResult
from harness.stats.sequential import LEVEL, Evidence, evidence
from harness.text import count

Reason = Literal["decided", "precise", "all_done", "incomplete"]


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
        told = {
            "decided": f"decided: the cells differ (e-value {self._e} of {1 / self.level:g})",
            "precise": f"precise: the interval is narrower than {self.precision:g} points"
            if self.precision is not None
            else "precise",
            "all_done": f"not decided (e-value {self._e} of {1 / self.level:g})",
            "incomplete": f"not decided yet (e-value {self._e} of {1 / self.level:g})",
        }
        return (
            f"{told[self.reason]} after {self.problems:,} of {count(self.planned, 'problem')}: "
            f"{self.cell} less {self.baseline} {self.points} on {count(self.pairs, 'pair')}"
        )

    @property
    def points(self) -> str:
        """The difference and its interval in points."""
        return (
            f"{100 * self.difference:+.1f} points "
            f"({100 * self.low:+.1f} to {100 * self.high:+.1f} at any look)"
        )

    @property
    def _e(self) -> str:
        return f"{self.e_value:.3g}"


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
