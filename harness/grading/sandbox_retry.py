"""Second runs: after sandbox failures, and of one test in a process that has run nothing yet."""

import hashlib
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.languages.known import language
from harness.languages.language import Language
from harness.problem import TestCase
from harness.sandbox.execution import Ending, Execution, SandboxError
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.trial import Trial
from harness.sandbox.worker import Worker

ATTEMPTS = 2
LONGEST_S = 2.0  # longest sleep of the known-good program, in seconds
HASHED_CHARACTERS = 1000
"""Number of characters of each input and output that count."""


@dataclass(slots=True)
class RetryingWorker:
    """Worker that retries when its sandbox fails.

    Attributes:
        retried: number of failures after which a fresh sandbox took over.
        blamed: number of tests that crash every sandbox.
        kept: executions that `execute_ahead` keeps, by test index.
    """

    worker: Worker
    retried: int = 0
    blamed: int = 0
    kept: dict[int, Execution] = field(default_factory=dict[int, Execution])

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
        own = language(trial.program.language)
        sound_before = self._is_sound(trial.limits, time.monotonic() - start, own)
        start = time.monotonic()
        try:
            return self.worker.try_out(trial, indexes, alone=alone)
        except SandboxError as error:
            seconds = time.monotonic() - start
            if not (sound_before and self._is_sound(trial.limits, seconds, own)):
                raise
            self.blamed += 1
            return [_blamed(error)]

    def execute_ahead(
        self, trial: Trial, indexes: Sequence[int], *, last: bool | None
    ) -> list[Execution]:
        """Run the first of some tests in its own process, and keep those of the others for later.

        The others run at the same request, each in its own process too. They are kept until this
        is called for them. After a failure of the sandbox every test has its own request.

        Args:
            trial: program and inputs; the same at each call.
            indexes: indexes of its tests; the others will probably be needed.
            last: whether these are likely the last runs of this trial; see `Worker.try_out`.

        Returns:
            The execution of the first test.

        Raises:
            SandboxError: as in `execute`.
        """
        first, several = indexes[0], len(indexes) > 1
        if several and first not in self.kept and not self.retried:
            try:
                executions = self.worker.try_each(trial, indexes, last=bool(last))
                self.kept |= dict(zip(indexes, executions, strict=False))
            except SandboxError:
                self.retried += 1
        if first in self.kept:
            return [self.kept.pop(first)]
        return self.execute(trial, [first], last=last and not several)

    def _is_sound(self, limits: Limits, seconds: float, own: Language) -> bool:
        """Return whether a known-good program that takes as long passes on this worker.

        One in a language that is compiled is compiled afresh.
        """
        stay = f"import time\ntime.sleep({min(seconds, LONGEST_S, limits.wall_s / 2):.3f})\n"
        try:
            program = Program(f"{stay}print(input()[::-1])")
            if own.is_compiled:
                code = own.sound.format(nonce=secrets.token_hex(8))
                program = Program(code, language=own.name)
            execution = self.worker.run(program, [b"sound\n"], limits)[0]
        except SandboxError:
            return False
        return execution.stdout == b"dnuos\n"


def _blamed(error: SandboxError) -> Execution:
    what = f"the sandbox does not survive this program: {error}"
    return Execution(Ending.SANDBOX_LOST, error=what)


def picked(code: str, tests: Sequence[TestCase]) -> int:
    """Return the index of a test: always the same one, but unknown to the solution.

    It depends on the expected outputs, which a wrong solution does not know, and which are not in
    its process.
    """
    digest = hashlib.sha256(code.encode("utf-8", "surrogatepass"))
    for test in tests:
        for text in (test.input, test.output):
            digest.update(text[:HASHED_CHARACTERS].encode("utf-8", "surrogatepass"))
    return int.from_bytes(digest.digest()[:8], "big") % len(tests)
