"""Child processes of the fork server: their CPU clock, message and end."""

import contextlib
import os
import signal
from typing import NamedTuple


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

    def signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.handle, number)

    def end(self) -> tuple[int, int]:
        """Kill it and its group; return its wait status and peak memory in bytes."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            os.kill(self.pid, signal.SIGKILL)
        _, status, usage = os.wait4(self.pid, 0)
        os.close(self.handle)
        return status, usage.ru_maxrss * 1024
