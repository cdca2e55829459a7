"""The judge: runs a solution's tests in the sandbox and compares, here, what it made of them.

All tests run in one process; a failure there is confirmed once, alone, and that verdict stands.
One test of a solution that passed, picked by the hash of problem and code, is run again alone; if
it fails there, the whole solution is judged test by test, and that stands. So state that leaks
between the tests of a batch costs no right solution a verdict and wins no wrong one. A limit of
time that was hit narrowly, or asleep, is tried once more while nothing else runs, and that stands.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from harness.grading.blame import Bench
from harness.grading.checkers import Check, CheckerError
from harness.grading.outcome import answer_of, outcome
from harness.grading.rules import Rule, RuleError, find_rule
from harness.grading.verdict import LIMITS, Difference, Grade, JudgedAgain, TestResult, Verdict
from harness.problem import Checker, TestCase
from harness.sandbox.execution import Ending, Execution, Program
from harness.sandbox.limits import Limits
from harness.sandbox.trial import Trial
from harness.sandbox.worker import Worker

MANY_TESTS = 100


class Stop(StrEnum):
    """Where the judge leaves off.

    `auto`: at the first failure where there are more than `MANY_TESTS` tests, else at the first
    that hit a limit of time, memory or output.
    """

    AUTO = "auto"
    FAILURE = "failure"
    NEVER = "never"


STOPS = {None: Stop.AUTO, True: Stop.NEVER, False: Stop.FAILURE}
"""By whether all tests are wanted; None where nobody has said."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be judged.

    Attributes:
        tests: public ones first.
        rule: a name that `harness.grading.rules.find_rule` knows.
        checker: judges in the rule's place.
        isolate: a process for every test, instead of one for all.
        stop: where to leave off.
    """

    program: Program
    tests: Sequence[TestCase]
    limits: Limits
    rule: str = "lcb"
    checker: Checker | None = None
    isolate: bool = False
    stop: Stop = Stop.AUTO

    def ends_at(self, result: TestResult) -> bool:
        """Whether the tests after one that ended so are left out."""
        match self.stop:
            case _ if result.passed:
                return False
            case Stop.NEVER:
                return False
            case Stop.AUTO if len(self.tests) <= MANY_TESTS:
                return result.verdict in LIMITS
            case _:
                return True


def judge(worker: Worker, task: Task) -> Grade:
    """Judge one solution.

    A checker that fails on a right answer too makes a `checker_error`, which is the solution's
    verdict unless one of its tests failed by its own doing.

    Raises:
        SandboxError: the sandbox failed, and a known-good program shows that it was not the
            solution's doing.
    """
    public = sum(test.public for test in task.tests)
    nothing = Grade(
        verdict=Verdict.UNGRADED, public_total=public, hidden_total=len(task.tests) - public
    )
    if not task.tests:
        return nothing
    if not task.program.code.strip():
        return nothing.model_copy(update={"verdict": Verdict.NO_SOLUTION})
    try:
        judging = _Judging.of(Bench(worker), task)
    except CheckerError as error:
        first = _cannot_check(task.tests[0], str(error))
        return nothing.model_copy(update={"verdict": Verdict.CHECKER_ERROR, "tests": (first,)})
    with judging.trial:
        results = judging.alone() if task.isolate else judging.batched()
        worker.leave(judging.trial)
    return nothing.model_copy(
        update={
            "verdict": _verdict(results),
            "tests": tuple(results),
            "peak_bytes": judging.peak_bytes,
            "judged_again": judging.again(),
            "isolation": worker.isolation.level,
            "solved_by_rule": judging.solved_by_rule(),
        }
    )


def _verdict(results: Sequence[TestResult]) -> Verdict:
    failed = [result.verdict for result in results if not result.passed]
    own = (verdict for verdict in failed if verdict is not Verdict.CHECKER_ERROR)
    return next(own, failed[0] if failed else Verdict.ACCEPTED)


def _cannot_check(test: TestCase, error: str) -> TestResult:
    return TestResult(
        index=0,
        public=test.public,
        verdict=Verdict.CHECKER_ERROR,
        cpu_s=0,
        wall_s=0,
        error=error,
    )


@dataclass(slots=True)
class _Judging:
    """One solution under judgement.

    Attributes:
        trial: program and inputs as the checker, where there is one, wants them run.
        confirmed, rechecked, retimed: as `JudgedAgain` has them.
        quiet_s: how long others have been kept waiting for it; there is an end to that.
        peak_bytes: the largest of any process so far.
        lost: whether a test took the sandbox down: the rest would each do so again.
        by_rule: beside a checker, whether each test's answer is right by the source's own rule.
    """

    bench: Bench
    task: Task
    check: Check | None
    trial: Trial
    confirmed: list[int] = field(default_factory=lambda: [0, 0])
    rechecked: list[int] = field(default_factory=lambda: [0, 0])
    retimed: list[int] = field(default_factory=lambda: [0, 0])
    quiet_s: float = 0.0
    peak_bytes: int = 0
    lost: bool = False
    by_rule: dict[int, bool] = field(default_factory=dict[int, bool])

    @classmethod
    def of(cls, bench: Bench, task: Task) -> "_Judging":
        if task.checker is None:
            inputs = [test.input.encode("utf-8", "surrogatepass") for test in task.tests]
            return cls(bench, task, None, Trial(task.program, inputs, task.limits))
        check = Check.of(bench, task.checker, functional=task.program.entry_point is not None)
        program, inputs = check.prepare(task.program, task.tests)
        return cls(bench, task, check, Trial(program, inputs, task.limits))

    def solved_by_rule(self) -> bool | None:
        """Whether all answers are right by the source's own rule, where that is recorded."""
        if not self.by_rule:
            return None
        right = all(self.by_rule.values())
        return None if right and len(self.by_rule) < len(self.task.tests) else right

    def again(self) -> JudgedAgain:
        """What was run more than once."""
        return JudgedAgain(
            confirmed=(self.confirmed[0], self.confirmed[1]),
            rechecked=(self.rechecked[0], self.rechecked[1]),
            retimed=(self.retimed[0], self.retimed[1]),
            retried=self.bench.retried,
            blamed=self.bench.blamed,
        )

    def alone(self) -> list[TestResult]:
        """Every test in a process of its own."""
        self.peak_bytes = 0  # of a batch, if there was one, is not what counts now
        results: list[TestResult] = []
        for index in range(len(self.task.tests)):
            results.append(self._run_alone(index, last=index == len(self.task.tests) - 1))
            if self._ends_at(results[-1]):
                break
        return results

    def batched(self) -> list[TestResult]:
        """All tests in one process, as far as it goes."""
        results: list[TestResult] = []
        while len(results) < len(self.task.tests):
            for result in self._run(range(len(results), len(self.task.tests))):
                confirmed = result
                if not result.passed and self._has_company(result):
                    confirmed = self._run_alone(result.index)
                    self.confirmed[0] += 1
                    self.confirmed[1] += confirmed.passed
                results.append(confirmed)
                if self._ends_at(confirmed):
                    return results
        if len(results) > 1 and all(result.passed for result in results):
            if self.peak_bytes > self.task.limits.memory_bytes:  # the tests together, or one
                return self.alone()
            self.rechecked[0] += 1
            if not self._run_alone(_pick(self.task), last=True).passed:
                self.rechecked[1] += 1
                return self.alone()
        return results

    def _has_company(self, result: TestResult) -> bool:
        """Whether its process was not for it alone, and so may be to blame."""
        return result.peak_bytes is None and result.verdict is not Verdict.COMPILE_ERROR

    def _ends_at(self, result: TestResult) -> bool:
        over = self.lost or result.verdict is Verdict.COMPILE_ERROR
        return over or self.task.ends_at(result)

    def _run_alone(self, index: int, *, last: bool = False) -> TestResult:
        """One test in a process of its own; a narrow time-out while nothing else runs."""
        span = range(index, index + 1)
        (execution,) = self._execute(span, last=last)
        if not execution.borderline or self.quiet_s >= self.task.limits.wall_s:
            return self._results(span, [execution])[0]
        self.retimed[0] += 1
        executions = self._execute(span, alone=True, last=last)
        self.quiet_s += executions[0].wall_s
        result = self._results(span, executions)[0]
        self.retimed[1] += result.verdict is not Verdict.TIME_LIMIT
        return result

    def _run(self, indexes: range) -> list[TestResult]:
        """The leading ones of these tests, in one process: at least the first."""
        if len(indexes) == 1:
            return [self._run_alone(indexes[0], last=len(self.task.tests) == 1)]
        return self._results(indexes, self._execute(indexes))

    def _execute(
        self, indexes: range, *, alone: bool = False, last: bool = False
    ) -> list[Execution]:
        executions = self.bench.execute(self.trial, indexes, alone=alone, last=last)
        self.lost = any(each.ending is Ending.SANDBOX_LOST for each in executions)
        self.peak_bytes = max(self.peak_bytes, executions[0].peak_bytes)
        return executions

    def _results(self, indexes: range, executions: Sequence[Execution]) -> list[TestResult]:
        functional = self.trial.program.entry_point is not None
        answers = [answer_of(execution, functional=functional) for execution in executions]
        answered = [n for n, answer in enumerate(answers) if answer is not None]
        found = self._compare([(self.task.tests[indexes[n]], answers[n] or "") for n in answered])
        said = dict(zip(answered, found, strict=True))
        if self.task.checker is not None and self.task.checker.beside_rule:
            for n, index in enumerate(indexes[: len(answers)]):
                self.by_rule[index] = self._is_right_by_rule(index, answers[n])
        return [
            self._result(execution, indexes[n], answers[n], said.get(n))
            for n, execution in enumerate(executions)
        ]

    def _compare(self, pairs: list[tuple[TestCase, str]]) -> list[Difference | CheckerError | None]:
        if self.check is not None:
            return self.check.compare(pairs)
        return [_said(self._rule(), test, answer) for test, answer in pairs]

    def _rule(self) -> Rule:
        rule = find_rule(self.task.rule)
        return rule.output if self.trial.program.entry_point is None else rule.value

    def _is_right_by_rule(self, index: int, answer: str | None) -> bool:
        return answer is not None and _said(self._rule(), self.task.tests[index], answer) is None

    def _result(
        self,
        execution: Execution,
        index: int,
        answer: str | None,
        said: Difference | CheckerError | None,
    ) -> TestResult:
        return outcome(
            execution,
            test=self.task.tests[index],
            index=index,
            functional=self.trial.program.entry_point is not None,
            answer=self.check.shown(answer) if self.check and answer is not None else answer,
            difference=None if isinstance(said, CheckerError) else said,
            checker_error=str(said) if isinstance(said, CheckerError) else "",
        )


def _said(compare: Rule, test: TestCase, answer: str) -> Difference | CheckerError | None:
    try:
        return compare(test.output, answer)
    except RuleError as error:
        return CheckerError(str(error))


def _pick(task: Task) -> int:
    """The test to run again: hard to foresee for the solution, the same every time for us."""
    digest = hashlib.sha256(task.program.code.encode("utf-8", "surrogatepass"))
    for test in task.tests:
        digest.update(test.input[:1000].encode("utf-8", "surrogatepass"))
    return int.from_bytes(digest.digest()[:8], "big") % len(task.tests)
