"""When an experiment of two variants may stop, and whether they differ, at every look."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from harness.errors import UsageError
from harness.figures import count, points
from harness.frozen import Frozen
from harness.run.store.results import SampleResult
from harness.stats.sequential import LEVEL, Evidence, evidence

PAIR = 2
WIDEST = 200
"""Width in points of the widest interval, from -100 to 100."""
Say = Callable[[str], str]
"""Returns how a caller spells a setting: as a flag, or as a keyword."""
Reason = Literal["decided", "precise", "all_done", "incomplete"]
Question = Literal["equal_spend", "solved"]


@dataclass(frozen=True, slots=True)
class Goal:
    """When an experiment of two variants may stop.

    Attributes:
        decided: stop as soon as the variants differ significantly.
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


def check_pair(goal: Goal, variants: int, say: Say) -> None:
    """Refuse early stopping unless the experiment has two variants. Raises UsageError."""
    if goal.stops and variants != PAIR:
        raise UsageError(
            f"{say('stop_when_decided')} and {say('precision')} compare two variants, and this "
            f"experiment has {variants}; leave them out"
        )


def reason_to_stop(evidence: Evidence, goal: Goal) -> Literal["decided", "precise"] | None:
    """Return why no further problem is needed; None if more are needed."""
    if goal.decided and (evidence.low > 0 or evidence.high < 0):
        return "decided"
    if goal.precision is not None and 100 * (evidence.high - evidence.low) < goal.precision:
        return "precise"
    return None


class Decision(Frozen):
    """Outcome of an experiment that may stop early.

    Attributes:
        reason: `decided`; `precise`; `all_done` if all problems are done and neither holds;
            `incomplete` if the experiment was interrupted or ran out of budget.
        question: `equal_spend`: attempts against the shots that their spend buys; `solved`: all
            samples of both.
        variant, baseline: names of the variants; `difference` is the first minus the second.
        pairs: number of problems that count as evidence.
        problems, planned: number of problems done in both variants, and of all problems.
        difference, low, high: difference of the rates and its interval, between -1 and 1; the
            interval is valid at all interim looks.
        e_value: evidence against no difference.
        level, precision: the goal's level and precision.
    """

    reason: Reason
    question: Question = "solved"
    variant: str
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
        word = {
            "decided": "decided",
            "precise": "precise enough",
            "all_done": "undecided after all problems",
            "incomplete": "undecided",
        }[self.reason]
        where = " at equal spend" if self.question == "equal_spend" else ""
        evidence = f"evidence {self.e_value:.3g}, needs {1 / self.level:g}"
        if self.precision is not None:
            width = 100 * (self.high - self.low)
            word = word.replace("undecided", "not precise enough")
            evidence = (
                f"interval of {width:.3g} points, wanted under {self.precision:g}; {evidence}"
            )
        return (
            f"Stopping rule: {word} ({evidence}). "
            f"{self.variant} minus {self.baseline}{where}: {self.points}, from {self.pairs:,} of "
            f"{count(self.planned, 'problem')}"
        )

    def ends_against(self, baseline: str) -> tuple[float, float]:
        """Return the ends of the interval of the other variant minus this one."""
        return (self.low, self.high) if baseline == self.baseline else (-self.high, -self.low)

    @property
    def points(self) -> str:
        """The difference and its interval in points."""
        return (
            f"{points(self.difference)} points "
            f"({points(self.low)} to {points(self.high)} at any look)"
        )


def scores(
    results: Iterable[SampleResult], samples: int, *, whole: bool = True
) -> dict[str, float]:
    """Return a variant's score, 0 to 1, on each problem that is done.

    Args:
        results: results of the variant.
        samples: number of samples per problem.
        whole: whether a problem counts only if all its samples are graded.
    """
    by_problem: dict[str, list[SampleResult]] = defaultdict(list)
    for result in results:
        if result.index < samples:
            by_problem[result.problem_id].append(result)
    return {
        problem: sum(result.solved for result in each) / len(each)
        for problem, each in by_problem.items()
        if (len(each) == samples or not whole) and all(result.graded for result in each)
    }


def look(differences: Sequence[float], level: float) -> Evidence:
    """Return the evidence for a difference between two variants, paired by problem.

    Args:
        differences: the variant's score minus the baseline's, by problem.
        level: chance of a false finding at any interim look.
    """
    return evidence([round(min(1.0, max(-1.0, each)), 9) for each in differences], level)
