"""Rounds of running tests that are code on a solution in another process.

In each round the tests run on the outcomes known so far, and list the calls that they need. Then a
fresh process of the solution carries out all calls from the first on. The tests are done when they
need no other call. Most need two rounds.
"""

import json
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from pydantic import Field, ValidationError

from harness.frozen import Frozen
from harness.grading.sandbox_retry import RetryingWorker
from harness.judged_by import NO_EXCEPTION, TestCode, TestScript
from harness.problem import Codec, Signature, TestCase
from harness.sandbox.execution import Ending, Execution
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.trial import Trial

MOST_ROUNDS = 100
MOST_TIMES = 5
"""Largest CPU time of the solution's processes in all rounds, as a multiple of the limit."""
TESTS_CPU_S = 20.0
_TOO_LONG = "all answers together take too long to compare"
_TESTS = Program("", "", "run_tests", Signature(result=Codec.TESTS))


class TestsFailedError(Exception):
    """The tests' own process failed; the message is the reason.

    Attributes:
        answered: whether it had been given outcomes of the solution.
    """

    __test__ = False

    def __init__(self, why: str, *, answered: bool) -> None:
        super().__init__(why)
        self.answered = answered


class TestFailure(Frozen):
    """Failure of one test, or of the script as a whole.

    Attributes:
        kind: `wrong`: an assertion does not hold; `error` and `memory`: the solution raised
            something; `fault`: the tests themselves are at fault.
    """

    kind: Literal["", "wrong", "error", "memory", "fault"]
    text: str = ""
    got: str = ""
    expected: str = ""


class RoundReport(Frozen):
    """Report of a run of the tests; see `inside.calls.tests.run_tests`."""

    calls: str
    count: int
    used: int
    complete: bool
    begun: dict[int, int] = Field(default_factory=dict[int, int])
    failed: dict[int, TestFailure] = Field(default_factory=dict[int, TestFailure])
    aborted: TestFailure | None = None
    asked: int = 0


class Death(NamedTuple):
    """Call that ended the solution's process.

    Attributes:
        place: its number among the calls.
        call: its line.
        execution: execution of the process.
    """

    place: int
    call: str
    execution: Execution


@dataclass(slots=True)
class Rounds:
    """Rounds of some tests of one script.

    Attributes:
        around: code of the problem's tests, and the script with the slots of these.
        slots: slots of the tests to run.
        tests_left_s: CPU time that the tests may take with answers of the solution.
        report: report of the last run of the tests.
        execution: the solution's last process; None where no call was made.
        death: call that ended the solution's process, where the tests cannot go on.
        retimed: number of processes run again, and of those that then finished.
        tests_spent_s: CPU time that the tests took with answers of the solution.
    """

    bench: RetryingWorker
    program: Program
    limits: Limits
    around: tuple[TestCode, TestScript]
    tests: list[TestCase]
    slots: list[int]
    tests_left_s: float
    report: RoundReport = field(
        default_factory=lambda: RoundReport(calls="", count=0, used=0, complete=True)
    )
    execution: Execution | None = None
    death: Death | None = None
    retimed: list[int] = field(default_factory=lambda: [0, 0])
    peak_bytes: int = 0
    spent_s: float = 0.0
    tests_spent_s: float = 0.0

    def run(self) -> bool:
        """Run the tests until they are complete or cannot go on.

        Returns:
            False where they need too many rounds, or too much time; else True.

        Raises:
            TestsFailedError: the tests' process failed.
            SandboxError: the sandbox failed.
        """
        known, outcomes = "", ""
        for _ in range(MOST_ROUNDS):
            self.report = self._run_tests(known, outcomes)
            if self.report.complete:
                self.death = None
                self._see_that_it_runs()
                return True
            calls = self.report.calls.split("\n")
            if self.death is not None and self._is_real(calls):
                return True
            if self.spent_s > MOST_TIMES * self.limits.cpu_s:
                return False
            if self.tests_spent_s >= self.tests_left_s:
                raise TestsFailedError(_TOO_LONG, answered=True)
            self.death = None
            known = self.report.calls
            self.execution = self._run_calls(known)
            outcomes = _lines(self.execution)
            done = outcomes.count("\n")
            if done < len(calls):
                self.death = Death(done, calls[done], self.execution)
        return False

    def _see_that_it_runs(self) -> None:
        """Run the solution's module once, in case the tests call nothing of it."""
        if self.execution is None:
            self.execution = self._run_calls("")
            if self.execution.ending is not Ending.FINISHED:
                self.death = Death(0, "", self.execution)
                self.report = self.report.model_copy(update={"complete": False, "begun": {}})

    def _is_real(self, calls: list[str]) -> bool:
        """Return whether the tests really make the fatal call: some calls are guesses."""
        death = self.death
        return (
            death is not None
            and self.report.used == death.place < len(calls)
            and calls[death.place] == death.call
        )

    def _run_calls(self, calls: str) -> Execution:
        program = Program(
            self.program.code,
            self.program.preamble,
            self.program.entry_point or "",
            Signature(result=Codec.SESSION),
        )
        with self.bench.worker.on(Trial(program, [calls], self.limits)) as trial:
            (execution,) = self.bench.execute(trial, [0], last=True)
            if execution.borderline:
                self.retimed[0] += 1
                alone = not execution.asleep
                (execution,) = self.bench.execute(trial, [0], alone=alone, last=True)
                late = execution.ending in {Ending.CPU_LIMIT, Ending.WALL_LIMIT}
                self.retimed[1] += not late
        self.spent_s += execution.cpu_s
        self.peak_bytes = max(self.peak_bytes, execution.peak_bytes)
        return execution

    def _run_tests(self, known: str, outcomes: str) -> RoundReport:
        code, script = self.around
        whole = {
            "source": script.source,
            "units": [source_of(test) for test in self.tests],
            "wanted": self.slots,
            "before": code.before,
            "classes": code.classes,
            "shared": code.shared,
            "asked": code.asked,
            "call": script.call,
            "entry_point": self.program.entry_point or "",
        }
        lines = "\n".join(map(json.dumps, (whole, known, outcomes)))
        answered = bool(known)
        cpu_s = max(TESTS_CPU_S, 2 * self.limits.cpu_s)
        if answered:
            cpu_s = min(cpu_s, max(1.0, self.tests_left_s - self.tests_spent_s))
        with self.bench.worker.on(Trial(_TESTS, [lines], Limits(cpu_s=cpu_s))) as trial:
            (execution,) = self.bench.execute(trial, [0], last=True)
        self.tests_spent_s += execution.cpu_s if answered else 0.0
        if execution.ending is not Ending.FINISHED or execution.result is None:
            raise TestsFailedError(_why(execution), answered=answered)
        try:
            return RoundReport.model_validate_json(execution.result)
        except ValidationError:
            why = "their process wrote on the judge's own channel"
            raise TestsFailedError(why, answered=answered) from None


def source_of(test: TestCase) -> str:
    """Return the statement of a test."""
    if test.output == NO_EXCEPTION:
        return test.input
    return f"assert ({test.input}) == ({test.output})"


def _lines(execution: Execution) -> str:
    """Return the outcomes that were written completely."""
    written = execution.result if execution.result is not None else execution.partial
    whole = written[: written.rfind(b"\n") + 1]
    return whole.decode("utf-8", "replace")


def _why(execution: Execution) -> str:
    lines = execution.error.strip().splitlines()
    return lines[-1][:300] if lines else execution.ending.replace("_", " ")
