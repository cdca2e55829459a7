"""How the programs of a package end: their exit code, or an error that says why they failed."""

from harness.errors import DataError
from harness.excerpts import around
from harness.sandbox.execution import Ending, Execution
from harness.sandbox.limits import Limits
from harness.text import writable

EXCERPT = 200
RAISED = 1
"""Exit code of a Python program that raises."""
_ENDED = frozenset({Ending.FINISHED, Ending.EXIT})


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
