"""Points of a solution to a problem whose tests are in groups.

Each group's tests are judged as a part of their own. A group's points follow from those of its
tests and inner groups, as the package formats of Kattis say, or its problem's own grader decides. A
problem is solved by a full score.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean
from typing import Any, NamedTuple

from harness.grading.sandbox_retry import RetryingWorker
from harness.grading.stop import Stop
from harness.grading.task import Task
from harness.grading.verdict import ROUNDING, Grade, JudgedAgain, Score, TestResult, Verdict
from harness.kinds.checkers.checker_program import SLACK
from harness.kinds.packages.graders import ACCEPTED, WRONG, Grader, GraderError, code_of
from harness.sandbox.worker import Worker
from harness.scoring import TestGroup
from harness.text import writable

CHECKER, GRADER = "checker", "grader"
AT_FAULT = "the problem's {} is at fault: {}"


class ScoreError(ValueError):
    """The points of a test or group are not what its problem allows."""


class Points(NamedTuple):
    """Points of a test or group, and its verdict as graders read it."""

    points: float
    verdict: str = ACCEPTED

    @property
    def accepted(self) -> bool:
        """Whether it is accepted."""
        return self.verdict == ACCEPTED


def judge_groups(
    nothing: Grade, worker: Worker, task: Task, judge: Callable[[Worker, Task], Grade]
) -> Grade:
    """Judge a solution group by group.

    Args:
        nothing: grade without results.
        worker: worker that runs the solution.
        task: the task with all tests, which give points.
        judge: judges some of the tests.

    Raises:
        SandboxError: the sandbox failed.
    """
    assert task.scoring is not None
    scoring, own = task.scoring, task.scoring.grader
    grader = None if own is None else Grader(RetryingWorker(worker.beside), own)
    run = _GroupRun(task, partial(judge, worker), grader)
    score: Score | None = None
    whole = Points(0.0, WRONG)
    try:
        run.judge(scoring.root)
        if not run.over:
            whole = _Count(run.results, grader).of(scoring.root)
        points = whole.points if whole.accepted else 0.0
        score = Score(points=points, maximum=scoring.maximum)
    except (ScoreError, GraderError) as error:
        who = GRADER if isinstance(error, GraderError) else CHECKER
        last = max(run.results)
        run.results[last] = _at_fault(run.results[last], AT_FAULT.format(who, error))
    tests = tuple(run.results[index] for index in sorted(run.results))
    verdict = _verdict(tests, score)
    fields: dict[str, Any] = {"tests": tests, "peak_bytes": run.peak_bytes, "verdict": verdict}
    fields |= {"judged_again": run.again, "isolation": run.isolation}
    if verdict is not Verdict.CHECKER_ERROR:
        fields |= {"score": score, "accepted_by_grader": whole.accepted}
    return nothing.model_copy(update=fields)


def _at_fault(test: TestResult, why: str) -> TestResult:
    fault = {"verdict": Verdict.CHECKER_ERROR, "error": writable(why)}
    return test.model_copy(update=fault)


def _verdict(tests: Sequence[TestResult], score: Score | None) -> Verdict:
    """Return accepted for a full score, else the verdict of the first failed hidden test."""
    failed = [test for test in tests if not test.passed]
    if score is None or any(test.verdict is Verdict.CHECKER_ERROR for test in failed):
        return Verdict.CHECKER_ERROR
    if score.is_full:
        return Verdict.ACCEPTED
    first = next((test for test in failed if not test.public), failed[0] if failed else None)
    return Verdict.WRONG_ANSWER if first is None else first.verdict


@dataclass(slots=True)
class _GroupRun:
    """Runs the tests of groups, as far as they can give points.

    Attributes:
        over: whether the solution does not compile or the checker failed: there are no points then,
            whatever a grader would say.
    """

    task: Task
    judge_part: Callable[[Task], Grade]
    grader: Grader | None = None
    results: dict[int, TestResult] = field(default_factory=dict[int, TestResult])
    accepted: dict[str, bool] = field(default_factory=dict[str, bool])
    again: JudgedAgain = field(default_factory=JudgedAgain)
    peak_bytes: int = 0
    isolation: str = ""
    over: bool = False

    def judge(self, group: TestGroup) -> bool:
        """Run a group; return whether it was accepted."""
        if not all(self.accepted.get(name, False) for name in group.needs):
            return False
        for part in _runs(group):
            if self.over:
                return False
            if isinstance(part, TestGroup):
                accepted = self.judge(part)
                self.accepted[part.name.rpartition("/")[2]] = accepted
            else:
                accepted = self._judge_tests(part, group)
            if group.breaks and not accepted:
                break
        if self.over:
            return False
        return _Count(self.results, self.grader, self.accepted).of(group).accepted

    def _judge_tests(self, indexes: Sequence[int], group: TestGroup) -> bool:
        stop = self.task.stop
        stop = Stop.FAILURE if group.breaks and stop is not Stop.NEVER else Stop.NEVER
        tests = [self.task.tests[index] for index in indexes]
        grade = self.judge_part(self.task._replace(tests=tests, stop=stop, scoring=None))
        for test in grade.tests:
            index = indexes[test.index]
            self.results[index] = test.model_copy(update={"index": index})
        self.again += grade.judged_again
        self.peak_bytes = max(self.peak_bytes, grade.peak_bytes)
        self.isolation = grade.isolation or self.isolation
        self.over = grade.verdict in {Verdict.COMPILE_ERROR, Verdict.CHECKER_ERROR}
        return all(test.passed for test in grade.tests)


def _runs(group: TestGroup) -> list[TestGroup | list[int]]:
    """Return a group's parts, with the tests beside each other together."""
    runs: list[TestGroup | list[int]] = []
    for part in group.parts:
        if isinstance(part, int) and runs and isinstance(runs[-1], list):
            runs[-1].append(part)
        else:
            runs.append([part] if isinstance(part, int) else part)
    return runs


class _Count:
    """Counts points.

    Args:
        results: result of each test that was run, by its position.
        grader: the problem's own grader.
        accepted: whether a group is accepted, by its name, where that is known.
    """

    def __init__(
        self,
        results: Mapping[int, TestResult],
        grader: Grader | None = None,
        accepted: Mapping[str, bool] | None = None,
    ) -> None:
        self._results = results
        self._grader = grader
        self._accepted = dict(accepted or {})

    def of(self, group: TestGroup) -> Points:
        """Return the points of a group. Raises ScoreError, GraderError, SandboxError."""
        if not all(self._accepted.get(name, False) for name in group.needs):
            return Points(0.0, WRONG)
        parts: list[Points] = []
        for part in group.parts:
            if group.grader_flags is not None and not self._was_run(part):
                continue
            score = self._test(part, group) if isinstance(part, int) else self.of(part)
            if isinstance(part, TestGroup):
                self._accepted[part.name.rpartition("/")[2]] = score.accepted
            parts.append(score)
            if group.breaks and not score.accepted:
                break
        whole = self._whole(group, parts)
        if whole.points > group.most + ROUNDING * max(1.0, abs(group.most)):
            what = f"{whole.points:.12g} points in a group of at most {group.most:.12g}"
            raise (ScoreError if group.grader_flags is None else GraderError)(what)
        return whole

    def _whole(self, group: TestGroup, parts: Sequence[Points]) -> Points:
        """Return the points of a group with these parts."""
        if group.grader_flags is not None and self._grader is not None:
            lines = [(part.verdict, part.points) for part in parts]
            verdict, points = self._grader.grade(group.grader_flags, lines)
            return Points(points, verdict)
        if group.last_only:
            parts = parts[-1:]
        return Points(_together(group, parts), _verdict_of_group(group, parts))

    def _was_run(self, part: TestGroup | int) -> bool:
        if isinstance(part, int):
            return part in self._results
        return any(map(self._was_run, part.parts))

    def _test(self, index: int, group: TestGroup) -> Points:
        result = self._results.get(index)
        if result is None:
            return Points(group.reject_score, WRONG)
        if not result.passed:
            return Points(group.reject_score, code_of(result))
        return Points(_own_points(result, group))


def _own_points(result: TestResult, group: TestGroup) -> float:
    """Return the points of an accepted test."""
    usual, points, share = group.accept_score, result.points, result.share
    if group.own_scores == "ignored" or (points is None and share is None):
        if group.own_scores == "required":
            raise ScoreError("it gave an accepted test no points")
        return usual
    if group.own_scores == "never":
        raise ScoreError("it gave points where its problem has none to give")
    if share is not None:
        if group.own_scores == "required":
            raise ScoreError("it gave a share of points that the problem does not have")
        return share * usual
    value = points or 0.0
    if group.own_scores == "optional" and not 0 <= value <= usual * (1 + SLACK):
        raise ScoreError(f"it gave {value:.12g} of {usual:.12g} points")
    return usual if group.own_scores == "optional" and value >= usual * (1 - SLACK) else value


def _together(group: TestGroup, parts: Sequence[Points]) -> float:
    if group.points_of == "pass":
        return group.accept_score if all(part.accepted for part in parts) else 0.0
    points = [part.points for part in parts] or [0.0]
    match group.points_of:
        case "sum":
            return sum(points)
        case "avg":
            return fmean(points)
        case "min":
            return min(points)
        case "max":
            return max(points)


def _verdict_of_group(group: TestGroup, parts: Sequence[Points]) -> str:
    """Return the verdict of a group: accepted, or that of its first rejected part."""
    rejected = [part.verdict for part in parts if not part.accepted]
    if group.verdict_of == "always" or not rejected:
        return ACCEPTED
    if group.verdict_of == "any" and len(rejected) < len(parts):
        return ACCEPTED
    return rejected[0]
