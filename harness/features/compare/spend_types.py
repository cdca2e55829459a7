"""Types of the result of a comparison at equal spend."""

from harness.features.compare.arms import Unit, Way
from harness.models.protocol import Frozen


class SpendPoint(Frozen):
    """A solve rate at a mean spend a problem, with its 95 % interval.

    Attributes:
        spend: US dollars, tokens, model calls or seconds a problem, on average.
        amount: what spends so much: shots a problem, or the budget at which attempts are cut off.
        low, high: None where there is one problem.
    """

    spend: float
    solved: float
    low: float | None
    high: float | None
    amount: float


class SpendCurve(Frozen):
    """Solve rate over mean spend.

    Attributes:
        label: of the run, `A` or `B`.
        way: what the curve is of, see `harness.features.compare.arms.Way`.
        compared: whether it is the one that differences and the crossing are of.
        complete: whether more money would change nothing: the rate stays what it is at the end.
    """

    label: str
    way: Way
    compared: bool
    complete: bool
    points: tuple[SpendPoint, ...]


class SpendDifference(Frozen):
    """Two arms at the same mean spend.

    Attributes:
        at: the spend a problem, on average.
        mean_of: the label of the run whose sample spends so much on average; None where the spend
            was asked for, or is as much as is known of both.
        a, b: how the arms do there.
        difference: solve rate of B less that of A, with its 95 % interval from `low` to `high`, by
            the bootstrap over problems; None where there is one problem.
    """

    at: float
    mean_of: str | None
    a: SpendPoint
    b: SpendPoint
    difference: float
    low: float | None
    high: float | None

    @property
    def decided(self) -> bool:
        """Whether the interval excludes no difference."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


class Crossing(Frozen):
    """The spend above which one arm is better, and below which the other is.

    Attributes:
        at: the spend a problem, on average.
        low, high: its 95 % interval; None where it is open on that side, so that chance alone could
            have made the crossing.
        better_above, better_below: labels.
    """

    at: float
    low: float | None
    high: float | None
    better_above: str
    better_below: str


class SpendGroup(Frozen):
    """The problems of a difficulty: the arms at what each spends on these, or where it was asked.

    Attributes:
        differences: empty where there are too few problems.
    """

    name: str
    problems: int
    differences: tuple[SpendDifference, ...]


class ArmFacts(Frozen):
    """One of the runs.

    Attributes:
        label: `A` or `B`.
        name: how the sentence calls it.
        way: of the curve that is compared.
        mean: what one sample spends on average.
        most: the mean spend up to which the curve is known.
        samples: graded samples a problem, at least.
    """

    label: str
    name: str
    way: Way
    mean: float
    most: float
    samples: int


class SpendComparison(Frozen):
    """Two runs at equal spend, over the problems that both have graded.

    Attributes:
        unit: what is counted as spend: `dollars`, where those of any sample are unknown `tokens`,
            else `calls` of the model; `seconds` where they were asked for.
        a, b: the runs.
        curves: of both, those that are compared first.
        differences: at the spends that were asked for, else at the mean spend of a sample of each.
        until_pass: the same, where shots end with the first that passes the public tests; empty
            where no arm is one of shots.
        crossing: of the curves that are compared; None where they do not cross.
        by_difficulty: the easiest first.
        unreached: spends that were asked for and of which nothing is known, as an arm ends before.
        notes: what else is to be known, in sentences.
        sentence: the answer.
    """

    unit: Unit
    problems: int
    a: ArmFacts
    b: ArmFacts
    curves: tuple[SpendCurve, ...]
    differences: tuple[SpendDifference, ...]
    until_pass: tuple[SpendDifference, ...] = ()
    crossing: Crossing | None
    by_difficulty: tuple[SpendGroup, ...] = ()
    unreached: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()
    sentence: str
