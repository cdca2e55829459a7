"""Limits that the kernel does not enforce everywhere: threads, and the working directory's size."""

import os
import stat

from inside.processes import thread_count


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
        if self.threads is not None and thread_count(pid) > self.threads:
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
