"""Resources judged code uses or leaves behind: processes, threads and files."""

import os
import signal
import stat

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
        found = _descendants()
        self.cpu_s = sum(int(field) for fields in found.values() for field in fields[11:15]) / TICKS
        for process, fields in found.items():
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
    found: dict[int, list[str]] = {}
    edge = {os.getpid()}
    while edge:
        edge = {process for process, fields in stats.items() if int(fields[1]) in edge} - set(found)
        found |= {process: stats[process] for process in edge}
    return found


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


def empty_working_directory() -> None:
    """Empty the working directory; raises FileNotFoundError if it was removed."""
    folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        empty_folder(folder)
    finally:
        os.close(folder)
    os.getcwd()  # fails if the directory was removed


def empty_folder(folder: int) -> None:
    """Remove the contents of an open folder, whatever their permissions.

    No paths are used, since a path may have been redirected. The contents of a subfolder are moved
    up before it is removed, so any depth of nesting works.
    """
    while names := os.listdir(folder):
        for name in names:
            if not _unlocked(name, folder):
                os.unlink(name, dir_fd=folder)
                continue
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            try:
                fresh = os.urandom(8).hex()
                for number, entry in enumerate(os.listdir(inner)):
                    _unlocked(entry, inner)  # to move a folder one must be able to write in it
                    os.rename(entry, f"{fresh}-{number}", src_dir_fd=inner, dst_dir_fd=folder)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=folder)


def _unlocked(name: str, folder: int) -> bool:
    """Make a folder within an open one accessible; return False if it is no folder."""
    state = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not stat.S_ISDIR(state.st_mode):
        return False
    os.chmod(name, stat.S_IRWXU, dir_fd=folder)
    return True


class Watch:
    """Checks a running program against limits that the kernel does not enforce here.

    Args:
        home_bytes, home_files: capacity of the working directory in bytes and in files.
        own_room: whether the working directory is a file system of its own with a fixed size.
        threads: most threads the program may have; None if the kernel enforces it.
    """

    interval_s = 0.1

    def __init__(
        self, home_bytes: int, home_files: int, *, own_room: bool, threads: int | None
    ) -> None:
        self.home_bytes = home_bytes
        self.home_files = home_files
        self.own_room = own_room
        self.threads = threads

    def complaint(self, pid: int) -> str:
        """Return the name of the exceeded limit; empty if there is none."""
        if self.threads is not None and _thread_count(pid) > self.threads:
            return "threads"
        size, files = self._in_room() if self.own_room else _in_folder(self.home_files)
        return "room" if size > self.home_bytes or files > self.home_files else ""

    def has_room(self) -> bool:
        """Whether the file system has space for a full working directory."""
        state = os.statvfs(".")
        files = state.f_favail >= self.home_files or not state.f_files  # some report no file counts
        return self.own_room or (files and state.f_bavail * state.f_frsize >= self.home_bytes)

    def _in_room(self) -> tuple[int, int]:
        state = os.statvfs(".")
        return 0, state.f_files - state.f_ffree  # its size is limited by the kernel


def _in_folder(most: int) -> tuple[int, int]:
    """Return disk bytes and entries of the working directory, up to the limit."""
    size = files = 0
    waiting = ["."]
    opened: set[str] = set()
    while waiting and files <= most:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    state = entry.stat(follow_symlinks=False)
                    size, files = size + 512 * state.st_blocks, files + 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except FileNotFoundError:  # removed meanwhile
            continue
        except OSError as error:  # locked, or nested too deeply
            if not isinstance(error, PermissionError) or folder in opened or not _unlock(folder):
                return size, most + 1
            opened.add(folder)
            waiting.append(folder)
    return size, files


def _unlock(folder: str) -> bool:
    """Make a folder of the program's user readable; return whether that worked."""
    try:
        place = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        os.chmod(f"/proc/self/fd/{place}", stat.S_IRWXU)
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(place)


def _thread_count(pid: int) -> int:
    fields = _stat(pid)
    return int(fields[17]) if fields else 0


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
