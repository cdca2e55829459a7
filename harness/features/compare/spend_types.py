"""Types of the result of a comparison at equal spend."""

from harness.features.compare.arms import CurveKind, Unit
from harness.models.protocol import Frozen


class SpendPoint(Frozen):
    """A solve rate at a mean spend per problem, with its 95 % interval.

    Attributes:
        spend: mean US dollars, tokens or model calls per problem.
        solved: solve rate.
        low, high: ends of the interval; None for a single problem.
        amount: shots per problem, or the budget at which attempts are cut off, with this spend.
    """

    spend: float
    solved: float
    low: float | None
    high: float | None
    amount: float


class SpendCurve(Frozen):
    """Solve rate over mean spend.

    Attributes:
        label: label of the run, `A` or `B`.
        way: kind of the curve, see `harness.features.compare.arms.CurveKind`.
        compared: whether differences and the crossing are computed from this curve.
        complete: whether the rate stays constant beyond the last point.
    """

    label: str
    way: CurveKind
    compared: bool
    complete: bool
    points: tuple[SpendPoint, ...]


class SpendDifference(Frozen):
    """Two arms at the same mean spend.

    Attributes:
        at: mean spend per problem.
        mean_of: label of the run whose mean spend per sample this is; None if the user chose the
            spend, or if it is the limit of what is known of both runs.
        a, b: the arms' points at this spend.
        difference: solve rate of B minus that of A.
        low, high: 95 % interval of the difference, by the bootstrap over problems; None for a
            single problem.
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
        """Whether the interval excludes 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


class Crossing(Frozen):
    """The spend above which one arm is better, and below which the other is.

    Attributes:
        at: mean spend per problem.
        low, high: 95 % interval; None if it is open on that side, so that the crossing may be due
            to chance.
        better_above, better_below: labels of the better arm above and below.
    """

    at: float
    low: float | None
    high: float | None
    better_above: str
    better_below: str


class SpendGroup(Frozen):
    """The arms on the problems of one difficulty.

    Attributes:
        differences: empty if there are too few problems.
    """

    name: str
    problems: int
    differences: tuple[SpendDifference, ...]


class ArmFacts(Frozen):
    """Facts about one of the runs.

    Attributes:
        label: `A` or `B`.
        name: name of the run in the sentence.
        way: kind of the compared curve.
        mean: mean spend of a sample.
        most: mean spend up to which the curve is known.
        samples: fewest graded samples of a problem.
    """

    label: str
    name: str
    way: CurveKind
    mean: float
    most: float
    samples: int


class SpendComparison(Frozen):
    """Two runs at equal spend, over the problems that both have graded.

    Attributes:
        unit: unit of spend: `dollars`, or `tokens` if a cost is unknown, or else model `calls`.
        problems: number of problems.
        a, b: facts about the runs.
        curves: curves of both runs, the compared ones first.
        differences: differences at the chosen spends, or else at each run's mean spend per sample.
        until_pass: the same if shots stop at the first that passes the public tests; empty if no
            arm is an arm of shots.
        crossing: crossing of the compared curves; None if they do not cross.
        by_difficulty: the arms per difficulty, the easiest first.
        unreached: chosen spends beyond the known range of an arm.
        notes: limits of the comparison, in sentences.
        sentence: the summary in plain sentences.
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
