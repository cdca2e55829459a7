"""Child processes of the fork server: their CPU clock, messages and end, and waiting for them."""

import contextlib
import os
import select
import signal
import time
from typing import NamedTuple

from inside.connection import Connection
from inside.messages import WORD_BYTES
from inside.processes import resident_bytes, threads_of, waiting_s
from inside.watch import Watch

CORES = os.cpu_count() or 1
SHORT_S = 0.02
"""Time fork server and solution share a core, where waking each other is cheap."""
FASTEST = 4 << 30
"""Bytes of memory a program can fill per second; sets the time of the next check."""


class Waited(NamedTuple):
    """Result of waiting: the process's message or why it is missing, and the time."""

    word: bytes
    missing: str
    cpu_s: float
    wall_s: float


def can_watch() -> str:
    """Return why processes cannot be watched here; empty if they can."""
    try:
        handle = os.pidfd_open(os.getpid())
    except OSError as error:
        return f"pidfd_open, which tells of a test's end, is refused: {error} (Linux 5.3 has it)"
    try:
        signal.pidfd_send_signal(handle, 0)
    except OSError as error:
        return f"pidfd_send_signal, which pauses a test, is refused: {error} (Linux 5.1 has it)"
    finally:
        os.close(handle)
    return ""


class Process:
    """A child process of the fork server, and its CPU clock."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.clock = (~pid << 3) | 2  # CPUCLOCK_SCHED of a process, see clock_getcpuclockid(3)
        self.handle = os.pidfd_open(pid)

    def now(self) -> tuple[float, float]:
        """Return its CPU time and the wall-clock time."""
        return time.clock_gettime(self.clock), time.monotonic()

    def waiting_s(self) -> float | None:
        """Return how long it waited for a core, see `inside.processes.waiting_s`."""
        return waiting_s(self.pid)

    def signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.handle, number)

    def end(self) -> tuple[int, int, float]:
        """Kill it and its group; return wait status, peak memory in bytes and user time."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            os.kill(self.pid, signal.SIGKILL)
        _, status, usage = os.wait4(self.pid, 0)
        os.close(self.handle)
        return status, usage.ru_maxrss * 1024, usage.ru_utime


class WorkerGoneError(Exception):
    """The worker hung up while its tests ran."""


class TimeAllowance(NamedTuple):
    """Time limits of an action.

    Attributes:
        end: the reported end if the time is exceeded; empty for the name of the limit.
        cpu_s: CPU seconds of the process.
        wall_s: wall seconds, not counting time spent waiting for a core.
        longest_s: wall seconds, including time spent waiting for a core.
    """

    end: str
    cpu_s: float
    wall_s: float
    longest_s: float


class Waiting:
    """Waits for a solution process on behalf of the fork server.

    Args:
        connection: connection to the worker, which may request a pause meanwhile.
        watch: checks limits that the kernel does not enforce.
        memory_bytes: most memory the process may have in use.
        template: process id of the solution's template.
        cores: cores given to all these processes once one runs longer; None to change nothing.
    """

    def __init__(
        self,
        connection: Connection,
        watch: Watch | None,
        memory_bytes: int,
        template: int,
        cores: list[int] | None,
    ) -> None:
        self.connection = connection
        self.watch = watch
        self.memory_bytes = memory_bytes
        self.template = template
        self.cores = cores

    def wait(
        self,
        process: Process,
        start: tuple[float, float],
        channel: int,
        allowed: TimeAllowance,
    ) -> Waited:
        """Wait for a process's next message, its death, or a limit.

        Args:
            process: the process.
            start: its CPU time and the wall-clock time from which limits count.
            channel: descriptor its messages arrive on.
            allowed: the time limits.
        """
        wall_s = allowed.wall_s
        cpu_start, wall_start = start
        poll = select.poll()
        poll.register(channel, select.POLLIN)
        poll.register(process.handle, select.POLLIN)
        poll.register(self.connection.socket, select.POLLIN | select.POLLRDHUP)
        while True:
            now = process.now()
            cpu, wall = now[0] - cpu_start, now[1] - wall_start
            if cpu > allowed.cpu_s:
                return Waited(b"", allowed.end or "cpu", cpu, wall)
            if wall > wall_s and not poll.poll(0):  # it may have finished in time
                waiting = process.waiting_s()
                wall_s = min(allowed.wall_s + (waiting or 0.0), allowed.longest_s)
                if wall > wall_s:
                    asleep = waiting is not None and wall_s < allowed.longest_s
                    return Waited(b"", allowed.end or ("asleep" if asleep else "wall"), cpu, wall)
            complaint, patience = self._look_at(process, wall)
            if complaint:
                complaint = allowed.end or complaint if complaint == "memory" else complaint
                return Waited(b"", complaint, cpu, wall)
            patience = min(patience, (allowed.cpu_s - cpu) / CORES, wall_s - wall)
            events = dict(poll.poll(max(1, int(patience * 1000))))
            if self.connection.socket.fileno() in events:
                wall_start += self._pause(process)
                continue
            if events:
                word = hear(channel)
                ended = process.handle in events or events.get(channel, 0) & select.POLLHUP
                gone = not word and (word is None or ended)
                now = process.now()
                cpu, wall = now[0] - cpu_start, now[1] - wall_start
                return Waited(word or b"", "gone" if gone else "", cpu, wall)

    def _look_at(self, process: Process, wall: float) -> tuple[str, float]:
        """Return the exceeded limit, if any, and the seconds until the next check.

        Args:
            process: the process to check.
            wall: wall seconds since its start.
        """
        patience = SHORT_S
        if wall > SHORT_S:
            if self.cores is not None:
                self._spread(self.cores, process)
            left = self.memory_bytes - resident_bytes(process.pid)
            if left < 0:
                return "memory", 0.0
            patience = left / FASTEST
        if self.watch is None:
            return "", patience
        return self.watch.complaint(process.pid), min(patience, self.watch.interval_s)

    def _spread(self, cores: list[int], process: Process) -> None:
        """Allow this process and those of the solution all cores."""
        self.cores = None
        for pid in (0, self.template, *threads_of(process.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(pid, cores)

    def _pause(self, process: Process) -> float:
        """Handle the worker's pause request until it asks to resume.

        Returns:
            The seconds paused.

        Raises:
            WorkerGoneError: the worker has hung up.
        """
        began = time.monotonic()
        while True:
            try:
                request = self.connection.receive()
            except OSError:
                request = None
            if request is None:
                raise WorkerGoneError
            if request[0]["do"] != "pause":
                process.signal(signal.SIGCONT)
                return time.monotonic() - began
            process.signal(signal.SIGSTOP)


def hear(channel: int) -> bytes | None:
    """Return the next message, possibly forged and empty; None if there is none."""
    try:
        return os.read(channel, WORD_BYTES)
    except BlockingIOError:
        return None
