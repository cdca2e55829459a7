"""The worker: starts one fork server, sends it work and checks its answers."""

import contextlib
import itertools
import json
import os
import struct
import threading
import time
from collections.abc import Generator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from harness import registry
from harness.closing import Closing
from harness.sandbox.exclusive import Exclusive
from harness.sandbox.execution import Execution, SandboxError, WorkerStoppedError
from harness.sandbox.fork_server_answer import read_answer
from harness.sandbox.fork_server_connection import LOOK_S, ForkServer
from harness.sandbox.isolation import Isolation
from harness.sandbox.launch import FileView, checkers_view
from harness.sandbox.limits import GRACE, Limits
from harness.sandbox.program import Program
from harness.sandbox.program_builder import ProgramBuilder, Refused
from harness.sandbox.strongest import start, strongest, take
from harness.sandbox.timing_race import STEPS_AT_ONCE, Lap, ProgramStep, TimingRace
from harness.sandbox.trial import Trial

COLLECT_BYTES = 16 << 20
"""Output in bytes after which a process gets no further test, to bound memory."""
FAULTS = (OSError, EOFError, ValueError, struct.error, IndexError, MemoryError)
REMEMBERED = 16
"""Number of recent trials, about, that tell how many processes the next one may need."""
ENOUGH = 0.5
"""If a larger part of them needed one process only, the next one is expected to need one."""
MARGIN_S = 20.0  # seconds for the fork server itself, beyond the tests' limits


J = TypeVar("J", bound=Closing)

_numbers = itertools.count(os.getpid())


class Worker:
    """One fork server, started when first needed.

    Args:
        isolation: isolation of the sandbox; default: the strongest available.
        quiet: lock shared with the other workers of the machine.
        view: view of its files; default: the interpreter's.
        builder: compiles its programs; default: its own, made for the first one.

    Not thread-safe, except for `kill` and `stop`.
    """

    def __init__(
        self,
        isolation: Isolation | None = None,
        quiet: Exclusive | None = None,
        *,
        view: FileView | None = None,
        builder: ProgramBuilder | None = None,
    ) -> None:
        self.stopped = False
        self._view = view
        self._number = next(_numbers)
        self._isolation = isolation
        self._quiet = quiet or Exclusive()
        self._gate = threading.Condition()  # guards sending; one message at a time
        self._paused = False
        self._lock = threading.Lock()  # guards the attributes below
        self._server: ForkServer | None = None
        self._copies = True
        self._single = 1.0  # part of recent trials that needed one process only
        self._open: Trial | TimingRace | None = None  # in the server; of the calling thread
        self._builder = builder
        self._beside: Worker | None = None

    @property
    def isolation(self) -> Isolation:
        """Isolation of its sandbox. Raises IsolationError if none is available."""
        return self._isolation or strongest().isolation

    @property
    def beside(self) -> "Worker":
        """A worker with a sandbox of its own, in which no solution runs: for validators."""
        builder = self._building()
        with self._lock:
            if self._beside is None:
                self._beside = Worker(
                    self.isolation, self._quiet, view=checkers_view(), builder=builder
                )
                self._beside.stopped = self.stopped
            return self._beside

    def _building(self) -> ProgramBuilder:
        with self._lock:
            if self._builder is None:
                builder: ProgramBuilder = registry.resolve(registry.BUILDER)(self.isolation)
                self._builder = builder
            return self._builder

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
        with self._quiet.alone(self) if alone else self._quiet.together(self), self._checked():
            return self._ask(trial, indexes, last=self._is_last(trial, last), full=full)[0]

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
        with self._quiet.together(self), self._checked():
            executions = self._ask(trial, indexes, last=self._is_last(trial, last), each=True)
            return [execution for (execution,) in executions]

    def prepare(self, trial: Trial) -> Execution | None:
        """Compile a trial's program; return what stands for one that cannot be compiled.

        Raises:
            SandboxError, WorkerStoppedError: as in `try_out`.
        """
        with self._checked():
            return self._build(trial) if trial.program.is_compiled else None

    def begin(self, trial: Trial) -> ForkServer:
        """Start the only test of a prepared trial, whose answer `finish` reads; for dialogues.

        Returns:
            The fork server, whose socket brings the answer.

        Raises:
            SandboxError, WorkerStoppedError: as in `try_out`.
        """
        with self._checked():
            return self._order(trial, [0], last=True)[0]

    def finish(self, trial: Trial, server: ForkServer, seconds: float) -> Execution:
        """Return the execution of what `begin` began; raises as it, also after some seconds."""
        with self._checked():
            ((execution,),) = self._read(trial, self._answer(server, seconds))
            return execution

    @contextlib.contextmanager
    def together(self) -> Generator[None]:
        """Run beside other workers, and pause when one of them has to run alone."""
        with self._quiet.together(self):
            yield

    def _is_last(self, trial: Trial, last: bool | None) -> bool:
        """Return whether a process is the last of its trial; count trials that needed only one.

        The count changes costs only, never verdicts.
        """
        if last is None and not trial.is_counted:
            last = self._single > ENOUGH
            self._single += (1 - self._single) / REMEMBERED
            trial.is_counted = True
        elif trial.is_counted:  # the trial needed a second process
            self._single = max(0.0, self._single - 1 / REMEMBERED)
            trial.is_counted = False
        return bool(last)

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
        self,
        trial: Trial,
        indexes: Sequence[int],
        *,
        last: bool,
        full: int | None = None,
        each: bool = False,
    ) -> list[list[Execution]]:
        """Send a request; return the executions of each process."""
        if trial.program.is_compiled and (refused := self._build(trial)) is not None:
            return [[refused]]
        server, seconds = self._order(trial, indexes, last=last, full=full, each=each)
        return self._read(trial, self._answer(server, seconds))

    def _order(
        self,
        trial: Trial,
        indexes: Sequence[int],
        *,
        last: bool,
        full: int | None = None,
        each: bool = False,
    ) -> tuple[ForkServer, float]:
        """Send an order to run tests; return who answers it and the seconds that may take.

        A program may end the fork server at once, and another one would know of no order.
        """
        server = self._started()
        last = last or not self._copies
        spans = trial.spans(indexes)
        os.ftruncate(trial.files[2], 0)
        full = len(spans) if full is None else full
        order: dict[str, Any] = {"do": "run", "spans": spans, "last": last, "full": full}
        order |= {"each": True} if each else {}
        self._send(server, trial, order, {"do": "open", "preamble": trial.program.preamble})
        self._open = None if last and trial.binary is None else trial
        return server, (len(spans) + 1) * trial.limits.longest_s + MARGIN_S

    def _read(self, trial: Trial, answer: bytes) -> list[list[Execution]]:
        """Return the executions of each process."""
        answer_read = read_answer(answer, trial.files[2], trial.limits)
        if trial.binary is None:
            return answer_read
        ended = self._building().ended
        return [[ended(each, trial.word)] for (each,) in answer_read]

    def _build(self, trial: Trial) -> Execution | None:
        """Compile a trial's program; return the execution that stands for one that fails."""
        if trial.binary is not None:
            return None
        built = self._building().build(trial.program, lambda: self.stopped)
        if isinstance(built, Refused):
            return built.execution
        trial.binary = os.dup(built)
        return None

    def _files(self, job: Trial | TimingRace) -> list[int]:
        """Return the files that open a job; a compiled program needs the launcher too."""
        if not isinstance(job, Trial):
            return job.files
        files = [*job.files]
        if job.binary is not None:
            files.append(self._building().launcher(lambda: self.stopped))
        return [*files, *job.ends]

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
        with self._quiet.together(self):
            while len(laps) < len(steps):
                with self._checked(KeyError, TypeError):
                    laps += self._ask_turns(race, steps[len(laps) :][:STEPS_AT_ONCE])
        return laps

    def _ask_turns(self, race: TimingRace, steps: Sequence[ProgramStep]) -> list[Lap]:
        server = self._started()
        if not self._copies:
            raise OSError("no process can make a sibling here, and one is needed to be timed")
        os.ftruncate(race.files[1], 0)
        order: dict[str, Any] = {"do": "steps", "steps": [race.order(step) for step in steps]}
        self._send(server, race, order, {"do": "lanes", "preamble": race.programs[0].preamble})
        self._open = race
        phases = 5 * len(steps) + len(race.programs)
        answer = self._answer(server, phases * race.limits.longest_s + MARGIN_S)
        laps = race.read(json.loads(answer))
        if not laps:
            raise EOFError("no step was carried out")
        return laps

    def leave(self, job: Closing) -> None:
        """Close a job in the fork server: none of its processes is needed any more."""
        server = self._server
        if self._open is job and server is not None:
            self._open = None
            with self._gate, contextlib.suppress(OSError):  # the next call will notice
                server.send({"do": "close"})

    def _send(
        self,
        server: ForkServer,
        job: Trial | TimingRace,
        order: dict[str, Any],
        opening: dict[str, Any],
    ) -> None:
        """Send an order after a pause has ended; one that opens the job if it is not open."""
        opens = self._open is not job
        if isinstance(job, Trial) and job.has_folder:
            opening = {**opening, "has_folder": True}
        if isinstance(job, Trial) and job.ends:
            opening = {**opening, "pipes": True}
        if isinstance(job, Trial) and job.word:
            opening = {**opening, "returns": True}
        if opens:
            limits = _plain(job.limits, COLLECT_BYTES)
            order = {**order, **opening, "limits": limits, "core": self._number}
        with self._gate:
            self._gate.wait_for(lambda: not self._paused or self.stopped)
            server.send(order, self._files(job) if opens else ())

    def pause(self) -> None:
        """Stop running programs and start none until `resume`; thread-safe."""
        with self._gate:
            self._paused = True
            self._tell("pause")

    def resume(self) -> None:
        """Continue after a pause."""
        with self._gate:
            self._tell("resume")
            self._paused = False
            self._gate.notify_all()

    def _tell(self, word: str) -> None:
        if (server := self._server) is not None:
            with contextlib.suppress(OSError):  # it has ended, and runs nothing
                server.send({"do": word})

    def _answer(self, server: ForkServer, seconds: float) -> bytes:
        """Wait for the answer, unless a signal stops the fork server.

        Raises:
            OSError: it does not come in time, or the fork server was stopped.
            EOFError: the fork server has ended.
        """
        end = time.monotonic() + seconds

        def look() -> None:
            nonlocal end
            if self._paused:
                end += LOOK_S
            if time.monotonic() > end:
                raise TimeoutError("timed out")
            process_id = self.process_id
            if process_id is not None and _is_stopped(process_id):
                raise InterruptedError("the fork server was stopped")

        return server.receive_bytes(look)

    def _started(self) -> ForkServer:
        """Return the running fork server. Raises WorkerStoppedError or OSError."""
        server = self._server
        if server is not None and server.process.poll() is None:
            return server
        self._end_server()
        self._open = None
        server, findings = (
            take(self.isolation) if self._view is None else start(self.isolation, self._view)
        )
        if server is None:
            raise OSError(f"no sandbox of level {findings.isolation} can be had: {findings.broken}")
        with self._lock:
            if not self.stopped:
                self._server, self._copies = server, findings.copies
                return server
        server.end()
        raise WorkerStoppedError

    @property
    def process_id(self) -> int | None:
        """Id of the started process, to watch or kill it; None if there is none.

        It is the fork server, or the process that waits for one in its own namespaces.
        """
        server = self._server
        return server.process.pid if server else None

    def stop(self) -> None:
        """End the fork server for good: running work raises WorkerStoppedError."""
        with self._lock:
            self.stopped = True
            beside = self._beside
        if beside is not None:
            beside.stop()
        self.kill()
        with self._gate:
            self._gate.notify_all()
        self._quiet.wake()

    def kill(self) -> str:
        """End the fork servers and their children at once; return its own's last stderr line."""
        with self._lock:
            builder, beside = self._builder, self._beside
        if beside is not None:
            beside.kill()
        if builder is not None:
            builder.end()
        return self._end_server()

    def _end_server(self) -> str:
        with self._lock:
            server, self._server = self._server, None
        return "" if server is None else server.end()


def _is_stopped(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:  # gone: the connection will report it
        return False
    return stat.rpartition(")")[2].split()[0] in {"T", "t"}


@lru_cache
def _plain(limits: Limits, collect_bytes: int) -> dict[str, float]:
    names = "cpu_s wall_s longest_s beside_cpu_s beside_wall_s memory_bytes output_bytes"
    plain = {name: getattr(limits, name) for name in names.split()}
    return plain | {"grace_s": limits.cpu_s * GRACE, "collect_bytes": collect_bytes}
