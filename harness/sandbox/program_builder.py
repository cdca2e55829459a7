"""Programs that are compiled before they run: how a worker gets and runs them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from harness.sandbox.execution import Ending, Execution
from harness.sandbox.program import Program


@dataclass(frozen=True, slots=True)
class Refused:
    """A program that the compiler does not take.

    Attributes:
        message: the compiler's message, bounded.
        cpu_s, wall_s: seconds of the attempt.
    """

    message: str
    cpu_s: float
    wall_s: float

    @property
    def execution(self) -> Execution:
        """The execution that stands for all tests."""
        return Execution(
            ending=Ending.CANNOT_COMPILE,
            stdout=b"",
            stderr="",
            result=None,
            error=self.message,
            code=0,
            cpu_s=self.cpu_s,
            wall_s=self.wall_s,
            peak_bytes=0,
        )


class ProgramBuilder(Protocol):
    """Compiles programs in one sandbox (`harness.registry.BUILDER`)."""

    def build(self, program: Program, stopped: Callable[[], bool]) -> int | Refused:
        """Return a sealed file with a compiled program, or why there is none.

        Args:
            program: the program.
            stopped: whether the worker was stopped meanwhile.

        Raises:
            OSError, EOFError, ValueError: the sandbox failed, or there is no compiler.
        """
        ...

    def launcher(self, stopped: Callable[[], bool]) -> int:
        """Return the launcher of compiled programs, as `build` does."""
        ...

    def ended(self, execution: Execution, word: bytes) -> Execution:
        """Return the execution of a compiled program as it counts.

        Args:
            execution: the execution; of a function, with what was written to the descriptor of
                results.
            word: the judge's word before and after a function's result; empty for a program.
        """
        ...

    def end(self) -> None:
        """End the fork server, and close the programs."""
        ...
