"""Waiting for what a process of a solution says, for its end, or for a limit."""

import contextlib
import os
import select
import signal
import time
from typing import NamedTuple

from inside.child_process import Process, Waited
from inside.connection import Connection
from inside.processes import Watch, resident_bytes, threads_of, waiting_s
from inside.words import WORD_BYTES

CORES = os.cpu_count() or 1
SHORT_S = 0.02
"""So long the fork server and a solution share a core: to wake each other up is cheap there."""
FASTEST = 4 << 30
"""No program takes more bytes of memory in a second: when to look how much it has."""


class WorkerGoneError(Exception):
    """The worker hung up while its tests ran."""


class Allowance(NamedTuple):
    """How long something may take.

    Attributes:
        end: what is said of it when that was not enough.
        cpu_s: CPU seconds of the process.
        wall_s: wall seconds in which it runs or sleeps.
        longest_s: wall seconds, those included in which it waits for a core.
    """

    end: str
    cpu_s: float
    wall_s: float
    longest_s: float


class Waiting:
    """How the fork server waits while a process of a solution does something.

    Args:
        connection: to the worker, who may say meanwhile that the process is to pause.
        watch: looks after what no limit of the kernel bounds.
        memory_bytes: how much it may have in use.
        template: the solution's first process.
        cores: what all these processes are to have when one takes longer; None where they have it.
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

    def now(self, process: Process) -> tuple[float, float]:
        """A process's CPU time and the wall's."""
        return time.clock_gettime(process.clock), time.monotonic()

    def wait(
        self,
        process: Process,
        start: tuple[float, float],
        channel: int,
        allowed: Allowance,
    ) -> Waited:
        """Wait for a process's next word, its death, or a limit, counted from a start.

        Args:
            process: whose.
            start: its CPU time and the wall's.
            channel: where it speaks.
            allowed: how long it may take.
        """
        wall_s = allowed.wall_s
        cpu_start, wall_start = start
        poll = select.poll()
        poll.register(channel, select.POLLIN)
        poll.register(process.handle, select.POLLIN)
        poll.register(self.connection.socket, select.POLLIN | select.POLLRDHUP)
        while True:
            cpu = time.clock_gettime(process.clock) - cpu_start
            wall = time.monotonic() - wall_start
            if cpu > allowed.cpu_s:
                return Waited(b"", allowed.end or "cpu", cpu, wall)
            if wall > wall_s and not poll.poll(0):  # it may have been done in time
                waiting = waiting_s(process.pid)
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
                cpu = time.clock_gettime(process.clock) - cpu_start
                wall = time.monotonic() - wall_start
                return Waited(word or b"", "gone" if gone else "", cpu, wall)

    def _look_at(self, process: Process, wall: float) -> tuple[str, float]:
        """What a process has too much of, and in how many seconds to look again.

        Args:
            process: which.
            wall: the seconds that it has had.
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
        """Let this process and those of the solution have all cores."""
        self.cores = None
        for pid in (0, self.template, *threads_of(process.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(pid, cores)

    def _pause(self, process: Process) -> float:
        """Do what the worker says meanwhile: have the process pause, until it says otherwise.

        Returns:
            The seconds for which it paused.

        Raises:
            WorkerGoneError: it says nothing more.
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
    """The next word, empty where judged code forged it so; None where there is none."""
    try:
        return os.read(channel, WORD_BYTES)
    except BlockingIOError:
        return None
