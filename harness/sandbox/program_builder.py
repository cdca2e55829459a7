"""Programs that are compiled before they run: how a worker gets and runs them."""

from collections.abc import Callable
from typing import Protocol

from harness import registry
from harness.sandbox.execution import Execution
from harness.sandbox.lazy_fork_server import LazyForkServer
from harness.sandbox.program import Program
from harness.sandbox.trial import Trial


class ProgramBuilder(Protocol):
    """Compiles programs in one sandbox (`harness.registry.BUILDER`)."""

    def build(self, program: Program, stopped: Callable[[], bool]) -> int | Execution:
        """Return a sealed file with a compiled program, or the execution that stands for it.

        The latter is that of a program which the compiler does not take.

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


class TrialCompiler:
    """Compiles the programs of trials in a sandbox of its own, made for the first one."""

    def __init__(self) -> None:
        self.builder: ProgramBuilder | None = None

    def compile(self, trial: Trial, server: LazyForkServer) -> Execution | None:
        """Compile a trial's program, if that is needed, for a fork server.

        Returns:
            The execution that stands for a program that cannot be compiled.

        Raises:
            OSError, EOFError, ValueError: as `ProgramBuilder.build`.
        """
        if not trial.program.is_compiled or trial.is_written:
            return None
        if self.builder is None:
            builder: ProgramBuilder = registry.resolve(registry.BUILDER)(server.isolation)
            self.builder = builder
        built = self.builder.build(trial.program, lambda: server.stopped)
        if isinstance(built, Execution):
            return built
        trial.write(built, self.builder.launcher(lambda: server.stopped))
        return None

    def ended(self, trial: Trial, executions: list[list[Execution]]) -> list[list[Execution]]:
        """Return the executions of a trial's processes as they count."""
        if self.builder is None or not trial.program.is_compiled:
            return executions
        return [[self.builder.ended(each, trial.word)] for (each,) in executions]

    def end(self) -> None:
        """End the sandbox."""
        if self.builder is not None:
            self.builder.end()
