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

from harness.sandbox.isolation import Isolation, IsolationError, Level
from harness.sandbox.limits import Limits
from harness.sandbox.pool import SandboxPool
from harness.sandbox.program import Ending, Execution, Program, SandboxError

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
