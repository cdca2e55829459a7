"""Run a solution's tests in the sandbox and compare the answers outside it.

All tests run in one process, unless the code shows that a test can leave state for a later one
(`harness.sandbox.inside.python.lasting_state`): then each has its own. The first test of a process
is one picked by the hash of code, inputs and expected outputs, so that no state of an earlier test
can help it. If it alone fails, all tests are run again, each in its own process, and that result
stands. A failure in a process that ran other tests too is confirmed once, alone, and that verdict
stands. So state that leaks between the tests of a batch costs no right solution a verdict. It wins
none of 702 made-up wrong ones (`tests/benchmarks/lasting.py`); it may win one that hides from the
look at its code what it keeps, where another test than the one picked fails alone.

Only the first test of a process has its whole time limit. A later one that needs more than a small
part of it is cut short and is the first of the next process. A time limit that was narrowly missed,
or that the machine may have caused, is tried once more, and that result stands.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Protocol

from harness import registry
from harness.grading.answer_comparison import (
    AnswerCheck,
    AnswerComparison,
    AnswerOutcome,
    CheckerError,
    OwnScore,
)
from harness.grading.execution_answer import answer_of
from harness.grading.outcome import outcome
from harness.grading.sandbox_retry import RetryingWorker, picked
from harness.grading.stop import MOST_LATE, Stop
from harness.grading.task import Task
from harness.grading.verdict import Difference, Grade, JudgedAgain, TestResult, Verdict
from harness.judged_by import Checker
from harness.sandbox.execution import Ending, Execution
from harness.sandbox.inside.python.lasting_names import may_need_a_look
from harness.sandbox.trial import Trial
from harness.sandbox.worker import Worker

NOT_RUN = f"{MOST_LATE} tests hit the time limit; the other {{}} were not run and count as failed"
AHEAD = 15  # most failed tests that run again at the request of one before
PROCESS_S = 0.004
"""Approximate CPU cost of a process: tests often cut short get their own."""


class OwnJudge(Protocol):
    """A judge of one solution (`harness.registry.JUDGES`), made of a bench and a task."""

    peak_bytes: int
    """Largest peak memory of any process of the solution."""

    def results(self) -> Sequence[TestResult]:
        """Return the results up to where judging stops. Raises SandboxError."""
        ...

    def again(self) -> JudgedAgain:
        """Return the counts of repeated runs."""
        ...


def judge(worker: Worker, task: Task) -> Grade:
    """Judge one solution.

    A checker that also fails on a right answer makes a `checker_error`. That is the solution's
    verdict unless the solution itself failed a test.

    Raises:
        SandboxError: the sandbox failed, and a known-good program shows that the solution did not
            cause it.
    """
    public = sum(test.public for test in task.tests)
    nothing = Grade(
        verdict=Verdict.UNGRADED, public_total=public, hidden_total=len(task.tests) - public
    )
    if not task.tests:
        return nothing
    if not task.program.code.strip():
        return nothing.model_copy(update={"verdict": Verdict.NO_SOLUTION})
    if task.scoring is not None:
        if task.scoring.tests == len(task.tests):
            grade: Grade = registry.resolve(registry.POINTS)(nothing, worker, task, judge)
            return grade
        task = task.without_points()
    if task.checker is not None and task.checker.judged_by in registry.JUDGES:
        target = registry.JUDGES[task.checker.judged_by]
        own: OwnJudge = registry.resolve(target)(RetryingWorker(worker), task)
        return _graded(nothing, worker, own, own.results())
    try:
        judging = _Judging.of(RetryingWorker(worker), task)
    except CheckerError as error:
        fault, error_text, seen = Verdict.CHECKER_ERROR, str(error), task.tests[0].public
        first = TestResult(index=0, public=seen, verdict=fault, cpu_s=0, wall_s=0, error=error_text)
        return nothing.model_copy(update={"verdict": fault, "tests": (first,)})
    with worker.on(judging.trial), closing(judging.comparison):
        results = judging.alone() if task.isolate else judging.batched()
    by_rule = judging.comparison.solved_by_rule(len(task.tests))
    return _graded(nothing, worker, judging, results, by_rule)


def _check_types(task: Task) -> None:
    """Check that a compiled function can take each test. Raises CheckerError."""
    function = task.program.function
    if function is None:
        return
    for number, test in enumerate(task.tests, 1):
        fault = function.fault(test.input, test.output, compared=task.checker is None)
        if fault:
            raise CheckerError(f"test {number} fits no {task.program.language} solution: {fault}")


def _check(bench: RetryingWorker, checker: Checker, *, functional: bool) -> AnswerCheck:
    check: type[AnswerCheck] = registry.resolve(registry.ANSWER_CHECKS[checker.judged_by])
    return check.of(bench, checker, functional=functional)


def _graded(
    nothing: Grade,
    worker: Worker,
    judging: "_Judging | OwnJudge",
    results: Sequence[TestResult],
    by_rule: bool | None = None,
) -> Grade:
    fields: dict[str, Any] = {"verdict": _verdict(results), "tests": tuple(results)}
    fields |= {"peak_bytes": judging.peak_bytes, "judged_again": judging.again()}
    fields |= {"isolation": worker.isolation.level, "solved_by_rule": by_rule}
    return nothing.model_copy(update=fields)


def _verdict(results: Sequence[TestResult]) -> Verdict:
    failed = [result.verdict for result in results if not result.passed]
    own = (verdict for verdict in failed if verdict is not Verdict.CHECKER_ERROR)
    return next(own, failed[0] if failed else Verdict.ACCEPTED)


@dataclass(slots=True)
class _Judging:
    """State of judging one solution.

    Attributes:
        trial: program and inputs, with the checker's changes.
        confirmed, rechecked, retimed: counts as in `JudgedAgain`.
        retimed_s: wall seconds of second tries that failed too, which are bounded.
        cut_s: CPU seconds of executions that were cut short.
        peak_bytes: largest peak memory of any process so far.
        lost: tests that crashed the sandbox; further tests would probably do so too.
        fresh: tests that ran first in a process.
        late: time limits so far, without that at which judging ends.
        apart: whether a process ended well after one test, as all others will probably do.
    """

    bench: RetryingWorker
    task: Task
    comparison: AnswerComparison
    trial: Trial
    confirmed: list[int] = field(default_factory=lambda: [0, 0])
    rechecked: list[int] = field(default_factory=lambda: [0, 0])
    retimed: list[int] = field(default_factory=lambda: [0, 0])
    retimed_s: float = 0.0
    cut_s: float = 0.0
    peak_bytes: int = 0
    lost: set[int] = field(default_factory=set[int])
    fresh: set[int] = field(default_factory=set[int])
    apart: bool = False
    late: int = 0

    @classmethod
    def of(cls, bench: RetryingWorker, task: Task) -> "_Judging":
        functional = task.program.entry_point is not None
        program, check = task.program, None
        inputs: Sequence[str | bytes] = [test.input for test in task.tests]
        _check_types(task)
        if task.checker is not None:
            check = _check(bench, task.checker, functional=functional)
            program, inputs = check.prepare(program, task.tests)
        comparison = AnswerComparison(task.rule, functional=functional, check=check)
        together = len(inputs) > 1 and not task.isolate and not program.is_compiled
        apart = together and may_need_a_look(program.code)
        return cls(bench, task, comparison, Trial(program, inputs, task.limits, apart=apart))

    def again(self) -> JudgedAgain:
        """Return the counts of repeated runs."""
        return JudgedAgain(
            confirmed=(self.confirmed[0], self.confirmed[1]),
            rechecked=(self.rechecked[0], self.rechecked[1]),
            retimed=(self.retimed[0], self.retimed[1]),
            retried=self.bench.retried,
            blamed=self.bench.blamed,
        )

    def alone(self) -> list[TestResult]:
        """Run every test in a process of its own."""
        self.peak_bytes = self.late = 0  # forget an earlier batch
        results: list[TestResult] = []
        for index in range(len(self.task.tests)):
            results.append(self._run_alone(index, last=index == len(self.task.tests) - 1))
            if self._ends_with(results):
                break
        return results

    def batched(self) -> list[TestResult]:  # noqa: PLR0911 - each way out is a rule of its own
        """Run all tests in as few processes as they can share, the picked one first."""
        number = len(self.task.tests)
        if self.task.program.is_compiled:  # every test is a process of its own
            self.apart = True
            return self._in_order({})
        if number == 1:
            return [self._run_alone(0, last=True)]
        pick = picked(self.task.program.code, self.task.tests)
        rest = [index for index in range(number) if index != pick]
        known = self._run([pick, *rest], full=0, last=None)
        first = known.get(pick)
        if first is not None and first.verdict is Verdict.COMPILE_ERROR:
            return [first.model_copy(update={"index": 0, "public": self.task.tests[0].public})]
        results = self._in_order(dict(known))
        failed = [result.index for result in results if not result.passed]
        if failed == [pick] and len(known) == number:  # the others may rely on its state
            again = self.alone()
            if any(not result.passed for result in again if result.index != pick):
                self.rechecked = [1, 1]
            return again
        if failed:
            return results
        if self.peak_bytes > self.task.limits.memory_bytes:  # the tests together, or one of them
            return self.alone()
        self.rechecked[0] += 1
        if pick not in self.fresh and not self._run_alone(pick, last=True).passed:
            self.rechecked[1] += 1
            return self.alone()
        return results

    def _in_order(self, known: dict[int, TestResult]) -> list[TestResult]:
        """Return the results up to where judging stops, with failures confirmed.

        Args:
            known: results that are known already, by test index.
        """
        results: list[TestResult] = []
        number = len(self.task.tests)
        for index in range(number):
            while index not in known:
                left = [n for n in range(index, number) if n not in known]
                if self.cut_s > PROCESS_S * len(left) or self.lost:
                    left = left[:1]
                first, ahead = (left[:1], left[1 : AHEAD + 1]) if self.apart else (left, None)
                known |= self._run(first, full=1, ahead=ahead)
            result = known[index]
            if not result.passed and self._has_company(result):
                result = self._confirm(index, known)
                self.confirmed[0] += 1
                self.confirmed[1] += result.passed
            results.append(result)
            if self._ends_with(results):
                break
        return results

    def _confirm(self, index: int, known: dict[int, TestResult]) -> TestResult:
        """Run a failed test alone; those to be confirmed next run at the same request."""
        failed = [n for n, each in sorted(known.items()) if n >= index and not each.passed]
        needed = takewhile(lambda n: not self._ends_at(known[n]), failed)
        ahead = [n for n in needed if n > index and self._has_company(known[n])][:AHEAD]
        last = len(known) == len(self.task.tests) and [index, *ahead] == failed
        return self._run([index], full=1, last=last, ahead=ahead)[index]

    def _has_company(self, result: TestResult) -> bool:
        """Return whether its process ran other tests too, which may be to blame."""
        return result.peak_bytes is None and result.verdict is not Verdict.COMPILE_ERROR

    def _ends_at(self, result: TestResult) -> bool:
        over = result.index in self.lost or result.verdict is Verdict.COMPILE_ERROR
        return over or self.task.ends_at(result)

    def _ends_with(self, results: list[TestResult]) -> bool:
        """Return whether judging ends after the last result; count time limits."""
        last, left = results[-1], len(self.task.tests) - len(results)
        if self.task.stop is Stop.LATE and last.verdict is Verdict.TIME_LIMIT:
            self.late += 1
            if self.late == MOST_LATE and left:
                results[-1] = last.model_copy(update={"error": NOT_RUN.format(left)})
                return True
        return self._ends_at(last)

    def _run_alone(self, index: int, *, last: bool = False) -> TestResult:
        """Run one test in a process of its own."""
        return self._run([index], full=1, last=last)[index]

    def _run(
        self,
        indexes: list[int],
        *,
        full: int,
        last: bool | None = False,
        ahead: Sequence[int] | None = None,
    ) -> dict[int, TestResult]:
        """Run tests in one process; return results of the first few (`RetryingWorker`)."""
        executions = self._execute(indexes, last=last, full=full, ahead=ahead)
        if executions[-1].ending is Ending.CUT_SHORT:
            self.cut_s += executions.pop().cpu_s
        if not executions:
            return {}
        well = executions[0].ending is Ending.FINISHED
        self.apart |= well and len(executions) == 1 < len(indexes)
        self.fresh.add(indexes[0])
        if executions[0].borderline or executions[0].killed:
            executions = [self._try_again(indexes[0], executions[0], last=last)]
        return dict(zip(indexes, self._results(indexes, executions), strict=False))

    def _try_again(self, index: int, execution: Execution, *, last: bool | None) -> Execution:
        """Run a test alone again that the machine may have killed or slowed down."""
        if execution.killed:
            (again,) = self._execute([index], last=last)
            self.confirmed[0] += 1
            self.confirmed[1] += again.ending is Ending.FINISHED
            return again
        if self.retimed_s >= self.task.limits.wall_s:
            return execution
        self.retimed[0] += 1
        (again,) = self._execute([index], alone=not execution.asleep, last=last)
        late = again.ending in {Ending.CPU_LIMIT, Ending.WALL_LIMIT}
        self.retimed_s += again.wall_s if late else 0.0
        self.retimed[1] += not late
        return again

    def _execute(
        self,
        indexes: list[int],
        *,
        alone: bool = False,
        last: bool | None = False,
        full: int | None = None,
        ahead: Sequence[int] | None = None,
    ) -> list[Execution]:
        if ahead is None:
            executions = self.bench.execute(self.trial, indexes, alone=alone, last=last, full=full)
        else:
            executions = self.bench.execute_ahead(self.trial, [*indexes, *ahead], last=last)
        if executions[0].ending is Ending.SANDBOX_LOST:
            self.lost.add(indexes[0])
        self.peak_bytes = max(self.peak_bytes, executions[0].peak_bytes)
        return executions

    def _results(self, indexes: Sequence[int], executions: Sequence[Execution]) -> list[TestResult]:
        """Decode and compare the answers of executions, and return the results."""
        functional = self.trial.program.entry_point is not None
        answers = [
            answer_of(each, functional=functional, exit_code_counts=self.task.exit_code_counts)
            for each in executions
        ]
        answered = [n for n, answer in enumerate(answers) if answer is not None]
        compared = self.comparison.compare(
            [(self.task.tests[indexes[n]], answers[n] or b"") for n in answered]
        )
        differences: dict[int, AnswerOutcome] = dict(zip(answered, compared, strict=True))
        in_order = [differences.get(n) for n in range(len(executions))]
        for index, answer in zip(indexes, answers, strict=False):
            self.comparison.note(index, self.task.tests[index], answer)
        return [
            outcome(
                execution,
                test=self.task.tests[indexes[n]],
                index=indexes[n],
                functional=functional,
                answer=answers[n],
                readable=self.comparison.readable,
                difference=differs if isinstance(differs, Difference) else None,
                own_score=differs if isinstance(differs, OwnScore) else None,
                checker_error=str(differs) if isinstance(differs, CheckerError) else "",
            )
            for n, (execution, differs) in enumerate(zip(executions, in_order, strict=True))
        ]
