r"""Isolation layers, limits, fork servers and a worker pool for running untrusted code.

It can be used on its own:

    from harness.sandbox import Limits, Program, SandboxPool

    async with SandboxPool(Limits(cpu_s=2)) as pool:
        execution = await pool.run("print(input()[::-1])", stdin="abc")
        execution.ending, execution.stdout            # Ending.FINISHED, b"cba\\n"
        execution = await pool.run(Program("def f(a, b): return a + b", entry_point="f"),
                                   arguments=[1, 2])
        execution.value                               # 3

A program's failures raise nothing: an `Execution` says how it ended, what it wrote, and how much
time and memory it took. `harness.Sandbox` is a synchronous form that also compares results.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.sandbox.execution import Ending, Execution, SandboxError
    from harness.sandbox.isolation import Isolation, IsolationError, Level
    from harness.sandbox.limits import Limits
    from harness.sandbox.pool import SandboxPool
    from harness.sandbox.program import Program

__all__ = [
    "Ending",
    "Execution",
    "Isolation",
    "IsolationError",
    "Level",
    "Limits",
    "Program",
    "SandboxError",
    "SandboxPool",
]

_HOMES = {
    "harness.sandbox.execution": ("Ending", "Execution", "SandboxError"),
    "harness.sandbox.isolation": ("Isolation", "IsolationError", "Level"),
    "harness.sandbox.limits": ("Limits",),
    "harness.sandbox.pool": ("SandboxPool",),
    "harness.sandbox.program": ("Program",),
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: a setting of a limit needs no pool."""
    for home, names in _HOMES.items():
        if name in names:
            attribute = globals()[name] = getattr(import_module(home), name)
            return attribute
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
