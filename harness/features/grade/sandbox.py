"""`Sandbox`: judge one solution from Python, synchronously and without a run.

It can also time the solution by itself, test by test: the CPU seconds of the call, read outside the
process, with an interval. They drift with
the machine; comparisons with other solutions are measured in turns
(`harness.features.efficiency.paired_timing`).
"""

import json
import math
import os
import threading
import weakref
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, cast

from harness.closing import Closing
from harness.errors import DataError, UsageError
from harness.features.efficiency.paired_timing import Middle, middle
from harness.features.efficiency.turns import (
    EMPTY_TURNS,
    LONG_ENOUGH_S,
    MOST_PASSES,
    TURN_S,
    Expected,
    Grouping,
    race_of,
)
from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.grading.task import Task
from harness.grading.verdict import TestResult
from harness.judged_by import Checker
from harness.problem import TestCase
from harness.run.settings.execution_settings import read_test_timeout
from harness.sandbox.execution import WorkerStoppedError
from harness.sandbox.isolation import Isolation, Level
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.strongest import choose
from harness.sandbox.timing_race import Lap, ProgramStep
from harness.sandbox.worker import Worker
from harness.sources import preambles

TURNS = 24  # of each test; fewer where they would take long
FEWEST = 6
BUDGET_S = 2.0


def time_tests(
    worker: Worker, expected: Expected, code: str, tests: Sequence[int]
) -> dict[int, Middle]:
    """Return the median CPU seconds of a solution's call, for each of some tests.

    Args:
        worker: worker on which it runs.
        expected: the tests.
        code: code of the solution.
        tests: indexes of tests that it passes.

    Returns:
        Median by test index; tests that fail now are left out.

    Raises:
        SandboxError: the sandbox failed.
    """
    plan = Grouping.of(len(expected.inputs), apart=True)
    by_test: dict[int, list[float]] = defaultdict(list)
    with worker.on(race_of(expected, [code], plan)) as race:
        first = dict(
            zip(tests, worker.take_turns(race, [ProgramStep(0, n) for n in tests]), strict=True)
        )
        first = {test: lap for test, lap in first.items() if not lap.error}
        empty_s, passes = 0.0, dict.fromkeys(first, 1)
        if race.is_functional and first:
            empty = worker.take_turns(race, [ProgramStep(0, 0, passes=0)] * EMPTY_TURNS)
            empty_s = middle([lap.cpu_s for lap in empty]).value
            passes = {test: _passes(lap, empty_s) for test, lap in first.items()}
        cost = sum(lap.cpu_s * passes[test] + TURN_S for test, lap in first.items())
        turns = min(TURNS, max(FEWEST, int(BUDGET_S / cost))) if cost else 0
        steps = [ProgramStep(0, test, passes[test]) for _ in range(turns) for test in first]
        for step, lap in zip(steps, worker.take_turns(race, steps), strict=True):
            if not lap.error:
                by_test[step.group].append(max(lap.cpu_s - empty_s, 0.0) / step.passes)
    return {test: middle(seconds) for test, seconds in by_test.items()}


def _passes(lap: Lap, empty_s: float) -> int:
    return min(MOST_PASSES, max(1, math.ceil(LONG_ENOUGH_S / max(lap.cpu_s - empty_s, 1e-6))))


class Sandbox(Closing):
    """Runs solutions of functional problems and compares what they return.

    Takes the columns of a row of Mercury (Elfsong/Mercury), as Mercury_Eval's class of this name
    does.
    Its fork server ends with the object, on `close`, or at the end of the `with` block. Several
    threads may share it: their calls take turns. For solutions at once, use a `Grader`.

    Args:
        timeout: CPU seconds of each test.
        isolation: the isolation, or the lowest acceptable level as a word, such as `namespaces`;
            by default the strongest available on this machine.

    Raises:
        UsageError: the timeout or the isolation is invalid.
        IsolationError: no sandbox of the given level is available on this machine.
    """

    def __init__(self, timeout: float = 10.0, *, isolation: Isolation | str | None = None) -> None:
        try:
            seconds = float(read_test_timeout(timeout, by_reference=False))
        except ValueError as error:
            raise UsageError(f"Sandbox(): timeout {timeout!r:.60}: {error}") from None
        self._limits = Limits(cpu_s=seconds)
        self._worker = Worker(_isolation(isolation))
        self._turn = threading.Lock()
        self._process = os.getpid()
        self._stop = weakref.finalize(self, self._worker.stop)

    def run(
        self,
        solution_code: str,
        test_cases: str | Sequence[Mapping[str, Any]],
        entry_point: str,
        convert_offline: str | None = None,
        evaluate_offline: str | None = None,
    ) -> dict[str, Any]:
        """Judge a solution on every test.

        Args:
            solution_code: program that defines the function, or a class `Solution` with the method.
            test_cases: list, or JSON of a list, of objects with `input` (the arguments) and
                `expected`.
            entry_point: name of the function or method.
            convert_offline: Mercury's hook that makes the arguments of a call. Give both hooks or
                neither.
            evaluate_offline: Mercury's hook that decides whether a call was right.

        Returns:
            `passed`, `verdict` and `results`. A result, one for each test that was run, has
            `passed`,
            `verdict`, `runtime_ms`, `ci95_lo`, `ci95_hi`, `error` and `got`. For a passed test the
            run
            time is that of the call alone: the median CPU time of many calls, with the 95 %
                interval of
            that median, in milliseconds. For a failed test it is the CPU time of its process in
            that
            test, without an interval.

        Raises:
            DataError: a test is malformed.
            UsageError: another argument is malformed, one hook is missing, or the sandbox is
                closed.
            SandboxError: the sandbox failed.
            IsolationError: the required isolation is not available on this machine.
        """
        if not isinstance(solution_code, str):  # pyright: ignore[reportUnnecessaryIsInstance] - untyped
            kind = type(solution_code).__name__
            raise UsageError(f"Sandbox.run(): solution_code is a {kind}: give the program as text")
        if not (isinstance(entry_point, str) and entry_point.isidentifier()):  # pyright: ignore[reportUnnecessaryIsInstance] - untyped
            what = "give the name of the function or method"
            raise UsageError(f"Sandbox.run(): entry_point {entry_point!r:.60}: {what}")
        task = Task(
            Program(solution_code, preambles.MERCURY, entry_point),
            _tests(test_cases),
            self._limits,
            checker=_checker(convert_offline, evaluate_offline),
            stop=Stop.NEVER,
        )
        if self._process != os.getpid():
            raise UsageError("the sandbox does not survive a fork: make one in each process")
        try:
            with self._turn:
                return self._judged(task)
        except WorkerStoppedError:
            raise UsageError("the sandbox is closed") from None

    def _judged(self, task: Task) -> dict[str, Any]:
        if self._worker.stopped:
            raise WorkerStoppedError
        try:
            grade = judge(self._worker, task)
            passed = [test.index for test in grade.tests if test.passed]
            times: dict[int, Middle] = {}
            if passed:
                expected = Expected.of(self._worker, task)
                times = time_tests(self._worker, expected, task.program.code, passed)
        except BaseException:  # after an interrupt, the next call would read this one's answer
            self._worker.kill()
            raise
        results = [_of(test, times.get(test.index)) for test in grade.tests]
        return {"passed": grade.solved, "verdict": str(grade.verdict), "results": results}

    def close(self) -> None:
        """Stop the fork server, and with it a call under way in another thread."""
        self._stop()


def _isolation(given: Isolation | str | None) -> Isolation | None:
    if given is None or isinstance(given, Isolation):
        return given
    if given not in [*Level]:
        known = ", ".join(Level)
        raise UsageError(f"Sandbox(): isolation {given!r:.60}: give one of {known}")
    return choose(Level(given), unsafe=given == Level.NONE).isolation


def _tests(test_cases: Any) -> list[TestCase]:
    try:
        cases = json.loads(test_cases) if isinstance(test_cases, str) else test_cases
    except (ValueError, RecursionError) as error:
        raise DataError("test_cases", None, f"not JSON: {error}") from None
    if not isinstance(cases, list | tuple):
        raise DataError("test_cases", None, f"give a list, not a {type(cases).__name__}")
    return [_test(number, case) for number, case in enumerate(cast("list[Any]", cases), 1)]


def _test(number: int, case: Any) -> TestCase:
    match case:
        case {"input": list() | tuple(), "expected": expected}:
            arguments = cast("list[Any]", case["input"])
        case _:
            what = f"test {number}: give `input`, a list of arguments, and `expected`"
            raise DataError("test_cases", None, what)
    if not _has_text_keys([*arguments, expected]):
        what = f"test {number}: no JSON data: keys of objects are strings"
        raise DataError("test_cases", None, what)
    try:
        lines = "\n".join(json.dumps(argument) for argument in arguments)
        return TestCase(input=lines, output=json.dumps(expected), public=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError("test_cases", None, f"test {number}: no JSON data: {error}") from None


def _has_text_keys(values: list[Any]) -> bool:
    """Return whether all keys of dictionaries are strings; JSON would make strings of others."""
    waiting: list[object] = list(values)
    seen = set[int]()
    while waiting:
        value = waiting.pop()
        if id(value) in seen or not isinstance(value, dict | list | tuple):
            continue
        seen.add(id(cast("object", value)))
        if not isinstance(value, dict):
            waiting += cast("list[object]", value)
            continue
        inner = cast("dict[object, object]", value)
        if not all(isinstance(key, str) for key in inner):
            return False
        waiting += inner.values()
    return True


def _checker(convert: str | None, evaluate: str | None) -> Checker | None:
    if convert is None and evaluate is None:
        return None
    if not isinstance(convert, str) or not isinstance(evaluate, str):
        raise UsageError(
            "Sandbox.run(): give both convert_offline and evaluate_offline as text, or neither"
        )
    return Checker(kind="hooks", code=f"{convert}\n\n{evaluate}\n", preamble=preambles.MERCURY)


def _of(test: TestResult, time: Middle | None) -> dict[str, Any]:
    return {
        "passed": test.passed,
        "verdict": str(test.verdict),
        "runtime_ms": 1000 * (test.cpu_s if time is None else time.value),
        "ci95_lo": None if time is None else 1000 * time.low,
        "ci95_hi": None if time is None else 1000 * time.high,
        "error": test.error,
        "got": test.got,
    }
