"""The judge: runs a solution's tests in the sandbox and compares, here, what it made of them.

All tests run in one process; a failure there is confirmed once, alone, and that verdict stands.
One test of a solution that passed, picked by the hash of problem and code, is run again alone; if
it fails there, the whole solution is judged test by test, and that stands. So state that leaks
between the tests of a batch costs no right solution a verdict and wins no wrong one.
"""

import contextlib
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.grading.excerpts import shorten, writable
from harness.grading.rules import RULES, ComparisonRule, describe_value
from harness.grading.verdict import LIMITS, Grade, TestResult, Verdict
from harness.problem import TestCase
from harness.sandbox.execution import Ending, Execution, Program, SandboxError
from harness.sandbox.limits import Limits
from harness.sandbox.worker import Worker

EXCERPT = 1_500
ATTEMPTS = 2

_VERDICT_OF = {
    Ending.ERROR: Verdict.RUNTIME_ERROR,
    Ending.EXIT: Verdict.RUNTIME_ERROR,
    Ending.SIGNAL: Verdict.RUNTIME_ERROR,
    Ending.MEMORY_LIMIT: Verdict.MEMORY_LIMIT,
    Ending.CPU_LIMIT: Verdict.TIME_LIMIT,
    Ending.WALL_LIMIT: Verdict.TIME_LIMIT,
    Ending.OUTPUT_LIMIT: Verdict.OUTPUT_LIMIT,
    Ending.CANNOT_COMPILE: Verdict.COMPILE_ERROR,
}


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be judged.

    Attributes:
        tests: public ones first.
        rule: a name of `harness.grading.rules.RULES`.
        isolate: a process for every test, instead of one for all.
    """

    program: Program
    tests: Sequence[TestCase]
    limits: Limits
    rule: str = "lcb"
    isolate: bool = False


@dataclass(slots=True)
class _Tally:
    confirmed: list[int] = field(default_factory=lambda: [0, 0])
    rechecked: list[int] = field(default_factory=lambda: [0, 0])


def judge(worker: Worker, task: Task) -> Grade:
    """Judge one solution.

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
    tally = _Tally()
    results = _alone(worker, task) if task.isolate else _batched(worker, task, tally)
    failed = next((result.verdict for result in results if not result.passed), None)
    return nothing.model_copy(
        update={
            "verdict": failed or Verdict.ACCEPTED,
            "tests": tuple(results),
            "confirmed": (tally.confirmed[0], tally.confirmed[1]),
            "rechecked": (tally.rechecked[0], tally.rechecked[1]),
        }
    )


def _alone(worker: Worker, task: Task) -> list[TestResult]:
    results: list[TestResult] = []
    for index in range(len(task.tests)):
        results.append(_run_alone(worker, task, index))
        if results[-1].verdict in LIMITS | {Verdict.COMPILE_ERROR}:
            break
    return results


def _run_alone(worker: Worker, task: Task, index: int) -> TestResult:
    test = task.tests[index]
    execution = _execute(worker, task, [test])[0]
    return _result(execution, test, index, RULES[task.rule], functional=_is_functional(task))


def _batched(worker: Worker, task: Task, tally: _Tally) -> list[TestResult]:
    results: list[TestResult] = []
    rule, functional = RULES[task.rule], _is_functional(task)
    while len(results) < len(task.tests):
        rest = task.tests[len(results) :]
        for execution in _execute(worker, task, rest):
            index = len(results)
            result = _result(execution, task.tests[index], index, rule, functional=functional)
            if result.verdict is Verdict.COMPILE_ERROR:
                return [*results, result]
            if not result.passed and execution.peak_bytes is None:  # it was not alone
                result = _run_alone(worker, task, index)
                tally.confirmed[0] += 1
                tally.confirmed[1] += result.passed
            results.append(result)
            if result.verdict in LIMITS:
                return results
    if len(results) > 1 and all(result.passed for result in results):
        again = _run_alone(worker, task, _pick(task))
        tally.rechecked[0] += 1
        if not again.passed:
            tally.rechecked[1] += 1
            return _alone(worker, task)
    return results


def _pick(task: Task) -> int:
    """The test to run again: hard to foresee for the solution, the same every time for us."""
    digest = hashlib.sha256(task.program.code.encode("utf-8", "surrogatepass"))
    for test in task.tests:
        digest.update(test.input[:1000].encode("utf-8", "surrogatepass"))
    return int.from_bytes(digest.digest()[:8], "big") % len(task.tests)


def _is_functional(task: Task) -> bool:
    return task.program.entry_point is not None


def _execute(worker: Worker, task: Task, tests: Sequence[TestCase]) -> list[Execution]:
    """Run the leading tests, on a fresh worker when one fails.

    A failure that returns for one test while a known-good program passes before and after it is
    the solution's own doing: nobody leaves the denominator by killing the judge.
    """
    inputs = [test.input.encode("utf-8", "surrogatepass") for test in tests]
    for _ in range(ATTEMPTS):
        with contextlib.suppress(SandboxError):
            return worker.run(task.program, inputs, task.limits)
    if len(inputs) > 1:
        return _execute(worker, task, tests[:1])
    sound_before = _is_sound(worker, task.limits)
    try:
        return worker.run(task.program, inputs, task.limits)
    except SandboxError as error:
        if not (sound_before and _is_sound(worker, task.limits)):
            raise
        return [_blamed(error)]


def _is_sound(worker: Worker, limits: Limits) -> bool:
    """Whether a known-good program passes on this worker."""
    try:
        execution = worker.run(Program("print(input()[::-1])"), [b"sound\n"], limits)[0]
    except SandboxError:
        return False
    return execution.stdout == b"dnuos\n"


def _blamed(error: SandboxError) -> Execution:
    return Execution(
        ending=Ending.ERROR,
        stdout=b"",
        stderr="",
        result=None,
        error=f"the sandbox does not survive this program: {error}",
        code=0,
        cpu_s=0.0,
        wall_s=0.0,
        peak_bytes=0,
    )


def _result(
    execution: Execution, test: TestCase, index: int, rule: ComparisonRule, *, functional: bool
) -> TestResult:
    stdout = execution.stdout.decode("utf-8", "surrogateescape")
    result = None if execution.result is None else execution.result.decode("utf-8", "replace")
    verdict, error, difference = _VERDICT_OF.get(execution.ending), execution.error, None
    if verdict is None and functional and result is None:
        verdict, error = Verdict.RUNTIME_ERROR, "the process ended before the function returned"
    elif verdict is None:
        compare = rule.value if functional else rule.output
        difference = compare(test.output, stdout if result is None else result)
        verdict = Verdict.WRONG_ANSWER if difference else Verdict.ACCEPTED
    got = stdout if result is None else _readable(result)
    return TestResult(
        index=index,
        public=test.public,
        verdict=verdict,
        cpu_s=round(execution.cpu_s, 6),
        wall_s=round(execution.wall_s, 6),
        peak_bytes=execution.peak_bytes,
        difference=difference,
        got="" if verdict is Verdict.ACCEPTED else _clean(got),
        error=_clean(error or _ended(execution)),
        stdout="" if verdict is Verdict.ACCEPTED or not functional else _clean(stdout),
        stderr="" if verdict is Verdict.ACCEPTED else _clean(execution.stderr),
    )


def _readable(result: str) -> str:
    if len(result) > 100 * EXCERPT:
        return result
    try:
        return describe_value(json.loads(result))
    except (ValueError, RecursionError, TypeError):
        return result


def _ended(execution: Execution) -> str:
    match execution.ending:
        case Ending.EXIT:
            return f"exit code {execution.code}"
        case Ending.SIGNAL:
            return f"killed by signal {execution.code}"
        case Ending.WALL_LIMIT:
            return "it waited: the limit of wall time was reached with little CPU used"
        case _:
            return ""


def _clean(text: str) -> str:
    """A bounded excerpt that can be written as UTF-8."""
    return writable(shorten(text, EXCERPT))
