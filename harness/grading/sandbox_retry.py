"""Retry sandbox failures and decide whether the solution caused them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from harness.sandbox.limits import Limits
from harness.sandbox.program import Ending, Execution, Program, SandboxError
from harness.sandbox.trial_input import Trial
from harness.sandbox.worker import Worker

ATTEMPTS = 2
LONGEST_S = 2.0  # that a known-good program stays, however late the other failed


@dataclass(slots=True)
class RetryingWorker:
    """A worker, and how often its sandbox failed.

    Attributes:
        retried: failures after which a fresh sandbox took over.
        blamed: tests that no sandbox survives.
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
        """Run the leading ones of some tests, on a fresh sandbox when one fails.

        A failure that returns for one test while a known-good program passes before and after it
        is the program's own doing: nobody leaves the denominator by killing the judge.

        Args:
            trial: what is run.
            indexes: which of its tests.
            alone: while nothing else runs.
            last: as `Worker.try_out` has it.
            full: how many of the first tests have their whole limit of time; default: all.

        Raises:
            SandboxError: the sandbox failed, and it was not the program's doing.
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
        """Whether a known-good program passes on this worker that stays as long as the other."""
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
