"""Effect of iterating: first against last revision, and the solve rate by turn, tokens and cost.

All rates are over graded samples with known steps, as the mean over problems of the fraction of
each problem's samples. A sample is solved from its first revision on that passes all tests. In
older runs, intermediate revisions that passed the public tests were not graded on the hidden ones;
they count as failed, so that a rate is never too high.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from harness.frozen import Frozen
from harness.run.store.results import GradedSample
from harness.stats.cumulative import cumulative, round_steps, whole_steps
from harness.stats.rates import Rate, rate_by_problem
from harness.tools.revision import Revision


class Point(Frozen):
    """Fraction of samples solved within a number of turns, tokens or dollars."""

    within: int | float
    solved: float


class TurnPoint(Frozen):
    """Fraction of samples solved by a turn, counted from 1."""

    turn: int
    solved: float


class TestRunPoint(Frozen):
    """Results after a number of test runs.

    Attributes:
        test_run: number of the test run, from 1; repeated runs of a revision count once.
        passed_public: fraction of samples with a revision that passed all public tests by then.
        solved: fraction of samples solved by a revision up to then.
    """

    __test__ = False

    test_run: int
    passed_public: float
    solved: float


class Curve(Frozen):
    """Effect of iterating.

    Attributes:
        problems, samples: number of problems and samples included.
        without_steps: graded samples older than steps, which are not included.
        first_write: rate of first revisions that pass all tests, including hidden ones; a sample
            without a revision failed. None if unknown for all.
        first_write_unknown: samples for which it is unknown; they are not in that rate.
        perhaps_earlier: samples with a revision of unknown grade before any that is known to pass
            all tests. They count as solved from the latter on, so these rates may be too low.
        by_test_run: results by test run. A sample that stopped keeps its result; one without
            public tests passes none.
        solved_unrun: samples solved by a revision that was not followed by a test run, so that no
            test run counts as solved.
        by_turn: results by turn, up to the last turn of any sample.
        by_tokens, by_dollars: results in round steps, from the least amount that solved a sample
            to the most spent on one; None if any amount is unknown, or nothing was spent.
        lost: samples with a revision that passes all tests and a final solution that does not.
            These rates count them as solved; pass@1 does not.
        gained: samples whose first revision fails a test and whose final solution passes all.
        gone: samples whose first revision passes all tests and whose final solution does not.
    """

    problems: int
    samples: int
    without_steps: int
    first_write: Rate | None
    first_write_unknown: int
    perhaps_earlier: int = 0
    by_test_run: tuple[TestRunPoint, ...]
    solved_unrun: int
    by_turn: tuple[TurnPoint, ...]
    by_tokens: tuple[Point, ...] | None
    by_dollars: tuple[Point, ...] | None
    lost: int
    gained: int = 0
    gone: int = 0

    @property
    def without_first_write(self) -> int:
        """Graded samples that are not in the rate of first attempts."""
        return self.first_write_unknown + self.without_steps

    @property
    def iterated(self) -> bool:
        """Whether there was more than one answer, or a test run."""
        return len(self.by_turn) > 1 or bool(self.by_test_run)


class _Way(NamedTuple):
    """Facts derived from a sample's steps.

    Attributes:
        problem: problem id.
        solved: whether the final solution passes all tests.
        turns, tokens, cost: of the whole sample.
        steps: whether the sample has steps.
        first_write: whether the first revision passes all tests; None if unknown.
        solving: the first step known to pass all tests.
        perhaps_earlier: whether a step before it, or any if there is none, is of unknown grade.
        test_runs: number of runs of the public tests, one per revision.
        passed_after: number of the run, from 1, that all public tests passed.
        solved_after: number of the first run, from 1, after `solving` was written.
    """

    problem: str
    solved: bool
    turns: int
    tokens: int | None
    cost: float | None
    steps: bool
    first_write: bool | None
    solving: Revision | None
    perhaps_earlier: bool
    test_runs: int
    passed_after: int | None
    solved_after: int | None


def curve_of(graded: Sequence[GradedSample]) -> Curve | None:
    """Return the curve of a run's graded samples; None if no steps are known."""
    ways = [_way(sample) for sample in graded if sample.steps or _wrote_nothing(sample)]
    older = len(graded) - len(ways)
    if not ways or (older and not any(way.steps for way in ways)):
        return None
    written = [(w.problem, w.first_write) for w in ways if w.first_write is not None]
    return Curve(
        problems=len({way.problem for way in ways}),
        samples=len(ways),
        without_steps=older,
        first_write=rate_by_problem(written),
        first_write_unknown=len(ways) - len(written),
        perhaps_earlier=sum(way.perhaps_earlier for way in ways),
        by_test_run=_by_test_run(ways),
        solved_unrun=sum(way.solving is not None and way.solved_after is None for way in ways),
        by_turn=_by_turn(ways),
        by_tokens=_by_amount(ways, [way.tokens for way in ways], lambda step: step.tokens),
        by_dollars=_by_amount(ways, [way.cost for way in ways], lambda step: step.cost),
        lost=sum(way.solving is not None and not way.solved for way in ways),
        gained=sum(way.first_write is False and way.solved for way in ways),
        gone=sum(way.first_write is True and not way.solved for way in ways),
    )


def _wrote_nothing(sample: GradedSample) -> bool:
    return not sample.written and not sample.code


def _way(sample: GradedSample) -> _Way:
    test_runs, passed_after, solved_after, solving, unknown = 0, None, None, None, False
    steps, total, usage = sample.steps, sample.public_total, sample.usage
    for step in steps:
        passed = step.public_passed
        if solving is None:
            unknown = unknown or step.solved is None
            solving = step if step.solved else None
        if passed is None:
            continue
        test_runs += 1
        if passed_after is None and passed == total > 0:
            passed_after = test_runs
        if solved_after is None and solving is not None:
            solved_after = test_runs
    return _Way(
        problem=sample.problem_id,
        solved=sample.solved,
        turns=sample.model_calls,
        tokens=None if usage is None else usage.total_tokens,
        cost=sample.cost,
        steps=bool(steps),
        first_write=steps[0].solved if steps else False,
        solving=solving,
        perhaps_earlier=unknown,
        test_runs=test_runs,
        passed_after=passed_after,
        solved_after=solved_after,
    )


def _by_test_run(ways: Sequence[_Way]) -> tuple[TestRunPoint, ...]:
    runs = whole_steps(max(way.test_runs for way in ways))
    passed = cumulative([(way.problem, way.passed_after) for way in ways], runs)
    solved = cumulative([(way.problem, way.solved_after) for way in ways], runs)
    return tuple(
        TestRunPoint(test_run=run, passed_public=public, solved=both)
        for run, public, both in zip(runs, passed, solved, strict=True)
    )


def _by_turn(ways: Sequence[_Way]) -> tuple[TurnPoint, ...]:
    turns = whole_steps(max(way.turns for way in ways))
    solved = cumulative(_solved_at(ways, lambda step: step.turn), turns)
    return tuple(
        TurnPoint(turn=turn, solved=share) for turn, share in zip(turns, solved, strict=True)
    )


def _by_amount(
    ways: Sequence[_Way],
    spent: Iterable[float | None],
    until: Callable[[Revision], float | None],
) -> tuple[Point, ...] | None:
    """Return the fraction solved by amount spent, in the sample and up to a step."""
    in_all = [amount for amount in spent if amount is not None]
    reached = _solved_at(ways, until)
    places = [place for _, place in reached if place is not None]
    known = len(in_all) == len(ways) and len(places) == sum(w.solving is not None for w in ways)
    most = max(in_all, default=0)
    if not known or not 0 < most < math.inf:
        return None
    steps = round_steps(min((place for place in places if place > 0), default=most), most)
    solved = cumulative(reached, steps)
    return tuple(
        Point(within=step, solved=share) for step, share in zip(steps, solved, strict=True)
    )


def _solved_at(
    ways: Iterable[_Way], place: Callable[[Revision], float | None]
) -> list[tuple[str, float | None]]:
    """Return each sample's problem and where it was solved; None if not, or unknown."""
    return [(w.problem, None if w.solving is None else place(w.solving)) for w in ways]
