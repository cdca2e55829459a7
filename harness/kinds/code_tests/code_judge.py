"""Judge of a solution by tests that are code.

All tests of a script run in one session with the solution, as their author intended, and each has a
result of its own. A test that hits a limit in a session that began with other tests is run again as
the first of a new session.
"""

from harness.grading.outcome import EXCERPT, clean, outcome
from harness.grading.sandbox_retry import RetryingWorker
from harness.grading.task import Task
from harness.grading.verdict import Difference, JudgedAgain, TestResult, Verdict
from harness.judged_by import TestCode, TestScript
from harness.kinds.code_tests.rounds import RoundReport, Rounds, TestFailure, TestsFailedError
from harness.problem import TestCase
from harness.sandbox.execution import Ending, Execution

BY_CODE, BY_CODE_AND_SOLUTION = "test_code", "test_code_and_solution"
_LIMITS = frozenset({Ending.CPU_LIMIT, Ending.WALL_LIMIT, Ending.MEMORY_LIMIT, Ending.OUTPUT_LIMIT})
MOST_TESTS_CPU_S = 100.0
"""CPU time that the tests of a solution may take in all to read and compare its answers."""
_VERDICTS = {
    "wrong": Verdict.WRONG_ANSWER,
    "error": Verdict.RUNTIME_ERROR,
    "memory": Verdict.MEMORY_LIMIT,
    "fault": Verdict.CHECKER_ERROR,
}
_ACCEPTED = TestFailure(kind="")
_NOT_REACHED = TestFailure(kind="wrong", text="the tests ended before this one")


class CodeJudge:
    """Judges one solution.

    Args:
        bench: worker that runs it.
        task: the solution and its tests.

    Attributes:
        peak_bytes: largest peak memory of any process of the solution.
        tests_spent_s: CPU time of the tests' own processes with answers of the solution.
    """

    def __init__(self, bench: RetryingWorker, task: Task) -> None:
        self.bench = bench
        self.task = task
        assert task.checker is not None
        assert task.checker.tests is not None
        self.code: TestCode = task.checker.tests
        self.peak_bytes = 0
        self.tests_spent_s = 0.0
        self.retimed = [0, 0]

    def again(self) -> JudgedAgain:
        """Return the counts of repeated runs."""
        return JudgedAgain(
            retimed=(self.retimed[0], self.retimed[1]),
            retried=self.bench.retried,
            blamed=self.bench.blamed,
        )

    def results(self) -> list[TestResult]:
        """Return the results up to where judging stops. Raises SandboxError."""
        results: list[TestResult] = []
        tests = list(self.task.tests)
        for script in (self.code.public, self.code.hidden):
            number = script.slots if script is not None else 0
            if script is None or not tests[len(results) :][:number]:
                continue
            part = _Part(self, script, tests[len(results) :][:number], len(results))
            results += part.results()
            if not results or self.ends_at(results[-1]):
                return results
        return results

    def ends_at(self, result: TestResult) -> bool:
        """Return whether judging stops after this result."""
        return result.verdict is Verdict.COMPILE_ERROR or self.task.ends_at(result)


class _Part:
    """Tests of one script.

    Args:
        judge: judge of the solution.
        script: code around the tests.
        tests: one test per slot.
        first: index of the first one among all tests of the problem.
    """

    def __init__(
        self, judge: CodeJudge, script: TestScript, tests: list[TestCase], first: int
    ) -> None:
        self.judge = judge
        self.script = script
        self.tests = tests
        self.first = first
        self.most = 1 if judge.task.isolate else len(tests)

    def results(self) -> list[TestResult]:
        """Return the results in order, up to where judging stops."""
        results: dict[int, TestResult] = {}
        waiting = list(range(len(self.tests)))
        while waiting:
            group = waiting[: self.most]
            results |= self._group(group)
            waiting = [slot for slot in waiting if slot not in results]
            for slot in sorted(results):
                if self.judge.ends_at(results[slot]):
                    return [results[each] for each in range(slot + 1) if each in results]
        return [results[slot] for slot in range(len(self.tests))]

    def _group(self, group: list[int]) -> dict[int, TestResult]:
        """Return the results of some tests of one session: all, the first few, or none."""
        task = self.judge.task
        around = self.judge.code, self.script
        rounds = Rounds(
            *(self.judge.bench, task.program, task.limits, around, self.tests, group),
            tests_left_s=MOST_TESTS_CPU_S - self.judge.tests_spent_s,
        )
        try:
            ended = rounds.run()
        except TestsFailedError as error:
            return self._tests_failed(group, error)
        finally:
            self.judge.tests_spent_s += rounds.tests_spent_s
            self.judge.peak_bytes = max(self.judge.peak_bytes, rounds.peak_bytes)
            self.judge.retimed = [
                sum(pair) for pair in zip(self.judge.retimed, rounds.retimed, strict=True)
            ]
        if not ended:
            return self._unending(group, rounds)
        if len(group) > 1 and _wrote_too_much(rounds):
            self.most = (len(group) + 1) // 2  # the answers of all calls count together
            return {}
        results = self._found(group, rounds)
        return results if rounds.death is None else results | self._dead(group, rounds, results)

    def _found(self, group: list[int], rounds: Rounds) -> dict[int, TestResult]:
        """Return the results of the tests that finished."""
        report = rounds.report
        over = [slot for slot in group if report.complete or self._is_over(slot, rounds)]
        results: dict[int, TestResult] = {}
        for slot in over:
            failure = self._said(slot, report)
            execution = rounds.execution if slot == group[0] else None
            results[slot] = self._result(slot, failure, execution, asked=report.asked > 0)
        return results

    def _said(self, slot: int, report: RoundReport) -> TestFailure:
        """Return how a finished test failed; what comes after the last one counts as its own."""
        if slot not in report.begun:
            return report.aborted or _NOT_REACHED
        failed = report.failed.get(slot, _ACCEPTED)
        if failed.kind or report.aborted is None or slot != len(self.tests) - 1:
            return failed
        return report.aborted

    @staticmethod
    def _is_over(slot: int, rounds: Rounds) -> bool:
        """Return whether a test had finished by the call that ended the solution's process."""
        assert rounds.death is not None
        begun = rounds.report.begun
        later = [place for other, place in begun.items() if _follows(other, slot, begun)]
        return slot in begun and any(place <= rounds.death.place for place in later)

    def _dead(
        self, group: list[int], rounds: Rounds, results: dict[int, TestResult]
    ) -> dict[int, TestResult]:
        """Return the results of tests whose call ended the solution's process."""
        assert rounds.death is not None
        execution = rounds.death.execution
        if execution.ending is Ending.CANNOT_COMPILE:
            return {group[0]: self._ended(group[0], execution)}
        left = [slot for slot in group if slot not in results]
        begun = [slot for slot in left if rounds.report.begun.get(slot, -1) >= 0]
        owner = next((s for s in begun if rounds.report.begun[s] <= rounds.death.place), None)
        if owner is None or not rounds.death.place:  # before any test, or in the module itself
            if execution.ending in _LIMITS:
                return {left[0]: self._ended(left[0], execution)} if not results else {}
            return {slot: self._ended(slot, execution) for slot in left}
        if results and execution.ending in _LIMITS:
            return {}  # as the first of the next session it has the whole limit
        return {owner: self._ended(owner, execution)}

    def _tests_failed(self, group: list[int], error: TestsFailedError) -> dict[int, TestResult]:
        if len(group) > 1 and error.answered:
            self.most = 1
            return {}
        kind = "wrong" if error.answered else "fault"
        text = (
            f"the test came to no end with what the solution returned: {error}"
            if error.answered
            else f"the tests cannot be run: {error}"
        )
        failure = TestFailure(kind=kind, text=text)
        return {slot: self._result(slot, failure, None, asked=False) for slot in group}

    def _unending(self, group: list[int], rounds: Rounds) -> dict[int, TestResult]:
        if len(group) > 1:
            self.most = 1
            return {}
        failure = TestFailure(
            kind="wrong", text="the test makes more calls, one after another, than fit"
        )
        result = self._result(group[0], failure, rounds.execution, asked=False)
        return {group[0]: result.model_copy(update={"verdict": Verdict.TIME_LIMIT})}

    def _ended(self, slot: int, execution: Execution) -> TestResult:
        result = outcome(
            execution,
            test=self.tests[slot],
            index=self.first + slot,
            functional=True,
            answer=None,
        )
        return result.model_copy(update={"judged_by": BY_CODE})

    def _result(
        self, slot: int, failure: TestFailure, execution: Execution | None, *, asked: bool
    ) -> TestResult:
        test = self.tests[slot]
        stdout = stderr = ""
        if failure.kind and execution is not None:
            stdout = clean(execution.stdout[-EXCERPT:].decode("utf-8", "replace"))
            stderr = clean(execution.stderr)
        difference = None
        if failure.kind == "wrong" and (failure.got or failure.expected):
            difference = Difference(
                where="the assertion", expected=clean(failure.expected), got=clean(failure.got)
            )
        return TestResult(
            index=self.first + slot,
            public=test.public,
            verdict=_VERDICTS[failure.kind] if failure.kind else Verdict.ACCEPTED,
            cpu_s=round(execution.cpu_s, 6) if execution else 0.0,
            wall_s=round(execution.wall_s, 6) if execution else 0.0,
            difference=difference,
            got=clean(failure.got),
            error=clean(failure.text),
            stdout=stdout,
            stderr=stderr,
            judged_by=BY_CODE_AND_SOLUTION if asked else BY_CODE,
        )


def _wrote_too_much(rounds: Rounds) -> bool:
    return rounds.death is not None and rounds.death.execution.ending is Ending.OUTPUT_LIMIT


def _follows(other: int, slot: int, begun: dict[int, int]) -> bool:
    order = list(begun)
    return slot in begun and order.index(other) > order.index(slot)
