"""Decide whether two variants differ, at every look."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

from harness.figures import count, points
from harness.frozen import Frozen
from harness.run.store.results import SampleResult
from harness.stats.sequential import Evidence, evidence

Reason = Literal["decided", "precise", "all_done", "incomplete"]
Question = Literal["equal_spend", "solved"]


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
