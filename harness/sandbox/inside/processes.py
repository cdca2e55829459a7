"""Processes of judged code: what they use, and the end of those left behind."""

import os
import signal

PAGE_BYTES = os.sysconf("SC_PAGESIZE")
TICKS = os.sysconf("SC_CLK_TCK")


def kill_strays(spare: int = 0) -> None:
    """Kill orphaned descendants; they become children of this process (subreaper).

    Args:
        spare: a child process to keep.
    """
    while _has_children() and (strays := _children() - {spare}):
        for stray in strays:
            os.kill(stray, signal.SIGKILL)
        for stray in strays:
            os.waitpid(stray, 0)


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _children() -> set[int]:
    numbers = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return {number for number in numbers if _parent(number) == os.getpid()}


class DescendantsUsage:
    """What the descendants of this process used, also those that have ended since the last look."""

    def __init__(self) -> None:
        self.cpu_s = 0.0
        self._waits: dict[tuple[int, str], float] = {}

    def look(self) -> None:
        """Bring the figures up to date.

        The CPU time, in hundredths of a second, of a process that has ended counts once its parent
        has taken note of it. Its waiting for a core is told to nobody, so what the last look found
        counts.
        """
        descendants = _descendants()
        self.cpu_s = (
            sum(int(field) for fields in descendants.values() for field in fields[11:15]) / TICKS
        )
        for process, fields in descendants.items():
            if (wait := waiting_s(process)) is not None:
                self._waits[process, fields[19]] = wait  # by its start: numbers are given anew

    @property
    def waiting_s(self) -> float | None:
        """Seconds that all of them, together, waited for a core; None if they are not reported."""
        return sum(self._waits.values()) if self._waits else None


def _descendants() -> dict[int, list[str]]:
    """Return the fields of the state of each descendant of this process."""
    everything = {int(name): _stat(int(name)) for name in os.listdir("/proc") if name.isdigit()}
    stats = {process: fields for process, fields in everything.items() if fields}
    tree: dict[int, list[str]] = {}
    edge = {os.getpid()}
    while edge:
        edge = {process for process, fields in stats.items() if int(fields[1]) in edge} - set(tree)
        tree |= {process: stats[process] for process in edge}
    return tree


def _parent(process: int) -> int:
    """Return the parent of a process; 0 if it has ended."""
    fields = _stat(process)
    return int(fields[1]) if fields else 0


def _stat(process: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the state on; empty if it has ended."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process in bytes; 0 if unknown."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * PAGE_BYTES
    except (OSError, ValueError, IndexError):
        return 0


def threads_of(pid: int) -> list[int]:
    """Return the thread ids of a process, or only its own id if unreadable."""
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return [pid]


def waiting_s(pid: int) -> float | None:
    """Return the longest time, in seconds, a thread of a process waited for a core.

    Counts only time in which it could have run; see "schedstat" in proc(5). None if the system
    does not report it.
    """
    most: int | None = None
    for thread in threads_of(pid):
        try:
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
                ran, waited = map(int, file.read().split()[:2])
                most = max(most or 0, waited) if ran else most  # all fields are 0 if not counted
        except (OSError, ValueError):  # it has ended, or is not reported
            continue
    return None if most is None else most / 1e9


def thread_count(pid: int) -> int:
    """Return the number of threads of a process; 0 if it has ended."""
    fields = _stat(pid)
    return int(fields[17]) if fields else 0
