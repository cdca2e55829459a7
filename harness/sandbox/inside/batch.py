"""One solution's process, seen from the fork server: its tests, its clock, its end."""

import ctypes
import os
import resource
import select
import signal
import socket
import time
from typing import Any, NamedTuple, NoReturn

from inside.connection import Connection
from inside.processes import kill_strays
from inside.runner import CANNOT_COMPILE, DONE, DONE_AND_OVER, READY, Preamble, Runner

OPEN_FILES = 64
EXCERPT_BYTES = 16_000
REPORT_BYTES = 128_000  # a runner's longest error, every character of it escaped
RUNNER_FAILED = 70  # EX_SOFTWARE of sysexits.h
PR_SET_PDEATHSIG = 1
CORES = os.cpu_count() or 1
LIBC = ctypes.CDLL(None)


class WorkerGoneError(Exception):
    """The worker hung up while its tests ran."""


class Waited(NamedTuple):
    """What came of waiting: the runner's word, or why there is none, and the time it took."""

    word: bytes
    missing: str
    cpu_s: float
    wall_s: float


class Batch:
    """One solution's process, and the tests it has run."""

    def __init__(
        self,
        job: dict[str, Any],
        preamble: Preamble,
        inputs: int,
        outputs: int,
        connection: Connection,
    ) -> None:
        self.job = job
        self.inputs = inputs
        self.outputs = outputs
        self.written = 0
        self.ended: tuple[int, int] | None = None
        self.connection = connection
        self.files = [os.memfd_create(name) for name in ("stdin", "stdout", "stderr", "result")]
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid == 0:
            self._become_runner(preamble, theirs)
        theirs.close()
        self.clock = (~self.pid << 3) | 2  # CPUCLOCK_SCHED of a process, see clock_getcpuclockid(3)
        self.handle = os.pidfd_open(self.pid)  # its children may hold the control socket open
        self.poll = select.poll()
        self.poll.register(self.control, select.POLLIN)
        self.poll.register(self.handle, select.POLLIN)
        self.poll.register(connection.socket, select.POLLRDHUP)

    def _become_runner(self, preamble: Preamble, control: socket.socket) -> NoReturn:
        """The forked side: never returns."""
        try:
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            os.setsid()
            self.control.close()
            self.connection.socket.close()
            os.close(self.inputs)
            os.close(self.outputs)
            limit = self.job["limits"]
            for kind, value in (
                (resource.RLIMIT_AS, limit["memory_bytes"]),
                (resource.RLIMIT_FSIZE, limit["output_bytes"]),
                (resource.RLIMIT_NOFILE, OPEN_FILES),
                (resource.RLIMIT_CORE, 0),
            ):
                resource.setrlimit(kind, (value, value))
            Runner(self.job, preamble, control, self.files).run()
        except BaseException:
            os._exit(RUNNER_FAILED)
        os._exit(0)

    def run(self) -> list[dict[str, Any]]:
        """Run tests until one ends the process, all are done, or enough output has piled up.

        Raises:
            WorkerGoneError: nobody waits for the records.
        """
        spans = self.job["inputs"]
        started = self._wait(self._now())
        if started.word[:1] != READY:
            refused = started.word[:1] == CANNOT_COMPILE
            record = self._record(started, "cannot_compile" if refused else "")
            if record.get("exit") == RUNNER_FAILED << 8:  # before any judged code was run
                record["end"] = "broken"
            return [record]
        records: list[dict[str, Any]] = []
        for offset, length in spans:
            os.ftruncate(self.files[0], 0)
            os.pwrite(self.files[0], os.pread(self.inputs, length, offset), 0)
            start = self._now()  # while the runner still waits: what it does from here on counts
            try:
                self.control.send(b"g")
            except OSError:  # it died between two tests: the next process will tell
                break
            waited = self._wait(start)
            done = waited.word[:1] in {DONE, DONE_AND_OVER}
            record = self._record(waited, "done" if done else "")
            records.append(record)
            # What a stream could not write would come out in the next test.
            if waited.word[:1] != DONE or record["too_much_output"]:
                break
            if self.written > self.job["limits"]["collect_bytes"]:
                break
        return records

    def _now(self) -> tuple[float, float]:
        """The runner's CPU time and the wall's."""
        return time.clock_gettime(self.clock), time.monotonic()

    def _wait(self, start: tuple[float, float]) -> Waited:
        """Wait for the runner's next word, its death, or a limit, counted from a start."""
        limit = self.job["limits"]
        cpu_start, wall_start = start
        while True:
            cpu = time.clock_gettime(self.clock) - cpu_start
            wall = time.monotonic() - wall_start
            if cpu > limit["cpu_s"]:
                return Waited(b"", "cpu", cpu, wall)
            if wall > limit["wall_s"] and not self.poll.poll(0):  # it may have been done in time
                return Waited(b"", "wall", cpu, wall)
            patience = min((limit["cpu_s"] - cpu) / CORES, limit["wall_s"] - wall)
            for descriptor, _ in self.poll.poll(max(1, int(patience * 1000))):
                if descriptor == self.connection.socket.fileno():
                    raise WorkerGoneError
                word = self._hear()
                cpu = time.clock_gettime(self.clock) - cpu_start
                wall = time.monotonic() - wall_start
                return Waited(word, "" if word else "gone", cpu, wall)

    def _hear(self) -> bytes:
        try:
            return self.control.recv(REPORT_BYTES, socket.MSG_DONTWAIT)
        except OSError:
            return b""

    def _record(self, waited: Waited, end: str) -> dict[str, Any]:
        record: dict[str, Any] = {
            "end": end or waited.missing or "garbage",
            "report": waited.word[1:].decode("latin-1"),
            "cpu_s": waited.cpu_s,
            "wall_s": waited.wall_s,
        }
        if record["end"] != "done":
            record["exit"], record["peak_bytes"] = self.end()
        sizes = [os.fstat(descriptor).st_size for descriptor in self.files[1:]]
        limit = self.job["limits"]["output_bytes"]
        record["too_much_output"] = max(sizes) >= limit
        record["stdout"] = self._keep(1, EXCERPT_BYTES if record["too_much_output"] else limit)
        record["stderr"] = self._keep(2, EXCERPT_BYTES)
        record["result"] = self._keep(3, 0 if record["too_much_output"] else limit)
        return record

    def _keep(self, which: int, most: int) -> tuple[int, int, int]:
        """Move what a memory file holds to the answer.

        Returns:
            Its offset there and the lengths of the head and the tail that were kept; all of it is
            head unless it is longer than `most`.
        """
        file = self.files[which]
        size = os.fstat(file).st_size
        head, tail = (size, 0) if size <= most else (most // 2, most // 2)
        start = self.written
        for offset, length in ((0, head), (size - tail, tail)):
            data = os.pread(file, length, offset)
            while data:
                done = os.pwrite(self.outputs, data, self.written)
                self.written += done
                data = data[done:]
        if size:
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
