"""Run the programs of a package in the sandbox, with arguments and files."""

from collections.abc import Mapping, Sequence

from harness.errors import DataError
from harness.excerpts import around
from harness.grading.sandbox_retry import RetryingWorker
from harness.languages import PYTHON
from harness.sandbox.limits import Limits
from harness.sandbox.program import Ending, Execution, Program, Trial
from harness.sandbox.test_folder import TestFolder
from harness.sources.contests.generators.generator_programs import ProgramSource
from harness.text import writable

COMPILE_S = 60.0
EXCERPT = 200
RAISED = 1
"""Exit code of a Python program that raises."""
_ENDED = frozenset({Ending.FINISHED, Ending.EXIT})
_SCRIPT = """\
import sys as _sys
_sys.argv = {arguments!r}
_sys.path.insert(0, "")
exec(compile({code!r}, {name!r}, "exec"), globals())
"""


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
        words = [name, *arguments]
        program = Program(_SCRIPT.format(arguments=words, code=source.code, name=name))
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


def exit_code(execution: Execution, where: str, who: str, limits: Limits) -> int:
    """Return the exit code of a program that ended by itself.

    Args:
        execution: its execution.
        where: the test, for errors.
        who: the program, for errors.
        limits: its limits.

    Raises:
        DataError: it cannot be compiled, was killed, or hit a limit.
    """
    if execution.ending is Ending.ERROR:
        return RAISED
    if execution.ending in _ENDED:
        return execution.code
    why = {
        Ending.CPU_LIMIT: f"needs more than {limits.cpu_s:g} s of CPU time",
        Ending.WALL_LIMIT: f"needs more than {limits.wall_s:g} s",
        Ending.MEMORY_LIMIT: f"needs more than {limits.memory_bytes >> 20:,} MiB of memory",
        Ending.OUTPUT_LIMIT: f"writes more than {limits.output_bytes >> 20:,} MiB",
        Ending.CANNOT_COMPILE: "cannot be compiled",
    }.get(execution.ending, f"ends by {execution.ending.replace('_', ' ')}")
    raise DataError(where, None, f"{who} {why}{_said(execution)}")


def failure(execution: Execution, where: str, who: str) -> DataError:
    """Return the error of a program that ended with an exit code of failure."""
    how = "raises" if execution.ending is Ending.ERROR else f"ends with exit code {execution.code}"
    return DataError(where, None, f"{who} {how}{_said(execution)}")


def _said(execution: Execution) -> str:
    """Return the line that says most of what a program or its compiler wrote."""
    lines = (execution.error or execution.stderr).strip().splitlines()
    errors = [line for line in lines if "error" in line] if execution.error else []
    line = (errors[:1] if execution.ending is Ending.CANNOT_COMPILE else []) or lines[-1:]
    return f": {writable(around(' '.join(line[0].split()), 0, EXCERPT))}" if line else ""
