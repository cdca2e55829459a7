"""Run the programs of a package in the sandbox, with arguments and files."""

from collections.abc import Mapping, Sequence

from harness.grading.sandbox_retry import RetryingWorker
from harness.languages import PYTHON
from harness.sandbox.execution import Execution
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.python_script import python_script
from harness.sandbox.test_folder import TestFolder
from harness.sandbox.trial import Trial
from harness.sources.contests.generators.generator_programs import ProgramSource

COMPILE_S = 60.0


def run_program(
    bench: RetryingWorker,
    source: ProgramSource,
    arguments: Sequence[str],
    limits: Limits,
    *,
    stdin: bytes = b"",
    kept: str = "",
) -> Execution:
    """Run a program once, in a process of its own.

    Args:
        bench: the worker.
        source: the program.
        arguments: its arguments.
        limits: its limits.
        stdin: its input.
        kept: folder whose files are kept; empty for none.

    Raises:
        SandboxError: the sandbox failed.
    """
    name = source.path.name
    files: Mapping[str, bytes] = dict(source.data)
    if source.language == PYTHON:
        program = python_script(source.code, (name, *arguments))
        texts = {each: text.encode("utf-8", "surrogatepass") for each, text in source.files}
        files = {**files, **texts}
    else:
        program = Program(
            source.code, language=source.language, files=source.files, compile_s=COMPILE_S
        )
    folder = TestFolder((name, *arguments), stdin, files, kept)
    trial = Trial(program, [folder.packed()], limits, has_folder=True)
    with bench.worker.on(trial):
        return bench.execute(trial, [0], last=True)[0]
