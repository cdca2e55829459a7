"""What judged code takes and leaves behind beside its output: processes, threads and files."""

import os
import signal
import stat
from pathlib import Path


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
    entries = (entry for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return {int(entry.name) for entry in entries if _parent(entry) == os.getpid()}


def _parent(process: Path) -> int:
    """The parent of a process in /proc; 0 when it is gone."""
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError):
        return 0


def empty_working_directory() -> None:
    """Remove what a solution left there; FileNotFoundError when it removed the directory too.

    It is never named by its path, which may lead elsewhere by now. What is in a folder is moved up
    before that is removed, so no depth of nesting is too much.
    """
    while entries := list(Path().iterdir()):
        for entry in entries:
            if entry.is_symlink() or not entry.is_dir():
                entry.unlink()
                continue
            entry.chmod(stat.S_IRWXU)
            name = os.urandom(8).hex()
            for number, inner in enumerate(list(entry.iterdir())):
                inner.rename(f"{name}-{number}")
            entry.rmdir()
    Path.cwd()  # fails when it is gone


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
        except OSError:  # it went away, or took its rights away
            files += 1
    return size, files


def _thread_count(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[17])
    except OSError:
        return 0
