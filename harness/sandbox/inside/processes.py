"""What judged code takes and leaves behind beside its output: processes, threads and files."""

import os
import signal
import stat

PAGE_BYTES = os.sysconf("SC_PAGESIZE")


def kill_strays(spare: int = 0) -> None:
    """Kill whatever outlived its parent: orphans are handed to this process, their subreaper.

    Args:
        spare: a child that is none.
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


def _parent(process: int) -> int:
    """The parent of a process; 0 when it is gone."""
    fields = _stat(process)
    return int(fields[1]) if fields else 0


def _stat(process: int) -> list[str]:
    """What the kernel says of a process, from its state on; nothing when it is gone."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []


def empty_working_directory() -> None:
    """Remove what a solution left there; FileNotFoundError when it removed the directory too."""
    folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        empty_folder(folder)
    finally:
        os.close(folder)
    os.getcwd()  # fails when it is gone


def empty_folder(folder: int) -> None:
    """Remove what is in an open folder, whatever its rights.

    Nothing is named by a path, which may lead elsewhere by now. What is in a folder is moved up
    before that is removed, so no depth of nesting is too much.
    """
    while names := os.listdir(folder):
        for name in names:
            state = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISDIR(state.st_mode):
                os.unlink(name, dir_fd=folder)
                continue
            os.chmod(name, stat.S_IRWXU, dir_fd=folder)
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            try:
                fresh = os.urandom(8).hex()
                for number, entry in enumerate(os.listdir(inner)):
                    os.rename(entry, f"{fresh}-{number}", src_dir_fd=inner, dst_dir_fd=folder)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=folder)


class Watch:
    """Looks, while a program runs, after what no limit of the kernel bounds here.

    Args:
        home_bytes, home_files: how much the working directory may hold.
        own_room: whether that is a file system of its own, of its own size.
        threads: how many threads the program may have; None where the kernel counts.
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
        """What a program has too much of; empty while all is well."""
        if self.threads is not None and _thread_count(pid) > self.threads:
            return "threads"
        size, files = self._in_room() if self.own_room else _in_folder(self.home_files)
        return "room" if size > self.home_bytes or files > self.home_files else ""

    def has_room(self) -> bool:
        """Whether the file system could hold all that a working directory may."""
        state = os.statvfs(".")
        files = state.f_favail >= self.home_files or not state.f_files  # some count none
        return self.own_room or (files and state.f_bavail * state.f_frsize >= self.home_bytes)

    def _in_room(self) -> tuple[int, int]:
        state = os.statvfs(".")
        return 0, state.f_files - state.f_ffree  # its size is the kernel's to bound


def _in_folder(most: int) -> tuple[int, int]:
    """Bytes on disk and entries in the working directory, as far as it is worth counting."""
    size = files = 0
    waiting = ["."]
    while waiting and files <= most:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    state = entry.stat(follow_symlinks=False)
                    size, files = size + 512 * state.st_blocks, files + 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except FileNotFoundError:  # it went away meanwhile
            continue
        except OSError:  # it took its rights away, or lies too deep to be looked into
            return size, most + 1
    return size, files


def _thread_count(pid: int) -> int:
    fields = _stat(pid)
    return int(fields[17]) if fields else 0


def resident_bytes(pid: int) -> int:
    """The memory that a process has in use; 0 where that cannot be seen."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * PAGE_BYTES
    except (OSError, ValueError, IndexError):
        return 0


def threads_of(pid: int) -> list[int]:
    """The threads of a process, as far as can be seen."""
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return [pid]


def waiting_s(pid: int) -> float | None:
    """How long the one of a process's threads that waited longest was kept from running.

    Seconds in which it could have run, and others had the cores; see "schedstat" in proc(5). None
    where the system does not tell.
    """
    most: int | None = None
    for thread in threads_of(pid):
        try:
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
                ran, waited = map(int, file.read().split()[:2])
                most = max(most or 0, waited) if ran else most  # all are 0 where none is counted
        except (OSError, ValueError):  # it has ended, or nothing is told
            continue
    return None if most is None else most / 1e9
