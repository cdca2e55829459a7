"""The worker: has trials and races carried out by a fork server, and checks its answers."""

import contextlib
import json
import os
import struct
from collections.abc import Generator, Sequence
from typing import Any, TypeVar

from harness.closing import Closing
from harness.sandbox.exclusive import Exclusive
from harness.sandbox.execution import Execution, SandboxError, WorkerStoppedError
from harness.sandbox.fork_server_answer import read_answer
from harness.sandbox.fork_server_connection import ForkServer
from harness.sandbox.isolation import Isolation
from harness.sandbox.launch import FileView, checkers_view
from harness.sandbox.lazy_fork_server import LazyForkServer
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.program_builder import TrialCompiler
from harness.sandbox.timing_race import STEPS_AT_ONCE, Lap, ProgramStep, TimingRace
from harness.sandbox.trial import Trial

FAULTS = (OSError, EOFError, ValueError, struct.error, IndexError, MemoryError)
REMEMBERED = 16
"""Number of recent trials, about, that tell how many processes the next one may need."""
ENOUGH = 0.5
"""If a larger part of them needed one process only, the next one is expected to need one."""
MARGIN_S = 20.0  # seconds for the fork server itself, beyond the tests' limits


J = TypeVar("J", bound=Closing)


class Forecast:
    """Whether a trial needs one process only, by recent ones; changes costs, never verdicts."""

    def __init__(self) -> None:
        self._single = 1.0  # part of recent trials that needed one process only
        self._counted: Trial | None = None  # counted as one of them

    def is_last(self, trial: Trial, last: bool | None) -> bool:
        """Return whether a process is the last of its trial; see `Worker.try_out`."""
        if last is None and trial is not self._counted:
            last = self._single > ENOUGH
            self._single += (1 - self._single) / REMEMBERED
            self._counted = trial
        elif trial is self._counted:  # the trial needed a second process
            self._single = max(0.0, self._single - 1 / REMEMBERED)
            self._counted = None
        return bool(last)

    def forget(self, job: Closing) -> None:
        """Do not hold a job that is over."""
        if self._counted is job:
            self._counted = None


class Worker:
    """What runs programs in one sandbox, whose fork server is started when first needed.

    Args:
        isolation: isolation of the sandbox; default: the strongest available.
        quiet: lock shared with the other workers of the machine.
        view: view of its files; default: the interpreter's.
        compiler: compiles its programs; default: its own.

    Not thread-safe, except for `kill` and `stop`.
    """

    def __init__(
        self,
        isolation: Isolation | None = None,
        quiet: Exclusive | None = None,
        *,
        view: FileView | None = None,
        compiler: TrialCompiler | None = None,
    ) -> None:
        self.compiler = compiler or TrialCompiler()
        self._server = LazyForkServer(isolation, view)
        self._quiet = quiet or Exclusive()
        self._forecast = Forecast()
        self._beside: Worker | None = None

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._server.stopped

    @property
    def isolation(self) -> Isolation:
        """Isolation of its sandbox. Raises IsolationError if none is available."""
        return self._server.isolation

    @property
    def process_id(self) -> int | None:
        """Id of the fork server's process, see `LazyForkServer.process_id`."""
        return self._server.process_id

    @property
    def beside(self) -> "Worker":
        """A worker with a sandbox of its own, in which no solution runs: for validators."""
        if self._beside is None:
            view, compiler = checkers_view(), self.compiler
            self._beside = Worker(self.isolation, self._quiet, view=view, compiler=compiler)
            if self.stopped:  # by another thread
                self._beside.stop()
        return self._beside

    def run(
        self,
        program: Program,
        inputs: Sequence[str | bytes],
        limits: Limits,
        *,
        alone: bool = False,
    ) -> list[Execution]:
        """Run tests in order in one process until one ends it; see `try_out`."""
        with self.on(Trial(program, inputs, limits)) as trial:
            return self.try_out(trial, range(len(inputs)), alone=alone, last=True)

    @contextlib.contextmanager
    def on(self, job: J) -> Generator[J]:
        """Work on a trial or race, which is closed at the end, here and in the fork server."""
        with job:
            try:
                yield job
            finally:
                self.leave(job)

    def try_out(
        self,
        trial: Trial,
        indexes: Sequence[int],
        *,
        alone: bool = False,
        last: bool | None = False,
        full: int | None = None,
    ) -> list[Execution]:
        """Run some tests of a trial in order in a fresh process until one ends it.

        The trial stays open for more tests, until another replaces it or `leave` is called: its
        program is compiled once.

        Args:
            trial: the program, its inputs and limits.
            indexes: indexes of the inputs.
            alone: whether to pause all other workers meanwhile.
            last: whether more tests of this trial are unlikely, which costs less. If more follow,
                the program is compiled again. None: decide by what recent trials needed.
            full: number of leading tests with their full time limits; default: all. Another test
                that exceeds its small part of them ends with `Ending.CUT_SHORT`.

        Returns:
            The executions of the leading tests, at least one. Fewer than requested if a test ended
                the process; the caller calls again for the rest.

        Raises:
            SandboxError: the fork server failed; the next call starts a new one.
            WorkerStoppedError: `stop` was called.
        """
        turn = self._quiet.alone if alone else self._quiet.together
        with turn(self._server), self._checked():
            more = {} if full is None else {"full": full}
            return self._ask(trial, indexes, last, **more)[0]

    def try_each(self, trial: Trial, indexes: Sequence[int], *, last: bool) -> list[Execution]:
        """Run tests of a trial in order, each in a fresh process of its own, at one request.

        Args:
            trial: as in `try_out`.
            indexes: indexes of the inputs.
            last: whether more tests of this trial are unlikely, which costs less.

        Returns:
            The executions of the leading tests, at least one.

        Raises:
            SandboxError, WorkerStoppedError: as in `try_out`.
        """
        with self.together(), self._checked():
            executions = self._ask(trial, indexes, last, each=True)
            return [execution for (execution,) in executions]

    def prepare(self, trial: Trial) -> Execution | None:
        """Compile a trial's program; return what stands for one that cannot be compiled.

        Raises:
            SandboxError, WorkerStoppedError: as in `try_out`.
        """
        with self._checked():
            return self.compiler.compile(trial, self._server)

    def begin(self, trial: Trial, ends: Sequence[int]) -> ForkServer:
        """Start the only test of a prepared trial, whose answer `finish` reads; for dialogues.

        Args:
            trial: the trial.
            ends: descriptors of pipes in place of stdin and stdout.

        Returns:
            The fork server, whose socket brings the answer.

        Raises:
            SandboxError, WorkerStoppedError: as in `try_out`.
        """
        with self._checked():
            return self._order(trial, [0], True, ends)[0]

    def finish(self, trial: Trial, server: ForkServer, seconds: float) -> Execution:
        """Return the execution of what `begin` began; raises as it, also after some seconds."""
        with self._checked():
            ((execution,),) = self._read(trial, server, seconds)
            return execution

    @contextlib.contextmanager
    def together(self) -> Generator[None]:
        """Run beside other workers, and pause when one of them has to run alone."""
        with self._quiet.together(self._server):
            yield

    @contextlib.contextmanager
    def _checked(self, *more: type[Exception]) -> Generator[None]:
        """End a fork server that fails, and raise an error with its last stderr line."""
        try:
            yield
        except (*FAULTS, *more) as error:
            last_words = self.kill()
            if self.stopped:
                raise WorkerStoppedError from error
            suffix = f" ({last_words})" if last_words else ""
            raise SandboxError(f"{type(error).__name__}: {error}{suffix}") from error

    def _ask(
        self, trial: Trial, indexes: Sequence[int], last: bool | None, **more: Any
    ) -> list[list[Execution]]:
        """Send a request; return the executions of each process."""
        last = self._forecast.is_last(trial, last)
        if (refused := self.compiler.compile(trial, self._server)) is not None:
            return [[refused]]
        server, seconds = self._order(trial, indexes, last, **more)
        return self._read(trial, server, seconds)

    def _order(
        self,
        trial: Trial,
        indexes: Sequence[int],
        last: bool,
        ends: Sequence[int] = (),
        **more: Any,
    ) -> tuple[ForkServer, float]:
        """Send an order to run tests; return who answers it and the seconds that may take.

        A program may end the fork server at once, and another one would know of no order.
        """
        server = self._server.started()
        last = last or not self._server.copies
        spans = trial.spans(indexes)
        os.ftruncate(trial.files[2], 0)
        order = {"do": "run", "spans": spans, "last": last, "full": len(spans), **more}
        closes = last and not trial.program.is_compiled
        self._server.send(server, trial, order, closes=closes, ends=ends)
        return server, (len(spans) + 1) * trial.limits.longest_s + MARGIN_S

    def _read(self, trial: Trial, server: ForkServer, seconds: float) -> list[list[Execution]]:
        """Return the executions of each process."""
        answer = self._server.answer(server, seconds)
        return self.compiler.ended(trial, read_answer(answer, trial.files[2], trial.limits))

    def take_turns(self, race: TimingRace, steps: Sequence[ProgramStep]) -> list[Lap]:
        """Carry out steps of a race in order; the race stays open for more.

        Args:
            race: the programs.
            steps: the steps; any number.

        Returns:
            A lap for each step.

        Raises:
            SandboxError: the fork server failed; the state of the race's processes is lost.
            WorkerStoppedError: `stop` was called.
        """
        laps: list[Lap] = []
        with self.together():
            while len(laps) < len(steps):
                with self._checked(KeyError, TypeError):
                    laps += self._ask_turns(race, steps[len(laps) :][:STEPS_AT_ONCE])
        return laps

    def _ask_turns(self, race: TimingRace, steps: Sequence[ProgramStep]) -> list[Lap]:
        server = self._server.started()
        if not self._server.copies:
            raise OSError("no process can make a sibling here, and one is needed to be timed")
        os.ftruncate(race.files[1], 0)
        order = {"do": "steps", "steps": [race.order(step) for step in steps]}
        self._server.send(server, race, order)
        phases = 5 * len(steps) + len(race.programs)
        answer = self._server.answer(server, phases * race.limits.longest_s + MARGIN_S)
        laps = race.read(json.loads(answer))
        if not laps:
            raise EOFError("no step was carried out")
        return laps

    def leave(self, job: Closing) -> None:
        """Close a job in the fork server: none of its processes is needed any more."""
        self._forecast.forget(job)
        self._server.leave(job)

    def stop(self) -> None:
        """End the fork server for good: running work raises WorkerStoppedError."""
        self._server.stop()
        if self._beside is not None:
            self._beside.stop()
        self.compiler.end()
        self._quiet.wake()

    def kill(self) -> str:
        """End the fork servers and their children at once; return its own's last stderr line."""
        if self._beside is not None:
            self._beside.kill()
        self.compiler.end()
        return self._server.end()
