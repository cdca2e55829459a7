"""Data of the efficiency charts: how many references solutions are faster than, and both rates."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from harness.features.report.run_labels import LabelledRun
from harness.run.store.results import SampleResult
from harness.stats.rates import Rate, rate_by_problem

PERCENTILES = tuple(range(0, 101, 5))
"""Shares of the references, in percent, at which the chart has a point."""


@dataclass(frozen=True)
class FasterShare:
    """The share of a run's solutions that are faster than so many of their references.

    Attributes:
        percentile: percent of a problem's references, 0 to 100; ties count half.
        share: mean over problems, 0 to 1, with its 95 % interval.
    """

    run: str
    percentile: int
    share: Rate


@dataclass(frozen=True)
class TimedSolutions:
    """The solutions of a run that passed and were timed among references that tell.

    Attributes:
        shares: at each of `PERCENTILES`.
        solutions: how many there are, of so many `problems`.
        times: the median solution in the time of its problem's fastest reference; None where no
            fastest reference has a time above 0.
    """

    run: str
    shares: tuple[FasterShare, ...]
    solutions: int
    problems: int
    times: float | None

    def at(self, percentile: int) -> Rate:
        """The share that is faster than so many percent of the references."""
        return next(each.share for each in self.shares if each.percentile == percentile)


@dataclass(frozen=True)
class Standing:
    """A run by how much it solves, and how fast what it solves is."""

    run: str
    solved: Rate
    fast: Rate


def timed_solutions(sides: Sequence[LabelledRun]) -> list[TimedSolutions]:
    """Return what there is of each run that has such a solution.

    Left out are solutions of problems whose references do not tell fast from slow.
    """
    return [each for side in sides if (each := _timed(side)) is not None]


def _timed(side: LabelledRun) -> TimedSolutions | None:
    found = [
        (result.problem_id, ranked)
        for result in side.graded
        if result.solved and (ranked := _percentile(result)) is not None
    ]
    if not found:
        return None
    shares: list[FasterShare] = []
    for at in PERCENTILES:
        share = rate_by_problem((problem, float(ranked >= at)) for problem, ranked in found)
        if share is not None:
            shares.append(FasterShare(side.label, at, share))
    times = [times for result in side.graded if (times := _times_fastest(result)) is not None]
    return TimedSolutions(
        run=side.label,
        shares=tuple(shares),
        solutions=len(found),
        problems=len({problem for problem, _ in found}),
        times=median(times) if times else None,
    )


def _percentile(result: SampleResult) -> float | None:
    """None where it was not timed, or the references do not tell fast from slow."""
    found = result.efficiency
    if found is None or found.time is None or found.beyond is None:
        return None
    return found.percentile


def _times_fastest(result: SampleResult) -> float | None:
    """The solution's time in that of its problem's fastest reference."""
    found = result.efficiency
    if found is None or not result.solved or _percentile(result) is None or found.time is None:
        return None
    return found.time / found.references[0] if found.references[0] > 0 else None


def standings(sides: Sequence[LabelledRun]) -> list[Standing]:
    """The runs that have both rates."""
    found = ((side.label, side.run.summary) for side in sides)
    return [
        Standing(label, summary.pass_at_1, summary.efficiency.beyond_passed)
        for label, summary in found
        if summary.pass_at_1 and summary.efficiency and summary.efficiency.beyond_passed
    ]
