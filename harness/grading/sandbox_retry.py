"""Retry sandbox failures and decide whether the solution caused them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from harness.sandbox.limits import Limits
from harness.sandbox.program import Ending, Execution, Program, SandboxError
from harness.sandbox.trial_input import Trial
from harness.sandbox.worker import Worker

ATTEMPTS = 2
LONGEST_S = 2.0  # longest sleep of the known-good program, in seconds


@dataclass(slots=True)
class RetryingWorker:
    """Worker that retries when its sandbox fails.

    Attributes:
        retried: number of failures after which a fresh sandbox took over.
        blamed: number of tests that crash every sandbox.
    """

    worker: Worker
    retried: int = 0
    blamed: int = 0

    def execute(
        self,
        trial: Trial,
        indexes: Sequence[int],
        *,
        alone: bool = False,
        last: bool | None = False,
        full: int | None = None,
    ) -> list[Execution]:
        """Run the first few of some tests, on a fresh sandbox when one fails.

        If one test fails again while a known-good program passes before and after it, the program
        caused the failure: crashing the judge must not remove a sample from the denominator.

        Args:
            trial: program and inputs.
            indexes: indexes of its tests to run.
            alone: whether to run while nothing else runs.
            last: whether this is likely the last run of this trial; see `Worker.try_out`.
            full: number of first tests that have their whole time limit; all by default.

        Raises:
            SandboxError: the sandbox failed, and the program did not cause it.
        """
        start = time.monotonic()
        for _ in range(1 if self.blamed or len(indexes) > 1 else ATTEMPTS):
            start = time.monotonic()
            try:
                return self.worker.try_out(trial, indexes, alone=alone, last=last, full=full)
            except SandboxError:
                self.retried += 1
        if len(indexes) > 1:
            return self.execute(trial, indexes[:1], alone=alone)
        sound_before = self._is_sound(trial.limits, time.monotonic() - start)
        start = time.monotonic()
        try:
            return self.worker.try_out(trial, indexes, alone=alone)
        except SandboxError as error:
            if not (sound_before and self._is_sound(trial.limits, time.monotonic() - start)):
                raise
            self.blamed += 1
            return [_blamed(error)]

    def _is_sound(self, limits: Limits, seconds: float) -> bool:
        """Return whether a known-good program that takes as long passes on this worker."""
        stay = f"import time\ntime.sleep({min(seconds, LONGEST_S, limits.wall_s / 2):.3f})\n"
        try:
            program = Program(f"{stay}print(input()[::-1])")
            execution = self.worker.run(program, [b"sound\n"], limits)[0]
        except SandboxError:
            return False
        return execution.stdout == b"dnuos\n"


def _blamed(error: SandboxError) -> Execution:
    return Execution(
        ending=Ending.SANDBOX_LOST,
        stdout=b"",
        stderr="",
        result=None,
        error=f"the sandbox does not survive this program: {error}",
        code=0,
        cpu_s=0.0,
        wall_s=0.0,
        peak_bytes=0,
    )
