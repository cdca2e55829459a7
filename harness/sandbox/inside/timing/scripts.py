"""Executions of a script in one timed call: every test, in every pass.

What an execution needs is made before the call is timed: its namespace and its stdin. What is left
within the call is to put the input into place and to restore the descriptors and settings, some
microseconds. Stdout and stderr are shared by the executions of a step.
"""

import gc
import os
import sys
from typing import Any, NamedTuple

from inside.messages import BETWEEN_TESTS, write_all
from inside.runner import Runner, describe, open_stream


class PreparedScript(NamedTuple):
    """What one execution starts with: a fresh module and a fresh stdin."""

    module: Any
    stdin: Any


class Executions:
    """Executions of a script on several tests, several times.

    Args:
        runner: runner of the script in this process.
        passes: number of passes.
        tests: number of tests in each.
    """

    def __init__(self, runner: Runner, passes: int, tests: int) -> None:
        self.runner = runner
        self.tests = tests
        self.output = runner.streams
        self.prepared = [self._prepare() for _ in range(passes * tests)]
        self.inputs: list[bytes] = []
        self.ends: list[int] = []
        self.over = False

    def _prepare(self) -> PreparedScript:
        sys.stdin = open_stream(0, "r")
        self.runner.open_namespace()
        return PreparedScript(sys.modules["__main__"], sys.stdin)

    def read(self) -> None:
        """Read the inputs of the tests."""
        stdin = self.runner.descriptors[0]
        data = os.pread(stdin, os.fstat(stdin).st_size, 0)
        self.inputs = data.split(BETWEEN_TESTS.encode()) if self.tests > 1 else [data]

    def call(self) -> dict[str, Any] | None:
        """Execute the script on every test in every pass; return the report of a failure.

        The first failure ends it: the tests are then run one by one.
        """
        for number, prepared in enumerate(self.prepared):
            self._put(self.inputs[number % self.tests], prepared)
            report: dict[str, Any] = {"status": "ok"}
            namespace = prepared.module.__dict__
            try:
                exec(self.runner.solution.code, namespace)
            except BaseException as error:
                report = describe(error)
                if report["status"] == "exit":  # its output counts, whatever its exit code
                    report = {"status": "ok"}
            self.over = self.runner.leave(namespace, report)
            self.ends.append(os.lseek(self.runner.descriptors[1], 0, os.SEEK_END))
            if self.over and len(self.prepared) > 1:
                return {"status": "error", "error": "a thread outlived one of its executions"}
            if report["status"] != "ok":
                return report
        return None

    def _put(self, data: bytes, prepared: PreparedScript) -> None:
        """Put an execution's input, streams and settings into place."""
        runner = self.runner
        stdin = runner.descriptors[0]
        os.pwrite(stdin, data, 0)
        os.ftruncate(stdin, len(data))
        os.lseek(stdin, 0, os.SEEK_SET)
        for number, descriptor in enumerate(runner.descriptors[:3]):
            os.dup2(descriptor, number)
        sys.modules["__main__"] = prepared.module
        if any(map(_is_closed, self.output)):
            self.output = open_stream(1, "w"), open_stream(2, "w")
        sys.stdin = sys.__stdin__ = prepared.stdin
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__ = runner.streams = self.output
        runner.renew_settings()
        gc.disable()

    def pick(self, which: int, file: int) -> None:
        """Write the outputs of one pass to a file, if every execution succeeded."""
        if not self.ends or len(self.ends) < len(self.prepared):
            return
        stdout = self.runner.descriptors[1]
        starts = [0, *self.ends]
        numbers = range(which * self.tests, (which + 1) * self.tests)
        outputs = [os.pread(stdout, self.ends[n] - starts[n], starts[n]) for n in numbers]
        os.ftruncate(stdout, 0)
        write_all(file, BETWEEN_TESTS.encode().join(outputs))


def _is_closed(stream: Any) -> bool:
    try:
        return stream.closed
    except ValueError:  # it is detached
        return True
