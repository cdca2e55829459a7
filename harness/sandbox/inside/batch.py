"""One solution's process, seen from the fork server: its tests, its clock, its end."""

import os
import select
import signal
import socket
import time
from typing import Any, NamedTuple, NoReturn

from inside import linux
from inside.connection import Connection
from inside.lockdown import Lockdown
from inside.processes import Watch, kill_strays
from inside.runner import CANNOT_COMPILE, DONE, DONE_AND_OVER, FILES, READY, Preamble, Runner

EXCERPT_BYTES = 16_000
REPORT_BYTES = 128_000  # a runner's longest error, every character of it escaped
RUNNER_FAILED = 70  # EX_SOFTWARE of sysexits.h
WORD_BYTES = 1
CORES = os.cpu_count() or 1


class WorkerGoneError(Exception):
    """The worker hung up while its tests ran."""


class Waited(NamedTuple):
    """What came of waiting: the runner's word, or why there is none, and the time it took."""

    word: bytes
    missing: str
    cpu_s: float
    wall_s: float


class Job(NamedTuple):
    """What is to be run, as far as the fork server knows it.

    What it has read, every process that it forks later could find in its memory: so the program
    goes past it, in a file that the runner reads, and what a test reads and writes from file to
    file.

    Attributes:
        spans: the tests' inputs: offset and length.
        limits: of each test.
        preamble: compiled.
        program, inputs, outputs: memory files; the last is empty.
    """

    spans: list[tuple[int, int]]
    limits: dict[str, Any]
    preamble: Preamble
    program: int
    inputs: int
    outputs: int


class Batch:
    """One solution's process, and the tests it has run."""

    def __init__(
        self, job: Job, lockdown: Lockdown, watch: Watch | None, connection: Connection
    ) -> None:
        self.job = job
        self.lockdown = lockdown
        self.watch = watch
        self.written = 0
        self.ended: tuple[int, int] | None = None
        self.connection = connection
        self.files = [os.memfd_create(name) for name in FILES]
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid == 0:
            self._become_runner(theirs)
        theirs.close()
        self.clock = (~self.pid << 3) | 2  # CPUCLOCK_SCHED of a process, see clock_getcpuclockid(3)
        self.handle = os.pidfd_open(self.pid)  # its children may hold the control socket open
        self.poll = select.poll()
        self.poll.register(self.control, select.POLLIN)
        self.poll.register(self.handle, select.POLLIN)
        self.poll.register(connection.socket, select.POLLRDHUP)

    def _become_runner(self, control: socket.socket) -> NoReturn:
        """The forked side: never returns."""
        try:
            linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
            os.setsid()
            self.control.close()
            self.connection.socket.close()
            os.close(self.job.inputs)
            os.close(self.job.outputs)
            runner = Runner(self.job.program, self.job.preamble, control.detach(), self.files)
            self.lockdown.restrict_files()
            limits = self.job.limits
            self.lockdown.limit(limits["memory_bytes"], limits["output_bytes"])
            self.lockdown.restrict_calls()
            runner.run()
        except BaseException:
            os._exit(RUNNER_FAILED)
        os._exit(0)

    def run(self) -> list[dict[str, Any]]:
        """Run tests until one ends the process, all are done, or enough output has piled up.

        Raises:
            WorkerGoneError: nobody waits for the records.
        """
        started = self._wait(self._now())
        if started.word != READY:
            refused = started.word == CANNOT_COMPILE
            record = self._record(started, "cannot_compile" if refused else "")
            if record.get("exit") == RUNNER_FAILED << 8:  # before any judged code was run
                record["end"] = "broken"
            return [record]
        records: list[dict[str, Any]] = []
        for span in self.job.spans:
            self._give(*span)
            start = self._now()  # while the runner still waits: what it does from here on counts
            try:
                self.control.send(b"g")
            except OSError:  # it died between two tests: the next process will tell
                break
            waited = self._wait(start)
            done = waited.word in {DONE, DONE_AND_OVER}
            record = self._record(waited, "done" if done else "")
            records.append(record)
            # What a stream could not write would come out in the next test.
            if waited.word != DONE or record["too_much_output"]:
                break
            if self.written > self.job.limits["collect_bytes"]:
                break
        return records

    def _give(self, offset: int, length: int) -> None:
        """Make a span of the inputs what the coming test reads."""
        os.ftruncate(self.files[0], 0)
        os.lseek(self.files[0], 0, os.SEEK_SET)
        _copy(self.job.inputs, offset, length, self.files[0])

    def _now(self) -> tuple[float, float]:
        """The runner's CPU time and the wall's."""
        return time.clock_gettime(self.clock), time.monotonic()

    def _wait(self, start: tuple[float, float]) -> Waited:
        """Wait for the runner's next word, its death, or a limit, counted from a start."""
        limit = self.job.limits
        cpu_start, wall_start = start
        while True:
            cpu = time.clock_gettime(self.clock) - cpu_start
            wall = time.monotonic() - wall_start
            if cpu > limit["cpu_s"]:
                return Waited(b"", "cpu", cpu, wall)
            if wall > limit["wall_s"] and not self.poll.poll(0):  # it may have been done in time
                return Waited(b"", "wall", cpu, wall)
            patience = min((limit["cpu_s"] - cpu) / CORES, limit["wall_s"] - wall)
            if self.watch is not None:
                patience = min(patience, self.watch.interval_s)
                complaint = self.watch.complaint(self.pid)
                if complaint:
                    return Waited(b"", complaint, cpu, wall)
            for descriptor, _ in self.poll.poll(max(1, int(patience * 1000))):
                if descriptor == self.connection.socket.fileno():
                    raise WorkerGoneError
                word = self._hear()
                cpu = time.clock_gettime(self.clock) - cpu_start
                wall = time.monotonic() - wall_start
                return Waited(word, "" if word else "gone", cpu, wall)

    def _hear(self) -> bytes:
        try:
            return self.control.recv(WORD_BYTES, socket.MSG_DONTWAIT)
        except OSError:
            return b""

    def _record(self, waited: Waited, end: str) -> dict[str, Any]:
        record: dict[str, Any] = {
            "end": end or waited.missing or "garbage",
            "cpu_s": waited.cpu_s,
            "wall_s": waited.wall_s,
        }
        if record["end"] != "done":
            record["exit"], record["peak_bytes"] = self.end()
        sizes = [os.fstat(descriptor).st_size for descriptor in self.files]
        limit = self.job.limits["output_bytes"]
        record["too_much_output"] = too_much = max(sizes[1:]) >= limit
        record["kept"] = [
            self._keep(1, sizes[1], EXCERPT_BYTES if too_much else limit),
            self._keep(2, sizes[2], EXCERPT_BYTES),
            self._keep(3, sizes[3], 0 if too_much else limit),
            self._keep(4, sizes[4], REPORT_BYTES),
        ]
        return record

    def _keep(self, which: int, size: int, most: int) -> tuple[int, int, int]:
        """Move what a memory file holds to the answer.

        Returns:
            Its offset there and the lengths of the head and the tail that were kept; all of it is
            head unless it is longer than `most`.
        """
        head, tail = (size, 0) if size <= most else (most // 2, most // 2)
        start = self.written
        if size:
            file = self.files[which]
            os.lseek(self.job.outputs, start, os.SEEK_SET)
            _copy(file, 0, head, self.job.outputs)
            _copy(file, size - tail, tail, self.job.outputs)
            self.written += head + tail
            os.ftruncate(file, 0)
        return start, head, tail

    def end(self) -> tuple[int, int]:
        """Kill the process and all that it left; its wait status and peak memory in bytes."""
        if self.ended is not None:
            return self.ended
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            os.kill(self.pid, signal.SIGKILL)
        _, status, usage = os.wait4(self.pid, 0)
        kill_strays()
        self.ended = status, usage.ru_maxrss * 1024
        return self.ended

    def close(self) -> tuple[int, int]:
        """End the process and let go of its files; see `end`."""
        self.control.close()
        for descriptor in (self.handle, *self.files):
            os.close(descriptor)
        return self.end()


def _copy(source: int, offset: int, length: int, target: int) -> None:
    """Copy a span of a memory file to where another stands, without ever holding it."""
    while length > 0:
        done = os.sendfile(target, source, offset, length)
        if not done:
            raise EOFError("the file is shorter than it was")
        offset, length = offset + done, length - done
