"""The forked process that runs one solution to see how long it takes, as often as it is told.

A step goes by phases, each begun by the fork server and ended by a word to it; it reads this
process's clock at every one of them, from outside, so that nothing is gained by bending a clock
in here. `build` makes fresh namespaces and `Solution()`s, before the inputs are there; `read` makes
the arguments; `call` is what is timed; `show` makes bytes of what every pass came to, and `pick`
writes those of one, which one being said only now. What a solution does in `read` and `show` is
charged to it, see `harness.efficiency`.

A pass of a function calls it for every test of the step; a program is executed once a step. Each
pass has a namespace of its own, and nothing that it kept there reaches the next.
"""

import gc
import os
from typing import Any

from inside import values
from inside.preamble import Preamble, Solution
from inside.runner import Runner, describe, find_entry_point
from inside.timing.branches import counting
from inside.timing.iterations import CallOfCopies, iterate
from inside.words import (
    BETWEEN_TESTS,
    DONE,
    DONE_AND_OVER,
    ORDER_BYTES,
    write_all,
    write_report,
)

# pyright: reportPrivateUsage=false

Call = tuple[Any, list[Any]]


class Execution:
    """A program run to its end, its last output included."""

    def __init__(self, runner: Runner, namespace: dict[str, Any] | None = None) -> None:
        self.runner = runner
        self.namespace = namespace or {}
        self.report: dict[str, Any] = {"status": "ok"}
        self.over = False

    def ready(self) -> None:
        """A fresh namespace, and fresh streams on the same input."""
        self.runner.renew()
        self.namespace = self.runner.open_namespace()

    def call(self) -> None:
        """Run it."""
        try:
            exec(self.runner.solution.code, self.namespace)
        except BaseException as error:
            report = describe(error)
            if report["status"] != "exit":  # what it printed counts, whatever its exit code
                self.report = report
        self.over = self.runner.leave(self.namespace, self.report) or self.over

    def done(self) -> None:
        """Nothing is left to do."""


class TimedRunner:
    """Runs passes of one solution in this process; see `Template` for the arguments."""

    def __init__(
        self,
        solution: Solution,
        preamble: Preamble,
        control: int,
        files: list[int],
        directory: int,
    ) -> None:
        self.solution = solution
        self.control = control
        self.files = files
        self.runner = Runner(solution, preamble, control, files, directory)
        self.namespaces: list[dict[str, Any]] = []
        self.functions: list[list[Any]] = []
        self.calls: list[list[Call]] = []
        self.results: list[list[Any]] = []
        self.shown: list[list[bytes]] = []
        self.over = False
        self.phases: dict[str, Any] = {
            "build": self._build,
            "read": self._read,
            "call": self._call,
            "count": self._count,
            "iterate": self._iterate,
            "show": self._show,
            "pick": self._pick,
        }

    def run(self, go: bytes) -> None:
        """Carry out phases until the fork server hangs up.

        Args:
            go: begins its every word; another is left over from an earlier process.
        """
        while order := os.read(self.control, ORDER_BYTES):
            word, phase, *numbers = order.split()
            if word != go:
                continue
            try:
                report: dict[str, Any] = self.phases[phase.decode()](*map(int, numbers)) or {}
            except BaseException as error:
                report = describe(error)
                self.over = True
            if report:
                write_report(self.files[-1], report)
            os.write(self.control, DONE_AND_OVER if self.over else DONE)
            if self.over:
                return

    def _build(self, passes: int, tests: int) -> None:
        """Fresh namespaces, and in each the function of every test."""
        self.functions, self.calls, self.results, self.shown = [], [], [], []
        self.runner.renew()
        name = self.solution.entry_point
        self.namespaces = [self.runner.open_namespace() for _ in range(passes)]
        if name is None:
            return
        for namespace in self.namespaces:
            exec(self.solution.code, namespace)
            self.functions.append([find_entry_point(name, namespace) for _ in range(tests)])

    def _read(self) -> None:
        """The arguments of every call; a program reads by itself."""
        os.lseek(0, 0, os.SEEK_SET)
        if self.solution.entry_point is not None:
            data = os.pread(0, os.fstat(0).st_size, 0)
            texts = data.decode("utf-8", "surrogatepass").split(BETWEEN_TESTS)
            self.calls = [
                [
                    (function, self._arguments(text, namespace))
                    for function, text in zip(functions, texts, strict=True)
                ]
                for functions, namespace in zip(self.functions, self.namespaces, strict=True)
            ]
        gc.disable()

    def _arguments(self, text: str, namespace: dict[str, Any]) -> list[Any]:
        return values.decode_arguments(text, self.solution.arguments, namespace)

    def _call(self) -> dict[str, Any] | None:
        if self.solution.entry_point is None:
            return self._execute()
        results = self.results
        for calls in self.calls:
            results.append([function(*arguments) for function, arguments in calls])
        return None

    def _execute(self) -> dict[str, Any] | None:
        """Run the program to its end, its last output included."""
        execution = Execution(self.runner, self.namespaces.pop())
        execution.call()
        self.over = execution.over
        return None if execution.report["status"] == "ok" else execution.report

    def _count(self) -> dict[str, Any]:
        """The same as `call`, and the branches that it took; see `inside.branches`."""
        with counting() as counted:
            report = self._call()
        return report or {"status": "ok", "branches": counted()}

    def _iterate(self, iterations: int) -> dict[str, Any]:
        """Mercury's protocol in the place of `call`; see `inside.iterations`."""
        gc.enable()
        if self.solution.entry_point is None:
            execution = Execution(self.runner)
            times = [iterate(execution, iterations)]
            self.over = execution.over
            if execution.report["status"] != "ok":
                return execution.report
            return {"status": "ok", "times": times}
        made = [CallOfCopies(function, arguments) for function, arguments in self.calls[0]]
        times = [iterate(each, iterations) for each in made]
        self.calls = [[(each.function, each.arguments) for each in made]]
        self.results = [[each.result for each in made]]
        return {"status": "ok", "times": times}

    def _show(self) -> None:
        """What each pass came to, as bytes: nobody gains by answering what makes itself later."""
        gc.enable()
        codecs = self.solution.arguments
        for results, calls in zip(self.results, self.calls, strict=False):
            self.shown.append(
                [
                    values.encode(result, self.solution.result, arguments, codecs)
                    for result, (_, arguments) in zip(results, calls, strict=True)
                ]
            )

    def _pick(self, which: int) -> None:
        """Write what a pass came to; a script has done that itself."""
        if self.shown:
            write_all(self.files[3], BETWEEN_TESTS.encode().join(self.shown[which]))
