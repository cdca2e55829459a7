"""What is run in the sandbox, and what came of it."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from harness.problem import Problem, ProblemView, Signature
from harness.sandbox.result_values import decode


@dataclass(frozen=True, slots=True)
class Program:
    """Judged code and how it is called.

    Attributes:
        preamble: source whose names the code takes for granted; run first, in its namespace.
        entry_point: the function or `Solution` method to call; None runs it as a script.
    """

    code: str
    preamble: str = ""
    entry_point: str | None = None
    signature: Signature = field(default_factory=Signature)

    @classmethod
    def of(cls, problem: Problem | ProblemView, code: str) -> Self:
        """A solution of a problem."""
        return cls(code, problem.preamble, problem.entry_point, problem.signature)


class Ending(StrEnum):
    """How a test's process, or its turn in a batch, came to an end."""

    FINISHED = "finished"
    ERROR = "error"
    EXIT = "exit"
    SIGNAL = "signal"
    MEMORY_LIMIT = "memory_limit"
    CPU_LIMIT = "cpu_limit"
    WALL_LIMIT = "wall_limit"
    OUTPUT_LIMIT = "output_limit"
    CANNOT_COMPILE = "cannot_compile"
    CUT_SHORT = "cut_short"  # it needs more time than a test has beside others; no verdict
    SANDBOX_LOST = "sandbox_lost"  # no sandbox survives the program


@dataclass(frozen=True, slots=True)
class Execution:
    """One test, run. Everything in it but the times was made by judged code.

    Attributes:
        stdout: what was written; only head and tail of it after OUTPUT_LIMIT.
        stderr: the same, head and tail of a long one.
        result: a function's result in the notation of `harness.sandbox.inside.values`; None when it
            gave none.
        error: the traceback, or the compiler's message; how a process ended that raised nothing.
        code: exit code or signal number.
        cpu_s, wall_s: seconds, read outside the process.
        peak_bytes: the process's peak memory, over all tests that it ran.
        alone: whether the process was for this test alone.
        borderline: whether a limit of time was hit so narrowly, or so idly, that the machine's load
            may have done it.
        partial: the result as far as it was written, where the test ended otherwise.
        asleep: whether it neither ran nor waited for a core until the limit of wall time.
    """

    ending: Ending
    stdout: bytes
    stderr: str
    result: bytes | None
    error: str
    code: int
    cpu_s: float
    wall_s: float
    peak_bytes: int
    alone: bool = True
    borderline: bool = False
    asleep: bool = False
    partial: bytes = b""

    @property
    def value(self) -> Any:
        """The result of a function as Python data.

        Raises:
            ValueError: there is none: it ended otherwise, or wrote on the judge's own channel.
        """
        if self.result is None:
            raise ValueError(f"no result: {self.ending}")
        return decode(self.result)


class SandboxError(Exception):
    """The sandbox failed, not the program: run it again on a fresh worker."""


class WorkerStoppedError(Exception):
    """The worker was stopped for good: nobody waits for what it was to run."""
