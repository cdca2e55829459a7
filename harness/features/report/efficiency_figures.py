"""Data of the efficiency charts: times of references and solutions."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.features.report.run_labels import LabelledRun, groupable
from harness.run.store.results import SampleResult
from harness.stats.rates import Rate

MOST_PROBLEMS = 24
MOST_MARKS = 12  # of a run on a problem; the slowest are shown


@dataclass(frozen=True)
class Mark:
    """A solution's time, relative to the fastest reference of its problem."""

    run: str
    sample: str
    time: float
    low: float
    high: float
    beyond: float | None
    cpu_s: float


@dataclass(frozen=True)
class ReferenceRow:
    """A problem's references, relative to the fastest, and its passed solutions."""

    problem: str
    references: tuple[float, ...]
    marks: tuple[Mark, ...]

    @property
    def slowest(self) -> float:
        """Time of the slowest solution, relative to the fastest reference."""
        return max(mark.time for mark in self.marks)


@dataclass(frozen=True)
class Standing:
    """A run's solve rate, and the speed of what it solves."""

    run: str
    solved: Rate
    fast: Rate


def strips(sides: Sequence[LabelledRun]) -> list[ReferenceRow]:
    """Return the problems with timed solutions, those with the slowest first.

    The references of a problem are those of the first run that has it. A solution's time is
    relative
    to the fastest reference in its own run.
    """
    references: dict[str, tuple[float, ...]] = {}
    marks: dict[str, list[Mark]] = {}
    for side in sides:
        for result in side.graded:
            if (mark := _mark(side, result)) is not None and result.efficiency is not None:
                times = result.efficiency.references
                references.setdefault(result.problem_id, tuple(t / times[0] for t in times))
                marks.setdefault(result.problem_id, []).append(mark)
    names = _names(references)
    found = [
        ReferenceRow(names[problem], references[problem], tuple(_some(own)))
        for problem, own in marks.items()
    ]
    return sorted(found, key=lambda strip: (-strip.slowest, strip.problem))


def _mark(side: LabelledRun, result: SampleResult) -> Mark | None:
    """Return a timed solution's mark; None if it or its references have no time."""
    found = result.efficiency
    if found is None or found.time is None or found.cpu_s is None or not found.references:
        return None
    fastest = found.references[0]
    if not (0 < fastest < math.inf and 0 < found.time < math.inf):
        return None
    low, high = (end or found.time for end in (found.time_low, found.time_high))
    return Mark(
        run=side.label,
        sample=groupable(result.sample),
        time=found.time / fastest,
        low=low / fastest,
        high=high / fastest,
        beyond=found.beyond,
        cpu_s=found.cpu_s,
    )


def _some(marks: Sequence[Mark]) -> Iterator[Mark]:
    """Yield at most `MOST_MARKS` of each run, the slowest first."""
    seen = Counter[str]()
    for mark in sorted(marks, key=lambda mark: -mark.time):
        seen[mark.run] += 1
        if seen[mark.run] <= MOST_MARKS:
            yield mark


def _names(problems: Iterable[str]) -> dict[str, str]:
    """Return ids without their source if these are unique, else whole ids."""
    short = {problem: problem.partition("/")[2] or problem for problem in problems}
    names = short if len(set(short.values())) == len(short) else {each: each for each in short}
    return {problem: groupable(name) for problem, name in names.items()}


def standings(sides: Sequence[LabelledRun]) -> list[Standing]:
    """Return the runs that have both rates."""
    found = ((side.label, side.run.summary) for side in sides)
    return [
        Standing(label, summary.pass_at_1, summary.efficiency.beyond_passed)
        for label, summary in found
        if summary.pass_at_1 and summary.efficiency and summary.efficiency.beyond_passed
    ]
