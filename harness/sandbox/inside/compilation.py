"""Compiling a solution: a compiler in the sandbox, from a memory file to the output file.

The compiler reads what its user may not choose, and may be made to run what the source contains. So
it is locked in as a judged program is, except that it may start programs, and of its results only
bytes are kept.
"""

import fcntl
import os
import resource
import signal
import stat
import time
from collections.abc import Sequence
from typing import Any, NoReturn

from inside import messages
from inside.child_process import Process, TimeAllowance, Waited, Waiting
from inside.connection import Connection, close_all_but, copy
from inside.folder import place_files
from inside.processes import DescendantsUsage, kill_strays
from inside.trial import NO_ROOM, Outputs
from inside.walls import linux
from inside.walls.lockdown import Lockdown
from inside.watch import Watch
from inside.working_directory import empty_working_directory

MORE_S = 2  # CPU seconds of a pass beyond the limit of all, in case that is not seen in time


class CompilerProcess(Process):
    """A compiler, whose clock is that of all its passes."""

    def __init__(self, pid: int) -> None:
        super().__init__(pid)
        self.usage = DescendantsUsage()

    def now(self) -> tuple[float, float]:
        """Return the CPU time of all passes so far, and the wall-clock time."""
        self.usage.look()
        return self.usage.cpu_s, time.monotonic()

    def waiting_s(self) -> float | None:
        """Return how long all passes so far waited for a core."""
        self.usage.look()
        return self.usage.waiting_s


class Compilation(Outputs):
    """One run of a compiler.

    Args:
        limits: `cpu_s`, `wall_s` and `longest_s` of all passes of the compiler, `memory_bytes` of
            each, and `output_bytes` of a file.
        command: the compiler's path, its name for itself, and its arguments.
        sources: names and sizes of the files that it finds in the working directory.
        binary: name of the file that it writes there.
        files: descriptors of memory files: the sources one after another, and the outputs.
    """

    def __init__(
        self,
        limits: dict[str, Any],
        command: Sequence[str],
        sources: Sequence[tuple[str, int]],
        binary: str,
        files: tuple[int, int],
    ) -> None:
        self.source, outputs = files
        super().__init__(limits, outputs)
        self.limits = limits
        self.command = command
        self.sources = sources
        self.binary_name = binary

    def run(
        self, lockdown: Lockdown, watch: Watch | None, connection: Connection
    ) -> messages.ProcessReport:
        """Compile; the binary is the result.

        Raises:
            WorkerGoneError: the worker has hung up.
        """
        if watch is not None and not watch.has_room():
            messages.write_report(self.files[-1], {"status": "error", "error": NO_ROOM})
            return messages.ProcessReport(0, 0, 0.0, [self.record(Waited(b"", "", 0, 0), "broken")])
        pid = os.fork()
        if pid == 0:
            self._become_compiler(lockdown)
        process = CompilerProcess(pid)
        channel, other = os.pipe()  # nothing is said on it
        try:
            os.set_blocking(channel, False)
            limits = self.limits
            waiting = Waiting(connection, watch, limits["memory_bytes"], pid, None)
            allowed = TimeAllowance("", limits["cpu_s"], limits["wall_s"], limits["longest_s"])
            waited = waiting.wait(process, (0.0, time.monotonic()), channel, allowed)
        finally:
            status, peak_bytes, user_s = process.end()
            kill_strays()
            os.close(channel)
            os.close(other)
        if waited.missing == "gone" and status == 0:
            self._take_binary()
        record = self.record(waited, waited.missing or "garbage")
        empty_working_directory()
        return messages.ProcessReport(status, peak_bytes, user_s, [record])

    def _take_binary(self) -> None:
        """Copy the binary, if it is a plain file, to the result."""
        try:
            file = os.open(self.binary_name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return
        try:
            state = os.fstat(file)
            if stat.S_ISREG(state.st_mode):
                copy(file, 0, min(state.st_size, self.output_bytes), self.files[3])
        finally:
            os.close(file)

    def _become_compiler(self, lockdown: Lockdown) -> NoReturn:
        """Become the compiler in the forked process; never returns."""
        report = fcntl.fcntl(self.files[-1], fcntl.F_DUPFD_CLOEXEC, 3)
        try:
            linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
            os.setsid()
            lockdown.restrict_files()
            place_files(self.source, 0, self.sources)
            for number in range(3):
                os.dup2(self.files[number], number)
            close_all_but(report)
            lockdown.limit(self.limits["memory_bytes"], self.limits["output_bytes"])
            most_s = int(self.limits["cpu_s"]) + MORE_S
            resource.setrlimit(resource.RLIMIT_CPU, (most_s, most_s))
            for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
                signal.signal(number, signal.SIG_DFL)
            lockdown.restrict_calls()
            os.execv(self.command[0], list(self.command[1:]))
        except BaseException as error:
            messages.write_report(report, {"status": "error", "error": str(error)})
        finally:
            os._exit(messages.RUNNER_FAILED)

    def close(self) -> None:
        """Close its files."""
        for descriptor in (self.source, self.outputs, *self.files):
            os.close(descriptor)
