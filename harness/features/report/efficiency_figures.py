"""Data of the efficiency charts: percentiles of solutions among references, and rates."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from harness.features.report.labelled_runs import LabelledRun
from harness.run.store.results import SampleResult
from harness.stats.rates import Rate, rate_by_problem

PERCENTILES = tuple(range(0, 101, 5))
"""Percentiles at which the chart has a point."""


@dataclass(frozen=True)
class FasterShare:
    """Share of a run's solutions that are faster than a percentage of their references.

    Attributes:
        percentile: percentage of a problem's references, 0 to 100; ties count half.
        share: mean over problems, 0 to 1, with its 95 % interval.
    """

    run: str
    percentile: int
    share: Rate


@dataclass(frozen=True)
class TimedSolutions:
    """Solutions of a run that passed and were timed, if their references differ enough.

    Attributes:
        shares: at each of `PERCENTILES`.
        solutions: number of solutions.
        problems: number of problems that they solve.
        times: median over solutions of the CPU time divided by that of the problem's fastest
            reference; None if no fastest reference has a time above 0.
    """

    run: str
    shares: tuple[FasterShare, ...]
    solutions: int
    problems: int
    times: float | None

    def at(self, percentile: int) -> Rate:
        """Return the share that is faster than this percentage of the references."""
        return next(each.share for each in self.shares if each.percentile == percentile)


@dataclass(frozen=True)
class Standing:
    """A run's solve rate, and the speed of what it solves."""

    run: str
    solved: Rate
    fast: Rate


def timed_solutions(sides: Sequence[LabelledRun]) -> list[TimedSolutions]:
    """Return the timed solutions of each run that has any.

    Solutions of problems without a Beyond score are left out.
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
    """Return the percentile; None if there is no time or no Beyond score."""
    found = result.efficiency
    if found is None or found.time is None or found.beyond is None:
        return None
    return found.percentile


def _times_fastest(result: SampleResult) -> float | None:
    """Return the CPU time divided by that of the fastest reference; None if unknown."""
    found = result.efficiency
    if found is None or not result.solved or _percentile(result) is None or found.time is None:
        return None
    return found.time / found.references[0] if found.references[0] > 0 else None


def standings(sides: Sequence[LabelledRun]) -> list[Standing]:
    """Return the runs that have both rates."""
    found = ((side.label, side.run.summary) for side in sides)
    return [
        Standing(label, summary.pass_at_1, summary.efficiency.beyond_passed)
        for label, summary in found
        if summary.pass_at_1 and summary.efficiency and summary.efficiency.beyond_passed
    ]
