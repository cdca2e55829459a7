"""What iterating brought: the first write beside the last, and how the share solved grows.

All shares are of the graded samples whose steps are known, as the mean over problems of the
fraction of each one's samples. A sample is solved from the first revision on that passes all tests.
In older runs revisions between the first and the final one that passed the public tests were not
judged on the hidden ones; they count as failed, so that a share is never too high.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harness.models.protocol import Frozen
from harness.run.store.results import SampleResult, Step
from harness.stats.curves import cumulative, round_steps, whole_steps
from harness.stats.rates import Rate, rate_by_problem


class Point(Frozen):
    """The share of samples that are solved within so many turns, tokens or dollars."""

    within: int | float
    solved: float


class TurnPoint(Frozen):
    """The share of samples that are solved by a turn, the first being 1."""

    turn: int
    solved: float


class TestRunPoint(Frozen):
    """What is reached when a sample has run its tests so many times.

    Attributes:
        test_run: the first being 1; a revision is run once, however often that is asked for.
        passed_public: the share of samples of which a revision has passed all public tests by then.
        solved: the share that is solved by a revision of then or before.
    """

    __test__ = False

    test_run: int
    passed_public: float
    solved: float


class Curve(Frozen):
    """What iterating brought.

    Attributes:
        samples: how many it is of, and of how many `problems`.
        without_steps: graded samples that are older than steps, and in none of these figures.
        first_write: the rate at which the first revision passes all tests, hidden ones included;
            who wrote nothing failed. None where nobody knows it of any.
        first_write_unknown: samples of which nobody knows; they are not in that rate.
        by_test_run: a sample that stopped keeps what it had. Who has no public tests passes none.
        solved_unrun: samples that were solved by a revision that was never followed by a run of
            the tests: they are solved by no test run.
        by_turn: up to the last turn of any sample.
        by_tokens, by_dollars: in round steps from the least that solved one to the most that was
            spent on one; None where that of any sample is unknown, or nothing was spent.
        lost: samples with a revision that passes all tests and a final one that does not. The
            shares count them; pass@1 does not.
    """

    problems: int
    samples: int
    without_steps: int
    first_write: Rate | None
    first_write_unknown: int
    by_test_run: tuple[TestRunPoint, ...]
    solved_unrun: int
    by_turn: tuple[TurnPoint, ...]
    by_tokens: tuple[Point, ...] | None
    by_dollars: tuple[Point, ...] | None
    lost: int

    @property
    def iterated(self) -> bool:
        """Whether there was more than one answer, or a run of the tests."""
        return len(self.by_turn) > 1 or bool(self.by_test_run)


@dataclass(frozen=True, slots=True)
class _Way:
    """What a sample's steps come to.

    Attributes:
        problem: its id.
        solved: whether the final solution passes all tests.
        turns, tokens, cost: of the whole sample.
        steps: whether it has any.
        first_write: whether the first revision passes all tests; None where nobody knows.
        solving: the first step that is known to pass them.
        test_runs: how often it ran the public tests, each revision once.
        passed_after: the run of the tests, from 1, that all public ones passed.
        solved_after: the run, from 1, that followed the writing of `solving`.
    """

    problem: str
    solved: bool
    turns: int
    tokens: int | None
    cost: float | None
    steps: bool
    first_write: bool | None
    solving: Step | None
    test_runs: int
    passed_after: int | None
    solved_after: int | None


def curve_of(graded: Sequence[SampleResult]) -> Curve | None:
    """The curve of a run's graded samples; None where the steps of none are known."""
    ways = [_way(result) for result in graded if result.steps or _wrote_nothing(result)]
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
        by_test_run=_by_test_run(ways),
        solved_unrun=sum(way.solving is not None and way.solved_after is None for way in ways),
        by_turn=_by_turn(ways),
        by_tokens=_by_amount(ways, [way.tokens for way in ways], lambda step: step.tokens),
        by_dollars=_by_amount(ways, [way.cost for way in ways], lambda step: step.cost),
        lost=sum(way.solving is not None and not way.solved for way in ways),
    )


def _wrote_nothing(result: SampleResult) -> bool:
    return not result.written and not result.code


def _way(result: SampleResult) -> _Way:
    test_runs, passed_after, solved_after, solving = 0, None, None, None
    steps, total, usage = result.steps, result.public_total, result.usage
    for step in steps:
        passed = step.public_passed
        if solving is None and step.solved:
            solving = step
        if passed is None:
            continue
        test_runs += 1
        if passed_after is None and passed == total > 0:
            passed_after = test_runs
        if solved_after is None and solving is not None:
            solved_after = test_runs
    return _Way(
        problem=result.problem_id,
        solved=result.solved,
        turns=result.model_calls,
        tokens=None if usage is None else usage.total_tokens,
        cost=result.cost,
        steps=bool(steps),
        first_write=steps[0].solved if steps else False,
        solving=solving,
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
    until: Callable[[Step], float | None],
) -> tuple[Point, ...] | None:
    """The share solved by what was spent: on a sample in all, and until a step of it."""
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
    ways: Iterable[_Way], place: Callable[[Step], float | None]
) -> list[tuple[str, float | None]]:
    """Each sample's problem, and where it was solved; None where it was not, or nobody knows."""
    return [(w.problem, None if w.solving is None else place(w.solving)) for w in ways]
