"""One run of a program, as a piece of work for an executor."""

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from harness.grading.sandbox_retry import RetryingWorker
from harness.sandbox.execution import Execution, SandboxError
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.trial import Trial
from harness.sandbox.worker import Worker


class Ran(NamedTuple):
    """What came of a run.

    Attributes:
        execution: the execution; that of the compiler where it made no program.
        compile_s: seconds until there was a program.
    """

    execution: Execution
    compile_s: float = 0.0


@dataclass(frozen=True, slots=True)
class SingleRun:
    """A program to run once, as a piece of work for an executor.

    Attributes:
        stdin: standard input, or a packed `harness.sandbox.test_folder.TestFolder`.
        has_folder: whether it is the latter.
    """

    program: Program
    stdin: bytes
    limits: Limits
    has_folder: bool = False

    def __call__(self, worker: Worker) -> Ran:
        """Run the program. Raises SandboxError if the sandbox failed."""
        trial = Trial(self.program, [self.stdin], self.limits, has_folder=self.has_folder)
        with worker.on(trial):
            start, refused = time.monotonic(), None
            with suppress(SandboxError):  # it is tried again below
                refused = worker.prepare(trial)
            compile_s = time.monotonic() - start
            if refused is not None:
                return Ran(refused, compile_s)
            return Ran(RetryingWorker(worker).execute(trial, [0], last=True)[0], compile_s)
