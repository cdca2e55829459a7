"""Running tests in the sandbox, and whose doing it is when the sandbox fails."""

import contextlib
from collections.abc import Sequence

from harness.sandbox.execution import Ending, Execution, Program, SandboxError
from harness.sandbox.limits import Limits
from harness.sandbox.worker import Worker

ATTEMPTS = 2


def execute(
    worker: Worker, program: Program, inputs: Sequence[bytes], limits: Limits
) -> list[Execution]:
    """Run the leading tests, on a fresh worker when one fails.

    A failure that returns for one test while a known-good program passes before and after it is
    the program's own doing: nobody leaves the denominator by killing the judge.

    Raises:
        SandboxError: the sandbox failed, and it was not the program's doing.
    """
    for _ in range(ATTEMPTS):
        with contextlib.suppress(SandboxError):
            return worker.run(program, inputs, limits)
    if len(inputs) > 1:
        return execute(worker, program, inputs[:1], limits)
    sound_before = _is_sound(worker, limits)
    try:
        return worker.run(program, inputs, limits)
    except SandboxError as error:
        if not (sound_before and _is_sound(worker, limits)):
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
