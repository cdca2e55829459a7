"""Judge of interactive problems, and of those whose solution runs several times on a test.

In a dialogue the interactor's verdict counts, unless it came after the solution broke a limit or
crashed. In a problem of several passes, a checker that accepts may leave the input of the next one;
every pass must be accepted. Each test has its own processes, and each pass its own random numbers.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeVar

from harness.grading.execution_answer import answer_of
from harness.grading.outcome import outcome
from harness.grading.sandbox_retry import RetryingWorker
from harness.grading.task import Task
from harness.grading.verdict import Difference, JudgedAgain, TestResult
from harness.kinds.checkers.check import difference_of
from harness.kinds.checkers.checker_program import (
    NotWholeError,
    Ruling,
    checker_trial,
    folder_of,
    own_score_of,
    ruling_of,
)
from harness.kinds.packages.dialogue import Ended, InteractiveTest
from harness.problem import TestCase
from harness.sandbox.execution import Ending, Execution, SandboxError
from harness.sandbox.trial import Trial

T = TypeVar("T")
NEXT = "nextpass.in"
WALL = 2.0
"""Multiple of the wall limit in a dialogue: a solution waits while the interactor works."""
ATTEMPTS = 3
AT_FAULT = "the problem's checker is at fault"


class Pass(NamedTuple):
    """One run of a solution with its checker.

    Attributes:
        execution: the solution's execution; its output is the dialogue of a public test.
        ruling: what the checker said; None where the solution's own end decides.
    """

    execution: Execution
    ruling: Ruling | None


class PassJudge:
    """Judges one solution.

    Args:
        bench: worker that runs it.
        task: the solution and its tests.

    Attributes:
        peak_bytes: largest peak memory of any process of the solution.
        retimed: numbers of time limits that were tried again, and that changed.
    """

    def __init__(self, bench: RetryingWorker, task: Task) -> None:
        assert task.checker is not None
        assert task.checker.program is not None
        self.bench = bench
        self.task = task
        self.checker = task.checker.program
        self.peak_bytes = 0
        self.retimed = [0, 0]

    def results(self) -> list[TestResult]:
        """Return the results up to where judging stops. Raises SandboxError."""
        results: list[TestResult] = []
        for index, test in enumerate(self.task.tests):
            results.append(self._judge(index, test))
            cannot = results[-1].verdict == "compile_error"
            if cannot or self.task.ends_at(results[-1]):
                break
        return results

    def again(self) -> JudgedAgain:
        """Return the counts of repeated runs."""
        first, second = self.retimed
        return JudgedAgain(retimed=(first, second), retried=self.bench.retried)

    def _judge(self, index: int, test: TestCase) -> TestResult:
        round_ = self._passes(test)
        if round_.execution.borderline and round_.ruling is None:
            self.retimed[0] += 1
            round_ = self._passes(test)
            self.retimed[1] += round_.ruling is not None
        execution, ruling = round_.execution, round_.ruling
        own_score = None
        try:
            own_score = None if ruling is None else own_score_of(ruling, self.checker)
        except NotWholeError as error:
            ruling = Ruling(False, str(error))
        except ValueError as error:
            ruling = Ruling(False, str(error), at_fault=True)
        fault = ruling is not None and ruling.at_fault
        return outcome(
            execution,
            test=test,
            index=index,
            functional=False,
            answer=None if ruling is None else self._answer(execution) or b"",
            difference=_difference(ruling, test, execution),
            own_score=own_score,
            checker_error=f"{AT_FAULT}: {ruling.reason}" if fault and ruling is not None else "",
        )

    def _passes(self, test: TestCase) -> Pass:
        """Run a test's passes, up to the first that is not accepted."""
        left: Mapping[str, bytes] = {}
        cpu_s = wall_s = 0.0
        most = max(self.checker.passes, 1)
        for number in range(1, most + 1):
            round_ = self._run(test, left)
            execution, ruling = round_.execution, round_.ruling
            self.peak_bytes = max(self.peak_bytes, execution.peak_bytes)
            cpu_s, wall_s = max(cpu_s, execution.cpu_s), max(wall_s, execution.wall_s)
            round_ = round_._replace(execution=execution._replace(cpu_s=cpu_s, wall_s=wall_s))
            goes_on = ruling is not None and ruling.right and self.checker.passes > 0
            if ruling is None or not goes_on or NEXT not in ruling.files:
                return round_
            if number == most:
                what = f"it asks for more than {most} pass{'' if most == 1 else 'es'}"
                return round_._replace(ruling=Ruling(False, what, at_fault=True))
            left = {name: data for name, data in ruling.files.items() if name != NEXT}
            text = ruling.files[NEXT].decode("utf-8", "surrogateescape")
            test = test.model_copy(update={"input": text})
        raise ValueError("a problem of no pass")

    def _run(self, test: TestCase, left: Mapping[str, bytes]) -> Pass:
        if self.checker.interactive:
            return self._retried(lambda: self._talk(test, left))
        trial = Trial(self.task.program, [test.input], self.task.limits, seeds=True)
        with self.bench.worker.on(trial) as own:
            execution = self.bench.execute(own, [0], last=True)[0]
        answer = self._answer(execution)
        if answer is None:
            return Pass(execution, None)
        return Pass(execution, self._retried(lambda: self._check(test, answer, left)))

    def _check(self, test: TestCase, answer: bytes, left: Mapping[str, bytes]) -> Ruling:
        beside = self.bench.worker.beside
        folder = folder_of(self.checker, test, answer, left)
        with beside.on(checker_trial(self.checker, folder)) as trial:
            execution = beside.try_out(trial, [0], last=True)[0]
        return ruling_of(execution, self.checker)

    def _talk(self, test: TestCase, left: Mapping[str, bytes]) -> Pass:
        worker = self.bench.worker
        limits = replace(self.task.limits, own_wall_s=WALL * self.task.limits.wall_s)
        own = Trial(self.task.program, [b""], limits, seeds=True)
        folder = folder_of(self.checker, test, b"", left)
        other = checker_trial(self.checker, folder, limits.longest_s)
        with worker.on(own), worker.beside.on(other):
            if (refused := worker.beside.prepare(other)) is not None:
                return Pass(_nothing(refused), ruling_of(refused, self.checker))
            if (refused := worker.prepare(own)) is not None:
                return Pass(refused, None)
            with InteractiveTest(worker, own, other) as dialogue:
                return self._pass_of(dialogue.run(), public=test.public)

    def _pass_of(self, ended: Ended, *, public: bool) -> Pass:
        text = ended.record.text().encode("utf-8", "surrogatepass") if public else b""
        execution = ended.solution._replace(stdout=text)
        ruling = ruling_of(ended.interactor, self.checker)
        if ended.too_much:
            over = execution._replace(ending=Ending.OUTPUT_LIMIT, error="", code=0)
            return Pass(over, None)
        if ended.interactor_first and (ruling.at_fault or not ruling.right):
            return Pass(_nothing(execution), ruling)  # however the solution ended after that
        if self._answer(execution) is None:
            slow = {execution.ending, ended.interactor.ending} == {Ending.WALL_LIMIT}
            return Pass(_nothing(execution), ruling) if slow else Pass(execution, None)
        return Pass(execution, ruling)

    def _answer(self, execution: Execution) -> bytes | None:
        counts = self.task.exit_code_counts
        return answer_of(execution, functional=False, exit_code_counts=counts)

    def _retried(self, run: Callable[[], T]) -> T:
        for _ in range(ATTEMPTS - 1):
            try:
                return run()
            except SandboxError:
                self.bench.retried += 1
        return run()


def _nothing(execution: Execution) -> Execution:
    """Return the execution of a solution whose end does not matter."""
    return execution._replace(ending=Ending.FINISHED, error="", code=0)


def _difference(ruling: Ruling | None, test: TestCase, execution: Execution) -> Difference | None:
    if ruling is None or ruling.right or ruling.at_fault:
        return None
    output = execution.stdout.decode("utf-8", "replace")
    return difference_of(ruling.reason or "the checker says no", test, output)
